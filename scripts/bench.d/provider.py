"""A server of the bench on loopback, in its own process: OpenAI's chat completions, streamed.

"chunks N" as the last user text is answered by N chunks, anything else by "ok~". It prints its port and ends
when its stdin does.
"""

import asyncio
import json
import re
import sys

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
TOGETHER = 64  # events in one write, as a busy provider's proxy would send them


def event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def framed(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


FIRST = event({"role": "assistant", "content": ""})
USAGE = (
    b'data: {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}\n\n'
)
LAST = event({}, "stop") + USAGE + b"data: [DONE]\n\n"
OK = framed(FIRST + event({"content": "ok~"}) + LAST) + framed(b"")
PIECE = event({"content": "piece~ of text "})
PIECES = framed(PIECE * TOGETHER)


def last_user_text(body: bytes) -> str:
    messages = [m for m in json.loads(body)["messages"] if m["role"] == "user"]
    content = messages[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            text = last_user_text(await reader.readexactly(int(length[1]) if length else 0))
            wanted = re.search(r"chunks (\d+)\s*$", text)
            writer.write(HEAD)
            if wanted is None:
                writer.write(OK)
            else:
                full, rest = divmod(int(wanted[1]), TOGETHER)
                writer.write(framed(FIRST))
                for _ in range(full):
                    writer.write(PIECES)
                    await writer.drain()
                writer.write((framed(PIECE * rest) if rest else b"") + framed(LAST) + framed(b""))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(converse, "127.0.0.1", 0, limit=1 << 26)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
