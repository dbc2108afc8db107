import asyncio
import json
import queue
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any, AsyncIterator, Iterator, List, Optional, Tuple

import httpx
import pytest

from lethe_client import _core
from lethe_client import AsyncLethe, ConflictError, ConsentRequiredError, Lethe, LetheError, LetheTimeoutError, NetworkError, RateLimitedError, UnavailableError
from lethe_client._core import Attempts, CallOptions, Request

OK = (200, {}, b'{"success":true,"data":{"id":"b1"}}')
BUSY = (503, {"retry-after": "0"}, b'{"success":false,"error":{"code":"service_unavailable","message":"busy"}}')
LIMITED = (429, {"retry-after": "0"}, b'{"success":false,"error":{"code":"rate_limit_exceeded","message":"slow"}}')
#: Closes the connection in the middle of an answer.
CUT: Optional[Tuple[int, dict, bytes]] = None


class Flaky(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers: List[Optional[Tuple[int, dict, bytes]]] = []
    seen: List[Tuple[str, str, Optional[str]]] = []

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.seen.append((self.command, self.path, self.headers.get("idempotency-key")))
        answer = self.answers.pop(0)
        if answer is None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        status, headers, body = answer
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_PUT = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def lethe() -> Iterator[Lethe]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Flaky.seen, Flaky.answers = [], []
    with Lethe(f"http://127.0.0.1:{server.server_port}", "sk_test_x") as client:
        yield client
    server.shutdown()
    server.server_close()


KEYS = (200, {}, b'{"keys":[]}')


def test_half_a_surrogate_pair_is_refused_by_itself_and_ends_no_batch() -> None:
    sizes: List[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sizes.append(len(request.content))
        texts = [item["data"]["text"] for item in json.loads(request.content)["items"]]
        refused = {"ok": False, "error": {"code": "invalid_request", "message": "no"}}
        results = [refused if "\ud83d" in text else {"ok": True, "data": {}} for text in texts]
        return httpx.Response(200, json={"success": True, "data": {"results": results}})

    who = {"user_id": 1, "guild_id": 2, "category": "notes"}
    items: Any = [{**who, "data": {"text": text}} for text in ("gut", "halb \ud83d", "schön")]
    with Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=httpx.MockTransport(answer))) as lethe:
        done: List[Any] = list(lethe.data.submit_many(items))
        list(lethe.data.submit_many([{**item, "data": {"text": text}} for item, text in zip(items, ("gut", "halb ?", "schön"))]))
    assert [one["ok"] or one["error"]["code"] for one in done] == [True, "invalid_request", True]
    # Only the half is escaped: a neighbour does not become larger than the service takes.
    assert sizes[0] - sizes[1] == len("\\ud83d") - len("?")


def test_batches_are_as_small_as_the_limit_of_the_bot() -> None:
    sizes: List[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        items = json.loads(request.content)["items"]
        sizes.append(len(items))
        if len(items) > 5:
            error = {"code": "invalid_request", "message": "no", "details": {"limit": 5}}
            return httpx.Response(400, json={"success": False, "error": error})
        return httpx.Response(200, json={"success": True, "data": {"results": [{"ok": True, "status": "none"} for _ in items]}})

    who = {"user_id": 1, "guild_id": 2}
    with Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=httpx.MockTransport(answer))) as lethe:
        assert len(lethe.consents.status_many([{**who} for _ in range(112)])) == 112
        # Half of the limit: other calls of the bot count too. The refusal is one of them, and there is one alone.
        assert sizes == [100, *[2] * 56]
        sizes.clear()
        items: Any = [{**who, "category": "notes", "data": {}} for _ in range(11)]
        assert [one["ok"] for one in lethe.data.submit_many(items)] == [True] * 11
        assert sizes == [11, 2, 2, 2, 2, 2, 1]


