# environment FOLDER ROOT EXTRAS: a virtual environment with this project in it. Nothing is done when the stamp
# of the last time still fits, which keeps a second start fast. All it says goes to stderr: stdout may be a protocol.

find_python() {
    for name in ${PYTHON:-} python3.11 python3.12 python3.13 python3.14 python3; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "zidane-acp needs Python 3.11 or newer; install it, or name it in the variable PYTHON." >&2
    exit 1
}

environment() {
    stamp="$1/.stamp"
    if [ -x "$1/bin/python" ] && [ -f "$stamp" ] && [ ! "$2/pyproject.toml" -nt "$stamp" ]; then
        return
    fi
    python=$(find_python)
    echo "Preparing the environment in $1 (once; about a minute) ..." >&2
    "$python" -m venv --clear "$1" >&2
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$2$3" >&2
    touch "$stamp"
}
