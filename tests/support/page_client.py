"""A browser on the page for a key, as bytes over loopback."""

from typing import NamedTuple

import anyio

KEY = "sk-test-0123456789"


class Answer(NamedTuple):
    status: int
    head: str
    body: str


class Browser:
    """Requests to a page; what is not given is as a browser would have it."""

    def __init__(self, url: str) -> None:
        self.host, _, path = url.removeprefix("http://").partition("/")
        self.port = int(self.host.partition(":")[2])
        self.path = f"/{path}"

    async def raw(self, data: bytes) -> Answer:
        async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
            await stream.send(data)
            got = b""
            with anyio.fail_after(10):
                try:
                    while True:
                        got += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    pass
        head, _, body = got.decode().partition("\r\n\r\n")
        return Answer(int(head.split(" ")[1]), head, body)

    async def ask(self, method: str, path: str | None = None, body: str = "", **headers: str) -> Answer:
        fields = {"Host": self.host, **headers}
        if body:
            fields["Content-Length"] = str(len(body))
        lines = (
            f"{method} {path or self.path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in fields.items()),
        )
        return await self.raw("\r\n".join((*lines, "", body)).encode())

    async def give(self, key: str = KEY, **headers: str) -> Answer:
        return await self.ask("POST", body=f"key={key}", **{"Origin": f"http://{self.host}", **headers})
