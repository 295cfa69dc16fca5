"""What the model is given for the files that a prompt names, and for pictures that are too large for it."""

import base64
import binascii
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from types import MappingProxyType
from typing import BinaryIO, Final, NamedTuple

from returns.result import Failure

from zidane_acp.tools.denied import denial_of
from zidane_acp.tools.handles import entry, opened, stands
from zidane_acp.tools.paths import resolve, shown
from zidane_acp.tools.reading import EMPTY, ROOM, SAMPLE, Binary, text_lines
from zidane_acp.tools.results import Refused
from zidane_acp.tools.shrinking import NotShrunk, Picture, Shrinker
from zidane_acp.tools.writing import LARGEST
from zidane_core import edits
from zidane_core.agent.editor_files import digest
from zidane_core.agent.events import Attachment, AttachmentsRead
from zidane_core.agent.work import ReadAttachments
from zidane_core.convert.file_links import FileLink, file_link
from zidane_core.convert.names import name_of
from zidane_core.convert.visible import clip, line
from zidane_core.data.content import Document, Image, Link
from zidane_core.data.tools import ResolvedPath
from zidane_core.models.parts import IMAGES, PDF
from zidane_core.models.picture_head import head_of_base64, head_of_bytes
from zidane_core.models.picture_size import Excess, at_most, decoded_size, excess, excess_of, too_large
from zidane_core.text import clean

MOST_FILES: Final = 50
TEXT_ROOM: Final = 512 * 1024
"""Bytes of text that the named files of a prompt may have together; each has `reading.ROOM`."""

MEDIA_ROOM: Final = 20 * 2**20
"""Bytes of pictures and PDFs that the named files may have together: in base64 they fit in a request of 32 MB."""

IMAGE_REACH: Final = 64 * 2**20
"""Bytes of an image file that is read to be shrunk."""

LOGGER: Final = logging.getLogger("zidane_acp.attachments")

_LEAST_ROOM: Final = 16 * 1024
"""Bytes of text below which a file that does not fit is only named: a piece of it would say little."""

_LONGEST_NAME: Final = 100
_ONLY_NAME: Final = "so the model got only its name"
_COPY: Final = "put its text in the message"


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


def read_attachments(
    what: ReadAttachments,
    stopped: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = monotonic,
) -> AttachmentsRead:
    """Read the files and shrink the pictures, until `stopped`. What fails is a notice or nothing, never an error.

    By `clock` (seconds) the pictures share `shrinking.SECONDS`; those after that are not shrunk.
    """
    shrink = Shrinker(what.image_bytes, stopped, clock)
    links = (_attached(what, shrink, stopped), _smaller(what, shrink, stopped))
    return AttachmentsRead(tuple(attachment for found in links for attachment in found))


def _attached(what: ReadAttachments, shrink: Shrinker, stopped: Callable[[], bool]) -> Iterator[Attachment]:
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
        attachment = _or_a_notice(what, named, shrink, left)
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


def _or_a_notice(what: ReadAttachments, named: _Named, shrink: Shrinker, left: _Left) -> Attachment | None:
    """The same as `_attachment`, where no failure of one file costs the others."""
    try:
        return _attachment(what, named, shrink, left)
    except Exception as error:  # whatever a file system or a picture comes up with
        LOGGER.warning("A file that a prompt names could not be read.", exc_info=True)
        return named.only(f"cannot be read ({type(error).__name__}), {_ONLY_NAME}; {_COPY}.")


