"""Which folder a session belongs to: the repository around it, or itself."""

import os
from collections.abc import Iterator


def home() -> str:
    """The real path of the user's home folder."""
    return os.path.realpath(os.path.expanduser("~"))


def repository_of(folder: str, home: str) -> str | None:
    """The nearest folder from this real path upwards that has a `.git`, of whatever kind; None outside of one.

    The home folder and the top of the file system are looked at only if they are the folder itself: a repository
    there would make everything below one project.
    """
    return next((one for one in _upwards(folder, home) if os.path.lexists(os.path.join(one, ".git"))), None)


def _upwards(folder: str, home: str) -> Iterator[str]:
    yield folder
    while (above := os.path.dirname(folder)) not in (folder, home) and os.path.dirname(above) != above:
        folder = above
        yield folder


def between(above: str, folder: str) -> tuple[str, ...]:
    """The folders from `folder` up to `above`, the nearest first."""
    found = [folder]
    while found[-1] != above and os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return tuple(found)
