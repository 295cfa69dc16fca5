"""Files and pictures of a prompt, as the shell reads them, and pictures to try it with."""

import base64
import io
import os
from pathlib import Path
from typing import Any

from PIL import Image as Pillow

from zidane_acp.tools.attachments import read_attachments
from zidane_core.agent.events import Attachment
from zidane_core.agent.work import ReadAttachments
from zidane_core.data.content import Document, Image, Link

MIB = 2**20


def linked(root: Path, *ends: str, **fields: Any) -> tuple[tuple[int, Link], ...]:
    """Links to files of the folder, at the positions 1, 2, ..."""
    return tuple(
        (number, Link(f"file://{root}/{end}", end.partition("#")[0], **fields))
        for number, end in enumerate(ends, 1)
    )


def read(root: Path, *ends: str, **fields: Any) -> tuple[Attachment, ...]:
    what: dict[str, Any] = {"cwd": str(root), "roots": (str(root),), "image_bytes": 5 * MIB, **fields}
    return read_attachments(ReadAttachments(**{"links": linked(root, *ends), **what})).attachments


def one(root: Path, end: str, **fields: Any) -> Attachment:
    (found,) = read(root, end, **fields)
    assert found.position == 1
    return found


def text_of(attachment: Attachment) -> str:
    assert isinstance(attachment.part, Document)
    assert attachment.part.text is not None
    return attachment.part.text


def png(width: int, height: int, *, noise: bool = True, mode: str = "RGB") -> bytes:
    size = width * height * len(mode)
    return encoded(Pillow.frombytes(mode, (width, height), os.urandom(size) if noise else bytes(size)))


def encoded(picture: Pillow.Image, kind: str = "PNG", **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def opened(part: object) -> Pillow.Image:
    assert isinstance(part, Image)
    return Pillow.open(io.BytesIO(base64.b64decode(part.data)))
