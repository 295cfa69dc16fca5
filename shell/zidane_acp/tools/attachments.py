"""What the model is given for the files that a prompt names, and for pictures that are too large for it."""

import base64
import binascii
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final, NamedTuple

from zidane_acp.tools.handles import entry, opened, stands
from zidane_acp.tools.paths import resolve, shown
from zidane_acp.tools.reading import EMPTY, ROOM, SAMPLE, Binary, image_type, text_lines
from zidane_acp.tools.results import Refused
from zidane_acp.tools.shrinking import NotShrunk, Picture, shrunk
from zidane_core.agent.events import Attachment, AttachmentsRead
from zidane_core.agent.work import ReadAttachments
from zidane_core.convert.file_links import FileLink, file_link
from zidane_core.convert.names import name_of
from zidane_core.convert.visible import clip, line
from zidane_core.data.content import Document, Image, Link
from zidane_core.data.tools import ResolvedPath
from zidane_core.models.parts import IMAGES, PDF
from zidane_core.models.picture_size import at_least, at_most, decoded_size, too_large
from zidane_core.text import clean

MOST_FILES: Final = 50
TEXT_ROOM: Final = 512 * 1024
"""Bytes of text that the named files of a prompt may have together; each has `reading.ROOM`."""

MEDIA_ROOM: Final = 20 * 2**20
"""Bytes of pictures and PDFs that the named files may have together: in base64 they fit in a request of 32 MB."""

IMAGE_REACH: Final = 64 * 2**20
"""Bytes of an image file that is read to be shrunk."""

_LEAST_ROOM: Final = 16 * 1024
"""Bytes of text below which a file that does not fit is only named: a piece of it would say little."""

_LONGEST_NAME: Final = 100
_ONLY_NAME: Final = "so the model got only its name"


class _Left(NamedTuple):
    """Bytes that the files may still have."""

    text: int = TEXT_ROOM
    media: int = MEDIA_ROOM


class _Named(NamedTuple):
    """A link of a prompt that names a file of this machine."""

    position: int
    link: Link
    file: FileLink

    def noticed(self, notice: str) -> Attachment:
        """The link as it is, and a sentence for the user."""
        return Attachment(position=self.position, part=self.link, notice=notice)

    def only(self, problem: str) -> Attachment:
        """The same with a sentence that names the file."""
        name = clip(line(clean(self.link.name or name_of(self.link.uri))), _LONGEST_NAME)
        return self.noticed(f'The file "{name}" in your message {problem}')


def read_attachments(what: ReadAttachments, stopped: Callable[[], bool] = lambda: False) -> AttachmentsRead:
    """Read the files and shrink the pictures, until `stopped`. What fails is a notice or nothing, never an error."""
    links = (_attached(what, stopped), _smaller(what, stopped))
    return AttachmentsRead(tuple(attachment for found in links for attachment in found))


def _attached(what: ReadAttachments, stopped: Callable[[], bool]) -> Iterator[Attachment]:
    left = _Left()
    told: set[str] = set()
    for count, named in enumerate(_named(what)):
        if stopped():
            return
        if count == MOST_FILES:
            yield named.noticed(
                f"Your message names more than {MOST_FILES} files, so the model got only the names of the rest; "
                "it can read them when it needs them."
            )
            return
        attachment = _attachment(what, named, left)
        if attachment is None or attachment.notice in told:
            continue
        if attachment.notice:
            told.add(attachment.notice)
        left = _less(left, attachment)
        yield attachment


def _named(what: ReadAttachments) -> Iterator[_Named]:
    for position, link in what.links:
        file = file_link(link.uri, windows=os.name == "nt")
        if file is not None:
            yield _Named(position, link, file)


def _less(left: _Left, attachment: Attachment) -> _Left:
    part = attachment.part
    if isinstance(part, Document) and part.text is not None:
        return left._replace(text=max(left.text - len(part.text.encode()), 0))
    if isinstance(part, Document | Image):
        return left._replace(media=left.media - decoded_size(part.data))
    return left


# Named files ---------------------------------------------------------------------------------------


def _attachment(what: ReadAttachments, named: _Named, left: _Left) -> Attachment | None:
    """What a link names; None leaves it a link."""
    try:
        path = resolve(named.file.path, what.cwd, what.roots)
    except Refused:
        return named.only(f"has a path that cannot be used, {_ONLY_NAME}; give the path of a file.")
    if not path.inside:
        return named.only(
            f"lies outside of the workspace, {_ONLY_NAME}; add its folder to the workspace, or put its text in "
            "the message."
        )
    try:
        with entry(path, what.roots) as place:
            if stands(place) != "file":
                return None
            with opened(place, path.given) as file:
                return _content(what, named, path, file, left)
    except FileNotFoundError:
        return named.only(f"does not exist, {_ONLY_NAME}; save it first if it is new.")
    except OSError as error:
        reason = error.strerror or str(error)
        return named.only(f"cannot be read ({reason}), {_ONLY_NAME}; look at its permissions.")
    except Refused:  # one of the roots, or a link that was swapped in meanwhile
        return None