@pytest.mark.parametrize(
    "used, key, stored, sent",
    [(0, None, 28, [40, 15, 15, 13, 2]), (20, None, 8, [40, 15, 8, 7]), (0, "import-1", 15, [40, 15, 15])],
)
def test_a_batch_has_what_is_left_in_the_minute_but_the_same_items_with_a_key(
    used: int, key: Optional[str], stored: int, sent: List[int]
) -> None:
    sizes: List[int] = []
    count = used

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal count
        size = len(json.loads(request.content)["items"])
        sizes.append(size)
        count += 1
        if size > 30:
            error = {"code": "invalid_request", "message": "no", "details": {"limit": 30}}
            return httpx.Response(400, json={"success": False, "error": error})
        if count + size - 1 > 30:
            headers = {"x-ratelimit-remaining": str(max(0, 30 - count)), "retry-after": "60"}
            return httpx.Response(429, headers=headers, json={"success": False, "error": {"code": "rate_limit_exceeded", "message": "no"}})
        count += size - 1
        return httpx.Response(200, json={"success": True, "data": {"results": [{"ok": True}] * size}})

    items: Any = [{"user_id": at, "guild_id": 2, "category": "notes", "data": {}} for at in range(40)]
    done: List[Any] = []
    with Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=httpx.MockTransport(answer))) as lethe:
        with pytest.raises(RateLimitedError):
            for one in lethe.data.submit_many(items, options=CallOptions(idempotency_key=key)):
                done.append(one)
    assert (len(done), sizes) == (stored, sent)


@pytest.mark.parametrize("code", ["consent_required", "processing_refused"])
def test_with_consent_asks_again_after_an_item_of_a_batch_that_was_refused(code: str) -> None:
    asked: List[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path.split("/")[4])
        data: Any = {"status": "accepted", "objections": [], "restrictions": []}
        if request.method == "POST":
            data = {"results": [{"ok": True, "data": {}}, {"ok": False, "error": {"code": code, "message": "no"}}]}
        return httpx.Response(200, json={"success": True, "data": data})

    item: Any = {**WHO, "category": "notes", "data": {}}
    with Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=httpx.MockTransport(answer))) as lethe:
        for _ in range(2):
            lethe.with_consent(lambda: None, **WHO, category="notes")
            lethe.with_consent(lambda: None, **WHO, category="notes")
            list(lethe.data.submit_many([item, item]))
    assert asked == ["status", "refusals", "submit"] * 2


@pytest.mark.parametrize("is_here", [True, False])
def test_with_consent_runs_nothing_after_a_withdrawal_that_was_recorded_while_it_waited(is_here: bool) -> None:
    status, asked, done = "accepted", 0, []

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal status, asked
        if "/refusals/" in request.url.path:
            asked += 1
            if status == "accepted":
                status = "revoked"
                if is_here:
                    lethe.consents.revoke(**WHO)
                else:
                    lethe.empty_consent_cache()
        data: Any = {"status": status, "objections": [], "restrictions": [], "requires_consent": True}
        return httpx.Response(200, json={"success": True, "data": data})

    with Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=httpx.MockTransport(answer))) as lethe:
        with pytest.raises(ConsentRequiredError):
            lethe.with_consent(lambda: done.append(1), **WHO, category="notes")
    assert (done, asked) == ([], 1)


@pytest.mark.parametrize(
    "user_id, is_refused",
    [(None, False), ("123456789012345678", False), ("1", False), ("123456789012345678", True), ("1", True)],
)
def test_with_consent_asks_a_few_times_where_consents_of_the_user_change_and_then_runs_nothing(
    user_id: Optional[str], is_refused: bool
) -> None:
    """By the bot itself, or an item of a batch that is refused. Those of another user change nothing."""
    asked: List[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        data: Any = {"status": "accepted", "objections": [], "restrictions": []}
        if request.method == "POST":
            data = {"results": [{"ok": False, "error": {"code": "consent_required", "message": "no"}}]}
        else:
            asked.append(request.url.path.split("/")[4])
            if is_refused:
                list(lethe.data.submit_many([{"user_id": str(user_id), "guild_id": "1", "category": "notes", "data": {}}]))
            else:
                lethe.empty_consent_cache(user_id)
        return httpx.Response(200, json={"success": True, "data": data})

    with Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=httpx.MockTransport(answer))) as lethe:
        if user_id == "1":
            assert lethe.with_consent(lambda: "done", **WHO, category="notes") == "done"
            assert asked == ["status", "refusals"]
            return
        with pytest.raises(UnavailableError):
            lethe.with_consent(lambda: asked.append("done"), **WHO, category="notes")
    assert asked == ["status", "refusals"] * 5