def _attachment(what: ReadAttachments, named: _Named, shrink: Shrinker, left: _Left) -> Attachment | None:
    """What a link names; None leaves it a link."""
    try:
        path = resolve(named.file.path, what.cwd, what.roots)
    except Refused:
        return named.only(f"has a path that cannot be used, {_ONLY_NAME}; give the path of a file.")
    if denial_of(path, what.cwd, what.denied, what.roots):
        return named.only(f"is denied by a rule of yours, {_ONLY_NAME}; change the rule, or {_COPY}.")
    if not path.inside:
        return named.only(
            f"lies outside of the workspace, {_ONLY_NAME}; add its folder to the workspace, or {_COPY}."
        )
    try:
        with entry(path, what.roots) as place:
            if stands(place) != "file":
                return None
            with opened(place, path.given) as file:
                return _content(what, named, path, file, shrink, left)
    except FileNotFoundError:
        return named.only(f"does not exist, {_ONLY_NAME}; save it first if it is new.")
    except OSError as error:
        reason = error.strerror or str(error)
        advice = "look at its permissions" if isinstance(error, PermissionError) else _COPY
        return named.only(f"cannot be read ({reason}), {_ONLY_NAME}; {advice}.")
    except Refused:  # one of the roots, or a link that was swapped in meanwhile
        return None


def _content(
    what: ReadAttachments,
    named: _Named,
    path: ResolvedPath,
    file: BinaryIO,
    shrink: Shrinker,
    left: _Left,
) -> Attachment | None:
    head = file.read(SAMPLE)
    media_type = head_of_bytes(head).media_type
    if media_type is not None:
        picture = _Begun(media_type, head, file)
        return _picture(what, named, picture, shrink, left) if what.images_taken else None
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
    return Attachment(
        position=named.position,
        part=document,
        path=known,
        digest=_digest(file) if known else "",
        first=first,
        last=last,
    )


def _digest(file: BinaryIO) -> str:
    """What the whole text is told by, so that it can be compared with the editor's; '' for one that is too large."""
    file.seek(0)
    data = file.read(LARGEST + 1)
    decoded = edits.decode(data)
    return "" if len(data) > LARGEST or isinstance(decoded, Failure) else digest(decoded.unwrap().text)


def _text_type(hint: str | None) -> str:
    """The media type of a text file: what the client says when that can be one."""
    return hint if hint is not None and hint.startswith("text/") else "text/plain"


class _Begun(NamedTuple):
    """A picture of which the beginning was read."""

    media_type: str
    head: bytes
    file: BinaryIO


def _picture(
    what: ReadAttachments, named: _Named, begun: _Begun, shrink: Shrinker, left: _Left
) -> Attachment:
    data = begun.head + begun.file.read(IMAGE_REACH)
    if len(data) > IMAGE_REACH:
        reach = at_most(IMAGE_REACH)
        return named.only(f"is a picture of more than {reach}, {_ONLY_NAME}; make it smaller first.")
    picture = Picture(begun.media_type, data)
    over = excess(len(data), head_of_bytes(data).sides, what.image_bytes)
    if over is not None:
        smaller = shrink(data)
        if not isinstance(smaller, Picture):
            return named.only(f"{_sizes(over)}, so it got only its name; {_ADVICE[smaller]}.")
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


def _smaller(what: ReadAttachments, shrink: Shrinker, stopped: Callable[[], bool]) -> Iterator[Attachment]:
    for position, image in what.images if what.images_taken else ():
        if stopped():
            return
        media_type = head_of_base64(image.data).media_type or image.media_type
        over = excess_of(image, what.image_bytes)
        if over is None or media_type not in IMAGES:
            continue
        smaller = _decoded_and_shrunk(image.data, shrink)
        if isinstance(smaller, Picture):
            data = base64.b64encode(smaller.data).decode()
            yield Attachment(position=position, part=Image(smaller.media_type, data, image.uri))
        else:
            notice = f"The picture in your message {_sizes(over)}, so it only got a note; {_ADVICE[smaller]}."
            yield Attachment(position=position, part=too_large(media_type, over), notice=notice)


def _decoded_and_shrunk(data: str, shrink: Shrinker) -> Picture | NotShrunk:
    try:
        return shrink(base64.b64decode(data))
    except (binascii.Error, ValueError):
        return "cannot"


def _sizes(over: Excess) -> str:
    return f"({over.size}) is larger than the model takes ({over.most})"


_ADVICE: Final[Mapping[NotShrunk, str]] = MappingProxyType(
    {
        "no pillow": "send a smaller one, or install zidane-acp[images] to have it shrunk",
        "cannot": "send a smaller one",
        "late": "send smaller or fewer ones, since there was no time left to shrink it",
    }
)