def _content(
    what: ReadAttachments, named: _Named, path: ResolvedPath, file: BinaryIO, left: _Left
) -> Attachment | None:
    head = file.read(SAMPLE)
    media_type = image_type(head)
    if media_type is not None:
        return _picture(what, named, media_type, head, file, left) if what.images_taken else None
    if head.startswith(b"%PDF-"):
        return _pdf(named, head, file, left) if what.documents_taken else None
    try:
        return _text(named, shown(path, what.cwd), head, file, left)
    except Binary:
        return None


def _text(named: _Named, place: str, head: bytes, file: BinaryIO, left: _Left) -> Attachment:
    first, last = named.file.first, named.file.last
    room = min(ROOM, left.text)
    if room < _LEAST_ROOM and os.fstat(file.fileno()).st_size > room:
        return named.noticed(
            f"The files in your message have more than {at_most(TEXT_ROOM)} of text together, so the model got "
            "only the names of the rest; it can read them when it needs them."
        )
    start = first or 1
    limit = 0 if last is None else last - start + 1
    try:
        text = text_lines(file, head, start, limit, named.file.path, room).said() if head else EMPTY
    except Binary:
        raise
    except Refused as refusal:  # the file is shorter by now, or the client has more of it
        text = f"[{clean(str(refusal))}]"
    link = named.link
    document = Document(
        uri=link.uri,
        name=link.name or name_of(link.uri),
        media_type=_text_type(link.media_type),
        text=text,
    )
    # A name that is no UTF-8 is one that no client can be asked about.
    known = place if clean(place) == place else ""
    return Attachment(position=named.position, part=document, path=known, first=first, last=last)


def _text_type(hint: str | None) -> str:
    """The media type of a text file: what the client says when that can be one."""
    return hint if hint is not None and hint.startswith("text/") else "text/plain"


def _picture(
    what: ReadAttachments, named: _Named, media_type: str, head: bytes, file: BinaryIO, left: _Left
) -> Attachment:
    data = head + file.read(IMAGE_REACH)
    if len(data) > IMAGE_REACH:
        reach = at_most(IMAGE_REACH)
        return named.only(f"is a picture of more than {reach}, {_ONLY_NAME}; make it smaller first.")
    picture = Picture(media_type, data)
    if len(data) > what.image_bytes:
        smaller = shrunk(data, what.image_bytes)
        if not isinstance(smaller, Picture):
            sizes = f"({at_least(len(data))}) is larger than the model takes ({at_most(what.image_bytes)})"
            return named.only(f"{sizes}, so it got only its name; {_advice(smaller)}.")
        picture = smaller
    if len(picture.data) > left.media:
        return named.noticed(_TOO_MUCH)
    part = Image(picture.media_type, base64.b64encode(picture.data).decode(), named.link.uri)
    return Attachment(position=named.position, part=part)


def _pdf(named: _Named, head: bytes, file: BinaryIO, left: _Left) -> Attachment:
    data = head + file.read(MEDIA_ROOM)
    if len(data) > MEDIA_ROOM:
        return named.only(f"is a PDF of more than {at_most(MEDIA_ROOM)}, {_ONLY_NAME}; name a smaller one.")
    if len(data) > left.media:
        return named.noticed(_TOO_MUCH)
    link = named.link
    document = Document(
        uri=link.uri,
        name=link.name or name_of(link.uri),
        media_type=PDF,
        data=base64.b64encode(data).decode(),
    )
    return Attachment(position=named.position, part=document)


_TOO_MUCH: Final = (
    f"The pictures and PDFs that your message names have more than {at_most(MEDIA_ROOM)} together, so the model got "
    "only the names of the rest; name them in another message."
)


# Pictures in the prompt ----------------------------------------------------------------------------


def _smaller(what: ReadAttachments, stopped: Callable[[], bool]) -> Iterator[Attachment]:
    for position, image in what.images if what.images_taken else ():
        if stopped():
            return
        size = decoded_size(image.data)
        if size > what.image_bytes and image.media_type in IMAGES:
            yield _shrunk_or_noted(what, position, image, size)


def _shrunk_or_noted(what: ReadAttachments, position: int, image: Image, size: int) -> Attachment:
    smaller = _decoded_and_shrunk(image.data, what.image_bytes)
    if isinstance(smaller, Picture):
        data = base64.b64encode(smaller.data).decode()
        return Attachment(position=position, part=Image(smaller.media_type, data, image.uri))
    sizes = f"({at_least(size)}) is larger than the model takes ({at_most(what.image_bytes)})"
    return Attachment(
        position=position,
        part=too_large(image.media_type, size, what.image_bytes),
        notice=f"The picture in your message {sizes}, so it only got a note; {_advice(smaller)}.",
    )


def _decoded_and_shrunk(data: str, most: int) -> Picture | NotShrunk:
    try:
        return shrunk(base64.b64decode(data), most)
    except (binascii.Error, ValueError):
        return "cannot"


def _advice(why: NotShrunk) -> str:
    more = ", or install zidane-acp[images] to have it shrunk" if why == "no pillow" else ""
    return f"send a smaller one{more}"