def test_public_keys_are_asked_for_as_all_else(lethe: Lethe) -> None:
    for ask in (lethe.public_keys, lambda: lethe.webhook_keys("b1")):
        Flaky.answers = [BUSY, LIMITED, CUT, KEYS]
        assert ask() == {"keys": []}
        for body in (b"<html>", b"{}"):
            Flaky.answers = [(200, {}, body)]
            with pytest.raises(LetheError) as unexpected:
                ask()
            assert unexpected.value.code == "unexpected_answer"
    with Lethe("http://127.0.0.1:9", retries=0) as nowhere, pytest.raises(NetworkError):
        nowhere.public_keys()


WHO = {"user_id": "123456789012345678", "guild_id": "223456789012345678"}


@pytest.mark.parametrize("fault", [BUSY, LIMITED, CUT])
def test_repeats_a_post_with_the_same_key(lethe: Lethe, fault) -> None:
    Flaky.answers = [fault, fault, OK]
    assert lethe.consents.revoke(**WHO) == {"id": "b1"}
    keys = {key for _, _, key in Flaky.seen}
    assert len(Flaky.seen) == 3 and len(keys) == 1 and None not in keys


def refused(status: int, code: str, **details: object) -> Tuple[int, dict, bytes]:
    error = {"code": code, "message": code, "details": details}
    return status, {"retry-after": "0"}, json.dumps({"success": False, "error": error}).encode()


@pytest.mark.parametrize("details", [[{"code": "a"}], "text", 5, None, {"fields": 5}])
def test_an_answer_of_a_proxy_is_a_refusal_whatever_its_details_are(lethe: Lethe, details: Any) -> None:
    def answer(status: int, code: str) -> Tuple[int, dict, bytes]:
        error = {"code": code, "message": "no", "details": details}
        return status, {"retry-after": "0"}, json.dumps({"error": error}).encode()

    Flaky.answers = [answer(403, "AuthorizationFailed")]
    with pytest.raises(LetheError) as refusal:
        lethe.bots.me()
    error = refusal.value
    assert (error.status, error.code, error.reason, error.fields) == (403, "AuthorizationFailed", None, [])
    assert error.details == (details if isinstance(details, dict) else {})
    # It is repeated as all others are.
    Flaky.answers = [answer(503, "service_unavailable"), OK]
    assert lethe.bots.me() == {"id": "b1"}


@pytest.mark.parametrize("after", ["soon", "Mon, 1 Jan 99999999999999999999 00:00:00 GMT"])
def test_a_time_that_a_proxy_asks_for_and_that_is_none_is_passed_over(after: str) -> None:
    assert _core.refusal_of(503, {"retry-after": after}, b"").retry_after is None


ERASING = refused(409, "conflict", reason="deletion_in_progress")
RUNNING = refused(409, "conflict", reason="idempotency_in_progress")
FIRST, SECOND = ({"request_id": id, "certificate_salt": f"s{id}"} for id in ("1", "2"))


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lethe_client._core.random.random", lambda: 0.0)


@pytest.mark.usefixtures("no_wait")
def test_waits_for_an_erasure_whose_first_attempt_was_lost(lethe: Lethe) -> None:
    # Longer than its retries, which are three.
    Flaky.answers = [CUT, *[ERASING] * 9, (200, {}, b'{"success":true,"data":{"certificate_salt":"s"}}')]
    assert lethe.privacy.forget(**WHO)["certificate_salt"] == "s"
    # The erasure of another call is not waited for, nor by another act.
    calls = (([ERASING], lethe.privacy.forget), ([LIMITED, ERASING], lethe.privacy.forget), ([CUT, ERASING], lethe.consents.revoke))
    for answers, ask in calls:
        Flaky.answers = [*answers]
        with pytest.raises(ConflictError):
            ask(**WHO)


