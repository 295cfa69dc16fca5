"""A peer of the bench: an echo agent as one writes it with the official Python SDK.

"chunks N" is answered by N chunks, anything else by its own text.
"""

import asyncio
import re
from typing import Any, cast

import acp
from acp.schema import InitializeResponse, NewSessionResponse, PromptResponse


class Echo:
    """Only the methods that a client of the bench calls."""

    client: acp.Client

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="s1")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        text = "".join(getattr(block, "text", "") for block in prompt)
        wanted = re.fullmatch(r"chunks (\d+)", text)
        for _n in range(int(wanted[1]) if wanted else 1):
            piece = "piece~ of text " if wanted else text
            await self.client.session_update(session_id, acp.update_agent_message_text(piece))
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        return None


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast(acp.Agent, Echo())))
