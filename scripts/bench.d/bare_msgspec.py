"""A peer of the bench: no agent at all, only msgspec between a blocking read and a blocking write.

It shows what Python and the pipe cost; nothing that keeps a conversation can be faster.
"""

import re
import sys

import msgspec

decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder().encode


def chunk(session: str, text: str) -> bytes:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    params = {"sessionId": session, "update": update}
    return encode({"jsonrpc": "2.0", "method": "session/update", "params": params}) + b"\n"


def answer(request: dict[str, object], result: object) -> None:
    sys.stdout.buffer.write(encode({"jsonrpc": "2.0", "id": request["id"], "result": result}) + b"\n")
    sys.stdout.buffer.flush()


def prompt(request: dict[str, object]) -> None:
    params = msgspec.convert(request["params"], dict[str, object])
    blocks = msgspec.convert(params["prompt"], list[dict[str, object]])
    text = "".join(str(block.get("text", "")) for block in blocks)
    wanted = re.fullmatch(r"chunks (\d+)", text)
    for _ in range(int(wanted[1]) if wanted else 1):
        sys.stdout.buffer.write(chunk(str(params["sessionId"]), "piece~ of text " if wanted else text))
    answer(request, {"stopReason": "end_turn"})


def main() -> None:
    for line in sys.stdin.buffer:
        request = msgspec.convert(decode(line), dict[str, object])
        match request.get("method"):
            case "initialize":
                answer(request, {"protocolVersion": 1})
            case "session/new":
                answer(request, {"sessionId": "s1"})
            case "session/prompt":
                prompt(request)


if __name__ == "__main__":
    main()