@pytest.mark.usefixtures("no_wait")
def test_waits_for_an_act_that_is_still_running_but_counts_other_failures(lethe: Lethe) -> None:
    Flaky.answers = [CUT, *[RUNNING] * 9, OK]
    assert lethe.consents.revoke(**WHO) == {"id": "b1"}
    Flaky.answers = [CUT, RUNNING, CUT, RUNNING, OK]
    with pytest.raises(NetworkError):
        lethe.consents.revoke(**WHO, options=CallOptions(retries=1))
    Flaky.answers = [RUNNING, OK]
    with pytest.raises(ConflictError):
        lethe.consents.revoke(**WHO, options=CallOptions(retries=0))


@pytest.mark.usefixtures("no_wait")
def test_an_erasure_of_all_guilds_that_fails_has_the_requests_of_every_attempt(lethe: Lethe) -> None:
    some, others = (refused(503, "service_unavailable", requests=[one]) for one in (FIRST, SECOND))
    for last, known in (([CUT, CUT, CUT], [FIRST]), ([others, CUT, refused(401, "unauthorized")], [FIRST, SECOND])):
        Flaky.answers = [some, *last]
        with pytest.raises(LetheError) as failed:
            lethe.privacy.forget_everywhere(user_id=1)
        assert failed.value.details["requests"] == known


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> List[float]:
    """The pauses, which end at once and are the time that passes."""
    pauses: List[float] = []
    monkeypatch.setattr("time.monotonic", lambda: sum(pauses))
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses


def looking(*looks: httpx.Response) -> Lethe:
    """A client whose looks at an erasure have these answers, the last one for ever."""
    left = [*looks]
    transport = httpx.MockTransport(lambda _: left.pop(0) if len(left) > 1 else left[0])
    return Lethe("http://lethe.test", "sk_test_x", client=httpx.Client(transport=transport))


def look(status: str) -> httpx.Response:
    return httpx.Response(200, json={"success": True, "data": {"status": status}})


@pytest.mark.usefixtures("no_wait")
def test_an_erasure_is_waited_for_beyond_the_minute_of_the_limiter(clock: List[float]) -> None:
    limited = httpx.Response(429, headers={"retry-after": "31"}, content=LIMITED[2])
    assert looking(look("processing"), limited, look("completed")).privacy.wait_for("1")["status"] == "completed"
    assert clock == [1.0, 31.0]


def test_the_pauses_between_two_looks_at_an_erasure_grow_and_its_time_ends_them(clock: List[float]) -> None:
    with pytest.raises(LetheTimeoutError, match="The erasure took longer than 10 s"):
        looking(look("processing")).privacy.wait_for("1", timeout=10)
    assert clock == [1.0, 2.0, 3.0, 3.0]
    with pytest.raises(ValueError, match="timeout"):
        looking(look("completed")).privacy.wait_for("1", timeout=float("nan"))


@pytest.mark.usefixtures("no_wait")
def test_an_on_retry_that_raises_does_not_end_the_call(lethe: Lethe) -> None:
    calls: List[str] = []

    def failing(route: str, *_: Any) -> None:
        calls.append(route)
        raise OSError("The disk of the log is full.")

    Flaky.answers = [BUSY, refused(503, "service_unavailable", requests=[FIRST]), refused(401, "unauthorized")]
    with Lethe(str(lethe._call.base), "sk_test_x", on_retry=failing) as own:
        with pytest.raises(LetheError) as failed:
            own.privacy.forget_everywhere(user_id=1, options=CallOptions(on_retry=failing))
    assert failed.value.details["requests"] == [FIRST]
    assert calls == ["POST /gdpr/forget-user"] * 4


def test_a_call_whose_time_is_over_has_the_requests_of_its_attempts() -> None:
    request = Request("POST /gdpr/forget-user", "POST", "", {}, None, is_repeatable=True)
    attempts = Attempts(request, 60, 3)
    attempts.begin()
    attempts.pause_after(UnavailableError("x", code="x", details={"requests": [FIRST, SECOND]}, retry_after=0))
    attempts._end = 0
    with pytest.raises(LetheTimeoutError) as over:
        attempts.begin()
    assert over.value.details == {"requests": [FIRST, SECOND]}


