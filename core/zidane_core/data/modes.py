"""Ways in which a session works (ring 0), such as building or planning."""

import msgspec


class Mode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A mode. Without `changes` every tool that changes something is withheld from the model and refused; then the
    model may ask the user to leave for the mode `leads_to` ('': it may not). `prompt` is added to the system prompt."""

    id: str
    name: str
    description: str = ""
    changes: bool = True
    leads_to: str = ""
    prompt: str = ""
