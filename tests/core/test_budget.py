"""How many tokens a request has, and how many a model takes."""

import pytest
from msgspec.structs import replace
from support.driver import MODEL

from zidane_core.agent import budget
from zidane_core.agent.budget import Counted
from zidane_core.agent.presets import ACP_DEFAULT
from zidane_core.data import models
from zidane_core.data.content import Audio, Document, Image, Link, Part, Text
from zidane_core.data.models import Opaque
from zidane_core.models.codec import NO_LIMIT


@pytest.mark.parametrize(
    ("text", "size"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("€" * 6, 6), ("\udc80", 1)]
)
def test_a_text_has_a_token_for_three_bytes(text: str, size: int) -> None:
    assert budget.size_of_text(text) == size


@pytest.mark.parametrize(
    ("part", "size"),
    [
        (Text("abcdef"), 2),
        (Image("image/png", "x" * 4_000_000), budget.PICTURE),
        (Audio("audio/wav", "x" * 4_000_000), budget.PICTURE),
        (Document(uri="file:///a", text="x" * 300), 100),
        (Document(uri="file:///a", data="x" * 300), budget.PICTURE),
        (Document(uri="file:///a", data="x" * 3_000_000), 100_000),
        (Link("file:///ab", "ab"), 4),
    ],
)
def test_content(part: Part, size: int) -> None:
    assert budget.size_of_parts((part,)) == size


@pytest.mark.parametrize(
    ("block", "size"),
    [
        (models.Said("abcdef"), 2),
        (models.Thought("abc", Opaque("x", "y" * 30)), 10),
        (models.Thought("abc" * 20, Opaque("x", "y")), 20),
        (models.Call("id", "abc", "abcdef"), 3),
        (models.Foreign(Opaque("x", "abc")), 1),
    ],
)
def test_blocks_of_an_answer(block: models.AssistantBlock, size: int) -> None:
    assert budget.size_of_block(block) == budget.FRAME + size


def test_system_prompt_and_tools_count_too() -> None:
    assert budget.size_around("abc" * 10, ()) == 10
    assert budget.size_around("", ACP_DEFAULT) > 1000


@pytest.mark.parametrize(
    ("window", "output", "reserve", "limit", "max_tokens"),
    [
        (None, 16384, 16384, None, 16384),
        (None, NO_LIMIT, NO_LIMIT, None, NO_LIMIT),
        (200_000, 32_000, 32_000, 168_000, 32_000),
        (16_000, 16_384, 4_000, 12_000, 4_000),
        (16_000, 1_000, 1_000, 15_000, 1_000),
        (16_000, NO_LIMIT, 4_000, 12_000, NO_LIMIT),
    ],
)
def test_the_answer_has_at_most_a_quarter_of_the_window(
    window: int | None, output: int, reserve: int, limit: int | None, max_tokens: int
) -> None:
    model = replace(MODEL, context_window=window, max_output=output)
    assert (budget.reserve(model), budget.limit(model), budget.max_tokens(model)) == (
        reserve,
        limit,
        max_tokens,
    )


@pytest.mark.parametrize(
    ("counted", "size", "tokens"),
    [
        (None, 500, 600),
        (Counted(450, 500), 500, 450),  # what was counted is known
        (Counted(450, 500), 800, 750),  # what came since is estimated
        (Counted(1200, 500), 600, 1400),  # and estimated higher where the estimate was too low
        (Counted(480, 500), 200, 240),  # what became shorter is the same part of what was counted
        (Counted(3, 500), 500, 420),  # a provider that counts only part of it
        (Counted(9000, 500), 500, 9000),
    ],
)
def test_counts_of_the_provider_set_the_estimate_right(
    counted: Counted | None, size: int, tokens: int
) -> None:
    assert budget.tokens(counted, size, 100) == tokens


@pytest.mark.parametrize(
    ("counted", "scale"),
    [(None, 1.0), (Counted(450, 500), 0.75), (Counted(3, 500), 0.7), (Counted(9000, 500), 2.0)],
)
def test_the_scale_is_bounded(counted: Counted | None, scale: float) -> None:
    assert budget.scale(counted, 100) == scale
