"""Names for resources, where one side knows a URI and the other wants a name, or the reverse."""

import posixpath
from urllib.parse import quote, unquote, urlsplit


def name_of(uri: str) -> str:
    """The last segment of a URI's path, decoded; the URI itself when there is none."""
    try:
        path = urlsplit(uri).path
    except ValueError:
        return uri
    return posixpath.basename(unquote(path).rstrip("/")) or uri


def uri_of(name: str) -> str:
    """A URI for what has only a name."""
    return f"attachment:{quote(name)}"
