"""A file of the user's own, written as a whole or not at all, and readable by nobody else when it is new."""

import os
import shutil
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Put the bytes in the place of a file, and make its folder (0700) where there is none. A file that is there keeps
    its mode, a new one has 0600; a link stays one. Raises OSError."""
    path = Path(os.path.realpath(path))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
