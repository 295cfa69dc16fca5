"""Having the user give a key on a page that the client opens."""

from typing import Final, Literal

import anyio
import msgspec

from zidane_acp.login.methods import Account
from zidane_acp.login.page import KeyPage, key_page
from zidane_acp.login.typed_key import problem_of
from zidane_acp.ports import Ask, AuthProblem

End = Literal["", "decline", "cancel", "late"]
SENTENCES: Final[dict[End, str]] = {
    "": "No key was given.",
    "decline": "The login was declined.",
    "cancel": "The page for the key was not opened.",
    "late": "No key was given on the page in time.",
}


class _Answer(msgspec.Struct, frozen=True, gc=False):
    action: str = "cancel"


async def key_from_page(account: Account, ask: Ask, within: float, data: dict[str, object]) -> str:
    """Show the page and wait for the key, at most so many seconds. Raises AuthProblem, with this data."""
    try:
        async with key_page(account.title, problem_of) as page:
            found = await _given(page, account, ask, within)
    except OSError as error:
        raise AuthProblem(
            f"No page can be shown on this machine ({error.strerror}). Run `zidane-acp login {account.provider}` in a terminal.",
            data,
        ) from None
    if not isinstance(found, str):
        end = found[0]
        more = f"Log in again, or run `zidane-acp login {account.provider}` in a terminal."
        raise AuthProblem(f"{SENTENCES[end]} {more}", data)
    return found


async def _given(page: KeyPage, account: Account, ask: Ask, within: float) -> str | tuple[End]:
    """The key, or how it ended without one. A key counts from whatever moment; the client may answer after it."""
    found: list[str | tuple[End]] = []
    question = {
        "mode": "url",
        "url": page.url,
        "message": f"Give the API key of {account.title} on this page",
    }

    async def consent() -> None:
        answer = msgspec.json.decode(
            await ask("elicit", msgspec.json.encode(question).decode()), type=_Answer
        )
        if answer.action != "accept":
            found.append(("decline" if answer.action == "decline" else "cancel",))
            tasks.cancel_scope.cancel()

    with anyio.move_on_after(within):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(consent)
            found.insert(0, await page.key())
            tasks.cancel_scope.cancel()
    return found[0] if found else ("late",)