def test_repeats_no_delete_that_may_have_been_done(lethe: Lethe) -> None:
    Flaky.answers = [CUT, OK]
    with pytest.raises(NetworkError):
        lethe.categories.delete("profile")
    assert len(Flaky.seen) == 1
    Flaky.answers = [BUSY, OK]
    with pytest.raises(UnavailableError):
        lethe.categories.delete("profile")
    # What the limiter refuses was not carried out.
    Flaky.answers = [LIMITED, OK]
    lethe.categories.delete("profile")


def test_ends_after_its_retries_and_its_time(lethe: Lethe) -> None:
    Flaky.answers = [BUSY] * 4
    with pytest.raises(UnavailableError):
        lethe.bots.me()
    assert len(Flaky.seen) == 4
    Flaky.answers = [(429, {"retry-after": "60"}, LIMITED[2])]
    with pytest.raises(RateLimitedError) as refused:
        lethe.bots.me()
    assert refused.value.retry_after == 60


def test_says_when_the_time_is_over() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with Lethe(f"http://127.0.0.1:{silent.getsockname()[1]}", "sk_test_x", timeout=0.3) as lethe:
            with pytest.raises(LetheTimeoutError):
                lethe.bots.me()


class Dripping(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An answer in eight parts, a second after each other by a clock of its own."""

    def __init__(self) -> None:
        self.seconds = 0

    def __iter__(self) -> Iterator[bytes]:
        for part in range(8):
            self.seconds += 1
            yield OK[2] if part == 7 else b" "

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part


@pytest.mark.parametrize("is_async", [False, True])
def test_the_time_of_a_call_is_over_though_each_part_of_the_answer_came_in_time(
    is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Dripping()
    monkeypatch.setattr(_core, "time", SimpleNamespace(monotonic=lambda: float(answer.seconds)))
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=answer))
    asked: Any
    with pytest.raises(LetheTimeoutError, match="longer than 2 s"):
        if is_async:
            asked = AsyncLethe("http://lethe.test", "k", timeout=2, client=httpx.AsyncClient(transport=transport))
            asyncio.run(asked.bots.me())
        else:
            asked = Lethe("http://lethe.test", "k", timeout=2, client=httpx.Client(transport=transport))
            asked.bots.me()
    assert answer.seconds == 2


@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_asynchronous_call_whose_time_is_over_ends_though_each_header_came_in_time(is_streamed: bool) -> None:
    pause = threading.Event()
    began = threading.Event()
    #: Of each call whether its other side has ended the connection before the last header.
    ends: "queue.Queue[bool]" = queue.Queue()

    class DrippingHeaders(BaseHTTPRequestHandler):
        """An answer of two hundred headers, one after the other."""

        def do_GET(self) -> None:
            began.set()
            try:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                for _ in range(200):
                    self.wfile.write(b"x: y\r\n")
                    pause.wait(0.02)
                ends.put(False)
            except OSError:
                ends.put(True)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), DrippingHeaders)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    async def asked() -> None:
        async with AsyncLethe(f"http://127.0.0.1:{server.server_port}", "k", timeout=0.2, retries=0) as lethe:
            if is_streamed:
                await lethe.audit.export().__anext__()
            await lethe.bots.me()

    try:
        # On a busy machine the time of a call can be over before it has reached the server.
        while not began.is_set():
            with pytest.raises(LetheError) as failure:
                asyncio.run(asked())
        assert ends.get(timeout=600)
        assert isinstance(failure.value, LetheTimeoutError)
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/", "/", ""])
def test_takes_an_address_with_the_path_of_the_interface(path: str) -> None:
    asked: List[str] = []

    def answered(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, content=OK[2])

    with Lethe(f"http://lethe.test/at{path}", "k", client=httpx.Client(transport=httpx.MockTransport(answered))) as lethe:
        lethe.bots.me()
    assert asked == ["http://lethe.test/at/api/v1/bots/me"]


def test_repeats_what_was_never_sent() -> None:
    retries = []
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        # Nobody else gets the port meanwhile: it is bound, and nobody listens on it.
        with Lethe(url, "sk_test_x", retries=1, on_retry=lambda route, *_: retries.append(route)) as lethe:
            with pytest.raises(NetworkError):
                lethe.categories.delete("profile")
    assert retries == ["DELETE /data/categories/{key}"]


def test_names_an_answer_that_is_not_one_of_the_service(lethe: Lethe) -> None:
    Flaky.answers = [(200, {}, b"<html>")]
    with pytest.raises(LetheError) as refused:
        lethe.bots.me()
    assert refused.value.code == "unexpected_answer"


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_follows_no_redirect_also_with_a_client_that_does(is_async: bool, status: int) -> None:
    arrived: List[str] = []

    def answered(request: httpx.Request) -> httpx.Response:
        arrived.append(f"{request.method} {request.url.scheme}")
        if request.url.scheme == "http":
            return httpx.Response(status, headers={"location": str(request.url.copy_with(scheme="https"))})
        return httpx.Response(200, content=OK[2])

    options: Any = {"transport": httpx.MockTransport(answered), "follow_redirects": True}

    async def asked() -> None:
        with pytest.raises(LetheError) as refusal:
            if is_async:
                async with httpx.AsyncClient(**options) as client:
                    await act(AsyncLethe("http://lethe.test", "k", client=client))
            else:
                act(Lethe("http://lethe.test", "k", client=httpx.Client(**options)))
        assert (refusal.value.code, refusal.value.status) == ("unexpected_answer", status)

    async def streamed(chunks: Any) -> None:
        async for _ in chunks:
            pass

    acts: List[Any] = [lambda lethe: lethe.consents.revoke(**WHO), lambda lethe: lethe.public_keys()]
    if is_async:
        acts.append(lambda lethe: streamed(lethe.data.export_stream(**WHO)))
    else:
        acts.append(lambda lethe: list(lethe.data.export_stream(**WHO)))
    for act in acts:
        asyncio.run(asked())
    assert arrived == ["POST http", "GET http", "GET http"]


def test_names_a_streamed_answer_that_was_cut(lethe: Lethe) -> None:
    Flaky.answers = [(200, {}, b'{"success":true,"data":{"a":1')]
    with pytest.raises(NetworkError):
        b"".join(lethe.data.export_stream(**WHO))
    Flaky.answers = [BUSY, (200, {}, b'{"success":true,"data":{"a":1}}')]
    assert b"".join(lethe.data.export_stream(**WHO)) == b'{"a":1}'


def test_refuses_what_is_no_key() -> None:
    for key in ("Bearer sk_live_x", "sk_live_x\n", "sk_live_…", ""):
        with pytest.raises(TypeError):
            Lethe("http://127.0.0.1:1", key)


def test_sends_no_header_that_http_refuses_and_no_error_has_its_value(lethe: Lethe) -> None:
    Flaky.answers, before = [OK], len(Flaky.seen)
    for options, name in (
        (CallOptions(idempotency_key="secret\nkey"), "idempotency-key"),
        (CallOptions(idempotency_key="secret ✓"), "idempotency-key"),
        (CallOptions(headers={"x-a": "secret\r\nx-b: 1"}), "x-a"),
    ):
        with pytest.raises(TypeError, match=f"The header '{name}' cannot be sent") as refused:
            lethe.consents.revoke(**WHO, options=options)
        assert "secret" not in str(refused.value)
    assert len(Flaky.seen) == before
    lethe.consents.revoke(**WHO, options=CallOptions(idempotency_key="import 1"))


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_sends_nothing_with_an_id_that_is_the_path_of_something_else(lethe: Lethe, id: str) -> None:
    Flaky.answers = [OK] * 4
    for call in (
        lambda: lethe.keys.delete(id),
        lambda: lethe.categories.delete(id),
        lambda: lethe.data.export(user_id=id, guild_id=1),
        lambda: lethe.webhook_keys(id),
    ):
        with pytest.raises(TypeError, match="is no id"):
            call()
    # The id of the bot itself is asked for before.
    assert [path for _, path, _ in Flaky.seen] == ["/api/v1/bots/me"]


@pytest.mark.parametrize("name", ["timeout", "retries", "consent_cache"])
def test_refuses_a_number_that_is_none_by_its_name(name: str) -> None:
    for value in (float("nan"), float("inf"), -1, "30", True):
        with pytest.raises(ValueError, match=name):
            Lethe("http://127.0.0.1:9", "sk_live_x", **{name: value})  # type: ignore[arg-type]
