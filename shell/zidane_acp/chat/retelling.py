"""Shows on the screen what was said in a session before it goes on."""

from zidane_acp.chat.past import Past
from zidane_acp.chat.screen import Screen


def retell(screen: Screen, past: Past, left_out: str) -> None:
    """Each turn as it stood there live, behind its prompt; `left_out` says what is missing before them."""
    if left_out:
        screen.tell(left_out, "dim")
    for turn in past.turns:
        if turn.prompt.strip():
            screen.prompted(turn.prompt)
        for update in turn.updates:
            screen.show(update)
        screen.end_turn()
