"""The page for a key, over real loopback connections: who may give one, and who may not even see it."""

from collections.abc import AsyncIterator

import anyio
import pytest
from support.page_client import KEY, Browser

from zidane_acp.login import page as page_module
from zidane_acp.login.page import KeyPage, key_page
from zidane_acp.login.typed_key import problem_of


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def page(anyio_backend: object) -> AsyncIterator[KeyPage]:
    async with key_page("Some & Co", problem_of) as page:
        yield page


@pytest.fixture
def browser(page: KeyPage) -> Browser:
    return Browser(page.url)


async def still_waits(browser: Browser) -> bool:
    """Whether the page takes a key yet."""
    return (await browser.ask("GET")).status == 200


@pytest.mark.anyio
async def test_the_form_hides_what_is_typed_and_lets_nothing_else_in(browser: Browser) -> None:
    answer = await browser.ask("GET")
    assert answer.status == 200
    assert "type=password" in answer.body and "autocomplete=off" in answer.body
    assert "Some &amp; Co" in answer.body
    for header in ("no-store", "default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"):
        assert header in answer.head
    assert await still_waits(browser)


@pytest.mark.anyio
async def test_a_key_arrives_and_the_answer_does_not_repeat_it(browser: Browser, page: KeyPage) -> None:
    answer = await browser.give(f"+{KEY}%0A")
    assert answer.status == 200 and KEY not in answer.body + answer.head
    with anyio.fail_after(5):
        assert await page.key() == KEY


@pytest.mark.anyio
async def test_it_is_for_one_key(browser: Browser, page: KeyPage) -> None:
    await browser.give()
    for again in (await browser.give("sk-other-0123456789"), await browser.ask("GET")):
        assert again.status == 410
    assert await page.key() == KEY


@pytest.mark.anyio
async def test_nobody_finds_it_without_its_path(browser: Browser) -> None:
    other = f"{browser.path[:-1]}{'A' if browser.path[-1] != 'A' else 'B'}"
    for path in ("/", "/favicon.ico", other, f"{browser.path}/", f"{browser.path}?key={KEY}"):
        answer = await browser.ask("GET", path)
        assert (answer.status, "password" in answer.body) == (404, False), path
        posted = await browser.ask("POST", path, f"key={KEY}", Origin=f"http://{browser.host}")
        assert posted.status == 404
    assert await still_waits(browser)
    assert len(browser.path) > 30


@pytest.mark.anyio
async def test_a_rebound_name_is_not_answered(browser: Browser) -> None:
    for host in ("evil.example", f"evil.example:{browser.port}", f"localhost:{browser.port}", "127.0.0.1"):
        assert (await browser.ask("GET", Host=host)).status == 421
        assert (await browser.give(Host=host, Origin=f"http://{host}")).status == 421
    assert await still_waits(browser)


@pytest.mark.anyio
async def test_a_form_of_another_page_is_refused(browser: Browser) -> None:
    for origin in ("http://evil.example", "null", f"https://{browser.host}", f"http://{browser.host}.evil"):
        assert (await browser.give(Origin=origin)).status == 403
    assert (await browser.ask("POST", body=f"key={KEY}")).status == 403, "a browser always says where from"
    assert await still_waits(browser)


@pytest.mark.anyio
async def test_other_methods_do_nothing(browser: Browser) -> None:
    for method in ("HEAD", "PUT", "OPTIONS", "post"):
        answer = await browser.ask(method, body=f"key={KEY}", Origin=f"http://{browser.host}")
        assert answer.status == 405
    assert await still_waits(browser)


@pytest.mark.anyio
async def test_what_is_no_key_gets_the_form_again(browser: Browser) -> None:
    for wrong in ("", "short", "two+words+of+text", "%D0%BA" * 10):
        answer = await browser.give(wrong)
        assert answer.status == 422 and "type=password" in answer.body and "role=alert" in answer.body
        assert not wrong or wrong not in answer.body
    assert await still_waits(browser)
    assert (await browser.give()).status == 200


HEAD = "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "raw",
    [
        "nonsense\r\n\r\n",
        "GET /\r\n\r\n",
        "GET {path} SPDY/3\r\n\r\n",
        "GET {path} HTTP/1.1\r\nno colon\r\n\r\n",
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n",
        "GET {path} HTTP/1.1\r\nHost : {host}\r\n\r\n",
        HEAD + "Content-Length: -1\r\n\r\n",
        HEAD + "Content-Length: 9999\r\n\r\n",
        HEAD + "Content-Length: 99999999\r\n\r\n",
        HEAD + "Content-Length: ٣\r\n\r\n",
        HEAD + "Transfer-Encoding: chunked\r\n\r\n5\r\nkey=x\r\n0\r\n\r\n",
        "GET {path} HTTP/1.1\r\nX: " + "x" * 40000,
    ],
)
async def test_what_is_no_request_is_refused(browser: Browser, raw: str) -> None:
    text = raw.replace("{path}", browser.path).replace("{host}", browser.host)
    assert (await browser.raw(text.encode())).status == 400
    assert await still_waits(browser)


@pytest.mark.anyio
async def test_who_says_nothing_is_left_in_time(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "REQUEST_WITHIN", 0.05)
    async with await anyio.connect_tcp("127.0.0.1", browser.port) as stream:
        with anyio.fail_after(5), pytest.raises(anyio.EndOfStream):
            await stream.receive()
    assert (await browser.ask("GET")).status == 200


@pytest.mark.anyio
async def test_nobody_listens_any_more_once_it_is_over() -> None:
    async with key_page("Some", problem_of) as page:
        browser = Browser(page.url)
    with pytest.raises(OSError):
        await anyio.connect_tcp("127.0.0.1", browser.port)


@pytest.mark.anyio
async def test_it_listens_on_loopback_only_and_under_a_new_path_each_time() -> None:
    async with key_page("A", problem_of) as first, key_page("B", problem_of) as second:
        assert first.url.startswith("http://127.0.0.1:")
        assert first.url.rpartition("/")[2] != second.url.rpartition("/")[2]
