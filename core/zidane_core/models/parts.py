"""What a model takes: parts it cannot take become text, and the user is told (ring 1)."""

import base64
import binascii
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from zidane_core.data.content import Audio, Document, Image, Link, Part, Text
from zidane_core.data.models import ModelChoice
from zidane_core.models.picture_head import head_of_base64
from zidane_core.models.picture_size import excess_of, too_large

IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
PDF: Final = "application/pdf"
_TEXTUAL: Final = frozenset(
    {"application/json", "application/xml", "application/yaml", "application/toml", "application/javascript"}
)
_LONGEST_URI: Final = 300


class Takes(NamedTuple):
    """What a family's wire format can carry at all; the model's own limits come on top.

    `audio` maps media types to the format's name. `text_documents` says that text files stay documents.
    """

    audio: Mapping[str, str] = MappingProxyType({})
    documents: bool = True
    text_documents: bool = False
    image_links: bool = True
    document_links: bool = False


class Fitted(NamedTuple):
    """The parts a model can take (no `Link` is left), and what the user should know."""

    parts: tuple[Text | Image | Audio | Document, ...]
    warnings: tuple[str, ...]


def fit(parts: tuple[Part, ...], model: ModelChoice, takes: Takes) -> Fitted:
    """Make every part one that the model takes."""
    fitted: list[Text | Image | Audio | Document] = []
    warnings: list[str] = []
    for part in parts:
        taken, warning = _fit_one(part, model, takes)
        if not (isinstance(taken, Text) and not taken.text.strip()):
            fitted.append(taken)
        if warning:
            warnings.append(warning)
    return Fitted(tuple(fitted), tuple(warnings))


def _fit_one(part: Part, model: ModelChoice, takes: Takes) -> tuple[Text | Image | Audio | Document, str]:
    if isinstance(part, Text):
        return part, ""
    if isinstance(part, Link):
        return Text(_link(part)), ""
    if isinstance(part, Image):
        return _image(part, model, takes)
    if isinstance(part, Audio):
        if model.audio and part.data and part.media_type in takes.audio:
            return part, ""
        return _noted("audio", part.media_type, part.uri, None, model, bool(part.data), model.audio)
    return _document(part, model, takes)


def _image(part: Image, model: ModelChoice, takes: Takes) -> tuple[Text | Image, str]:
    part = _as_its_bytes_say(part)
    linked = takes.image_links and _web(part.uri)
    if not model.images or (part.media_type not in IMAGES if part.data else not linked):
        return _noted("image", part.media_type, part.uri, None, model, bool(part.data), model.images)
    over = excess_of(part, model.image_bytes)
    if over is None:
        return part, ""
    problem = (
        f"An image ({part.media_type}, {over.size}) is larger than the {over.most} that {model.name} takes, so it got "
        "only a note about it; use a smaller one."
    )
    return too_large(part.media_type, over), problem


def _as_its_bytes_say(part: Image) -> Image:
    """The picture with the media type it really has, where that is known: providers refuse another."""
    found = head_of_base64(part.data).media_type
    return part if found in (None, part.media_type) else msgspec.structs.replace(part, media_type=found)


def _document(part: Document, model: ModelChoice, takes: Takes) -> tuple[Text | Document, str]:
    text = part.text if part.text is not None else _as_text(part)
    if text is not None:
        if model.documents and takes.text_documents and text.strip():
            return msgspec.structs.replace(part, text=text, data=""), ""
        return Text(_inline(part, text)), ""
    linked = takes.document_links and not part.data and _web(part.uri)
    if model.documents and takes.documents and part.media_type == PDF and (part.data or linked):
        return part, ""
    kind = part.media_type or "unknown type"
    return _noted("document", kind, part.uri, part.name, model, bool(part.data), model.documents)


def _as_text(part: Document) -> str | None:
    """The text of a text file that came as base64."""
    kind = (part.media_type or "").split(";")[0].strip().lower()
    if not part.data or not (
        kind.startswith("text/") or kind in _TEXTUAL or kind.endswith(("+json", "+xml"))
    ):
        return None
    try:
        return base64.b64decode(part.data, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):  # no text after all: it is named instead
        return None


def _noted(
    kind: str, media_type: str, uri: str | None, name: str | None, model: ModelChoice, data: bool, able: bool
) -> tuple[Text, str]:
    where = name or (uri if uri and len(uri) <= _LONGEST_URI else "")
    what = f"{media_type}, {where}" if where else media_type
    if not data:
        problem = f"The {kind} ({what}) came without data, so {model.name} got only its name."
    elif able:
        problem = f"{model.name} cannot take this kind of {kind} ({what}), so it got only a note about it."
    else:
        problem = f"{model.name} takes no {kind} input, so it got only a note about the {kind} ({what})."
    return Text(f"[{kind} not shown to you: {what}]"), problem


def _link(link: Link) -> str:
    title = link.title or link.name
    about = f": {link.description}" if link.description else ""
    return f"[{title}]({link.uri}){about}"


def _inline(part: Document, text: str) -> str:
    where = part.uri or part.name or "document"
    return f'<document source="{where}">\n{text}\n</document>'


def _web(uri: str | None) -> bool:
    return uri is not None and uri.startswith("https://")


def data_url(media_type: str, data: str) -> str:
    """Base64 data as a data URL."""
    return f"data:{media_type};base64,{data}"


def file_name(part: Document) -> str:
    """A file name for a document, which some providers want."""
    name = part.name or (part.uri or "").rsplit("/", 1)[-1]
    return name or "document.pdf"


def plain(parts: tuple[Text | Image | Audio | Document, ...]) -> str:
    """The texts among the parts, one under the other."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))
