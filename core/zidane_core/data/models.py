"""What the machine asks of a model, and what a model answers (ring 0)."""

from typing import Final, Literal, TypeAlias

import msgspec

from zidane_core.data.content import Part
from zidane_core.data.outcome import FinishReason, Usage
from zidane_core.data.tools import ToolSpec
from zidane_core.faults import Fault

ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high"]

IMAGE_BYTES: Final = 5 * 2**20
"""Bytes of one picture, before base64, where it is not known what a model takes."""


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """Provider data that must go back unchanged: the codec family that made it, and its JSON text."""

    family: str
    data: str


class Said(msgspec.Struct, frozen=True, gc=False, tag="said"):
    """Assistant text in the history."""

    text: str
    opaque: Opaque | None = None


class Thought(msgspec.Struct, frozen=True, gc=False, tag="thought"):
    """Assistant thinking in the history; `opaque` holds its signature or encrypted form."""

    text: str
    opaque: Opaque | None = None


class Call(msgspec.Struct, frozen=True, gc=False, tag="call"):
    """A tool call in the history. `id` is our id, unique in the session; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str
    opaque: Opaque | None = None


class Foreign(msgspec.Struct, frozen=True, gc=False, tag="foreign"):
    """A block only its own provider understands (a server-side tool, a redacted thought); others skip it."""

    opaque: Opaque


AssistantBlock: TypeAlias = Said | Thought | Call | Foreign


class UserMessage(msgspec.Struct, frozen=True, gc=False, tag="user"):
    """What the user said."""

    parts: tuple[Part, ...]


class AssistantMessage(msgspec.Struct, frozen=True, gc=False, tag="assistant"):
    """One answer of the model."""

    blocks: tuple[AssistantBlock, ...]


class CallResult(msgspec.Struct, frozen=True, gc=False):
    """The result of one call, by our call id."""

    id: str
    name: str
    content: tuple[Part, ...]
    failed: bool = False


class ResultsMessage(msgspec.Struct, frozen=True, gc=False, tag="results"):
    """The results of all calls of the assistant message before it, in call order."""

    results: tuple[CallResult, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ResultsMessage


class LongPrompt(msgspec.Struct, frozen=True, gc=False):
    """Of a request with more input than `above` tokens all of the input, cached or not, costs `input` times as much, and the
    output `output` times."""

    above: int
    input: float
    output: float


class Price(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a model costs, in US dollars for a million tokens. None: cached tokens cost what all input does, and a long
    prompt costs no more."""

    input: float
    output: float
    cached_read: float | None = None
    cached_write: float | None = None
    long: LongPrompt | None = None


class OptionValue(msgspec.Struct, frozen=True, gc=False):
    """One value of a model's option. `body` is a JSON object that our own codecs put into the provider's request."""

    value: str
    name: str
    description: str = ""
    body: str = ""


class ModelOption(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An option of one model: a choice of values, or with `switch` one of the two values `on` and `off`."""

    id: str
    name: str
    values: tuple[OptionValue, ...]
    default: str
    description: str = ""
    switch: bool = False


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A model that can be chosen. `value` names it uniquely, also to the shell's ports and in the option `model`.

    `provider` is the name of who offers it, empty when that does not matter; `id` is the model's name there.
    `context_window` is in tokens, None if unknown. `image_bytes` is what it takes of one picture, before base64.
    `price` is None if unknown. `made_late`: its provider is made when the model is first selected, which may fail.
    Without `language` it is no language model, and is asked for neither titles nor summaries.
    """

    value: str
    name: str
    provider: str
    id: str
    images: bool = True
    audio: bool = False
    documents: bool = False
    thinking: bool = True
    max_output: int = 16384
    context_window: int | None = None
    image_bytes: int = IMAGE_BYTES
    price: Price | None = None
    options: tuple[ModelOption, ...] = ()
    made_late: bool = False
    language: bool = True


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One model round: everything a codec needs to build the provider's request. `options` are the values of the model's
    own options, by their ids."""

    model: ModelChoice
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    thinking: ThinkingLevel = "off"
    max_tokens: int = 16384
    options: tuple[tuple[str, OptionValue], ...] = ()


# What a model answers, in the order it comes.


class TextDelta(msgspec.Struct, frozen=True, gc=False, tag="text_delta"):
    """A piece of the answer."""

    text: str


class ThoughtDelta(msgspec.Struct, frozen=True, gc=False, tag="thought_delta"):
    """A piece of visible thinking."""

    text: str


class BlockEnded(msgspec.Struct, frozen=True, gc=False, tag="block_ended"):
    """The running text or thought block is complete; `opaque` belongs to it (a thinking signature)."""

    opaque: Opaque | None = None


class ForeignBlock(msgspec.Struct, frozen=True, gc=False, tag="foreign_block"):
    """A block that only goes back to its own provider and is not shown."""

    opaque: Opaque


class Called(msgspec.Struct, frozen=True, gc=False, tag="called"):
    """A complete tool call: the provider's id (may repeat or be empty), the name, the arguments as JSON text."""

    id: str
    name: str
    arguments: str
    opaque: Opaque | None = None


class Used(msgspec.Struct, frozen=True, gc=False, tag="used"):
    """Token counts of this round so far; the last one stands."""

    usage: Usage


class Warned(msgspec.Struct, frozen=True, gc=False, tag="warned"):
    """Something of the request had to be left out or changed for this model; a sentence for the user."""

    text: str


class Finished(msgspec.Struct, frozen=True, gc=False, tag="finished"):
    """The round ended as the provider says; `refusal` is its text where the model refused."""

    reason: FinishReason
    refusal: str = ""


class Broke(msgspec.Struct, frozen=True, gc=False, tag="broke"):
    """The round failed: the fault, whether another try may help, and how long the provider asks to wait (s)."""

    fault: Fault
    retryable: bool = False
    retry_after: float | None = None


ModelEvent: TypeAlias = (
    TextDelta | ThoughtDelta | BlockEnded | ForeignBlock | Called | Used | Warned | Finished | Broke
)
