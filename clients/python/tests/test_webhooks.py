import asyncio
import base64
import hashlib
import hmac
import json
import os
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

from lethe_client import WebhookHandler, WebhookVerificationError, verify_webhook
from lethe_client._public_keys import is_signed_by

DOCS = Path(os.environ.get("LETHE_DOCS", Path(__file__).resolve().parents[3] / "docs"))
ALL_VECTORS = json.loads((DOCS / "webhook-vectors.json").read_text())
VECTORS, PUBLIC_KEY_VECTORS = ALL_VECTORS["vectors"], ALL_VECTORS["public_key_vectors"]
SECRET = "whsec_" + base64.b64encode(b"x" * 32).decode()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_agrees_with_the_vectors(vector: Dict[str, Any]) -> None:
    call = (vector["raw_body"].encode(), vector["headers"], vector["secrets"])
    if vector["expect"] == "verified":
        found = verify_webhook(*call, now=lambda: vector["now"])
        assert found.event == json.loads(vector["raw_body"])
        return
    with pytest.raises(WebhookVerificationError) as refused:
        verify_webhook(*call, now=lambda: vector["now"])
    assert refused.value.fault == vector["expect"]


@pytest.mark.parametrize("vector", PUBLIC_KEY_VECTORS, ids=lambda vector: vector["name"])
def test_agrees_with_the_vectors_without_a_secret(vector: Dict[str, Any]) -> None:
    pytest.importorskip("cryptography")
    call, keys = (vector["raw_body"].encode(), vector["headers"]), vector["public_keys"]
    for public_keys in (keys, lambda: keys):
        if vector["expect"] == "verified":
            found = verify_webhook(*call, public_keys=public_keys, now=lambda: vector["now"])
            assert found.id == vector["headers"]["webhook-id"]
            continue
        with pytest.raises(WebhookVerificationError) as refused:
            verify_webhook(*call, public_keys=public_keys, now=lambda: vector["now"])
        assert refused.value.fault == vector["expect"]


def test_a_handler_without_a_secret_refuses_what_its_keys_have_not_signed() -> None:
    pytest.importorskip("cryptography")
    key = PUBLIC_KEY_VECTORS[1]["public_keys"]
    for handler in (WebhookHandler(None, {}, public_keys=key), WebhookHandler(None, {}, public_keys=lambda: [key])):
        status, text = handler.handle(*signed({"event": "ping"}))
        assert (status, "fetch the keys again" in text) == (400, True)
    for none in ("", "whpk_A", "whpk_" + "A" * 43 + "\u00e9", SECRET, [], [7], {}, {"keys": [{"x": "A"}]}, 7):
        with pytest.raises(WebhookVerificationError) as refused:
            WebhookHandler(None, {}, public_keys=none)  # type: ignore[arg-type]
        assert refused.value.fault == "bad_keys"
    with pytest.raises(WebhookVerificationError, match="not both"):
        WebhookHandler(SECRET, {}, public_keys=key)


def test_a_function_that_has_no_keys_is_no_reason_to_take_the_secret() -> None:
    def nothing() -> Any:
        return None

    call = signed({"event": "ping"})
    for secrets in (SECRET, None):
        with pytest.raises(WebhookVerificationError) as refused:
            verify_webhook(*call, secrets, public_keys=nothing)
        assert refused.value.fault == "bad_keys"


@pytest.mark.filterwarnings("error")
def test_the_function_of_the_public_keys_may_be_async() -> None:
    pytest.importorskip("cryptography")
    vector = next(one for one in PUBLIC_KEY_VECTORS if one["expect"] == "verified")
    call, errors = (vector["raw_body"].encode(), vector["headers"]), []  # type: ignore[var-annotated]
    found = vector["public_keys"]

    async def keys() -> Any:
        await asyncio.sleep(0)
        return found

    handler = WebhookHandler(None, {}, public_keys=keys, tolerance=86_400, on_error=errors.append)
    # The vectors are old: what is refused is their time.
    status, text = asyncio.run(handler.handle_async(*call))
    assert (status, "was signed" in text) == (400, True)
    found = None
    assert "must be the answer of" in asyncio.run(handler.handle_async(*call))[1]
    # Where it cannot be awaited it is no mistake of the caller.
    assert handler.handle(*call)[0] == 500
    assert isinstance(errors[-1], TypeError) and "use handle_async" in str(errors[-1])
    with pytest.raises(TypeError, match="use handle_async"):
        verify_webhook(*call, public_keys=keys)


def test_tries_few_signatures_of_a_stranger_who_sends_many() -> None:
    tried = []

    class Key:
        def verify(self, signature: bytes, content: bytes) -> None:
            tried.append(signature)
            raise pytest.importorskip("cryptography.exceptions").InvalidSignature

    entries = ["v1a," + base64.b64encode(bytes([at] * 64)).decode() for at in range(100)]
    assert not is_signed_by([(Key(), float("inf"))], b"", entries, "1")
    assert len(tried) == 4


def test_public_keys_without_cryptography_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(ImportError, match=r"lethe-client\[sign\]"):
        WebhookHandler(None, {}, public_keys=PUBLIC_KEY_VECTORS[1]["public_keys"])


def signed(event: Dict[str, Any], id: str = "d1") -> Tuple[bytes, Dict[str, str]]:
    body, at = json.dumps(event).encode(), str(int(time.time()))
    code = hmac.new(b"x" * 32, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(code).decode()
    return body, {"Webhook-Id": id, "Webhook-Timestamp": at, "Webhook-Signature": signature}


def test_refuses_a_captured_call_that_is_cut_at_other_dots() -> None:
    body, headers = signed({"event": "ping", "at": "a.b"})
    at, head = headers["Webhook-Timestamp"], body[: body.index(b".")].decode()
    moved = {"Webhook-Id": f"{headers['Webhook-Id']}.{at}", "Webhook-Timestamp": head}
    with pytest.raises(WebhookVerificationError) as refused:
        verify_webhook(body[body.index(b".") + 1 :], {**headers, **moved}, SECRET)
    assert refused.value.fault == "clock"


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
@pytest.mark.parametrize("text", ["\udcff\udcfe", "\ud800", "\u00e9", "\u0661", "a" * 20_000, "-1", "1e5", " "])
def test_answers_400_for_a_header_that_the_service_does_not_send(name: str, text: str) -> None:
    body, headers = signed(FORGOTTEN)
    assert WebhookHandler(SECRET, {}).handle(body, {**headers, name: text})[0] == 400


FORGOTTEN = {"event": "user_forgotten", "user_id": "1", "guild_id": "2"}


def test_processes_each_id_once_and_confirms_it() -> None:
    seen: List[Dict[str, Any]] = []
    handler = WebhookHandler(SECRET, {"user_forgotten": seen.append})
    assert [handler.handle(*signed(FORGOTTEN))[0] for _ in range(2)] == [204, 204]
    assert seen == [FORGOTTEN]
    assert handler.handle(*signed({"event": "consent_revoked"}, "d2"))[0] == 204


def test_refuses_a_function_for_what_is_no_event() -> None:
    with pytest.raises(ValueError, match=r"'user_forgoten'.*Events are: user_forgotten, consent_revoked, data_corrected, holder_task, ping"):
        WebhookHandler(SECRET, {"user_forgotten": print, "user_forgoten": print})
    WebhookHandler(SECRET, {"user_forgotten": print, "consent_revoked": print, "ping": print})


def test_is_not_made_without_its_secret() -> None:
    for secrets in ("", None, [], "sk_live_x", ["whsec_"], [SECRET, ""]):
        with pytest.raises(WebhookVerificationError) as refused:
            WebhookHandler(secrets, {})
        assert refused.value.fault == "bad_secret"
    WebhookHandler([SECRET, SECRET], {})


def test_a_failed_function_is_called_again() -> None:
    calls = []

    def fails_once(event: Dict[str, Any]) -> None:
        calls.append(event)
        if len(calls) == 1:
            raise ValueError("no database")

    errors: List[Exception] = []
    handler = WebhookHandler(SECRET, {"user_forgotten": fails_once}, on_error=errors.append)
    assert [handler.handle(*signed(FORGOTTEN))[0] for _ in range(3)] == [500, 204, 204]
    assert len(calls) == 2 and isinstance(errors[0], ValueError)


class AsyncStore:
    """As over asyncpg."""

    def __init__(self) -> None:
        self.ids: List[str] = []

    async def has(self, id: str) -> bool:
        await asyncio.sleep(0)
        return id in self.ids

    async def add(self, id: str) -> None:
        await asyncio.sleep(0)
        self.ids.append(id)


@pytest.mark.filterwarnings("error")
def test_a_store_may_be_async() -> None:
    seen: List[Dict[str, Any]] = []
    store = AsyncStore()
    errors: List[Exception] = []
    handler = WebhookHandler(SECRET, {"user_forgotten": seen.append}, store=store, on_error=errors.append)

    async def twice() -> List[Tuple[int, str]]:
        return [await handler.handle_async(*signed(FORGOTTEN)) for _ in range(2)]

    # Where it cannot be awaited nothing is confirmed, and nothing done.
    assert handler.handle(*signed(FORGOTTEN))[0] == 500
    assert seen == [] and "the store is async: use handle_async" in str(errors[0])
    assert [status for status, _ in asyncio.run(twice())] == [204, 204]
    assert seen == [FORGOTTEN] and store.ids == ["d1"]


@pytest.mark.filterwarnings("error")
def test_no_call_is_confirmed_whose_function_answers_what_must_be_awaited() -> None:
    """A plain function can answer a future, too."""

    class Eventual:
        def __await__(self) -> Any:
            yield from ()

    handler = WebhookHandler(SECRET, {"user_forgotten": lambda event: Eventual()})
    assert handler.handle(*signed(FORGOTTEN))[0] == 500
    assert asyncio.run(handler.handle_async(*signed(FORGOTTEN)))[0] == 204


def test_an_on_error_that_raises_leaves_the_answer_as_it_is() -> None:
    def broken(error: Exception) -> None:
        raise RuntimeError("the log is away")

    handler = WebhookHandler(SECRET, {}, on_error=broken)
    body, headers = signed(FORGOTTEN)
    assert handler.handle(body + b" ", headers)[0] == 400
    assert asyncio.run(handler.handle_async(body + b" ", headers))[0] == 400


def test_refuses_what_is_not_a_call_of_the_service() -> None:
    handler = WebhookHandler(SECRET, {})
    body, headers = signed(FORGOTTEN)
    assert handler.handle(body + b" ", headers)[0] == 400
    assert handler.handle(b"x" * 65_536, headers)[0] == 400
    assert handler.handle(b"x" * 65_537, headers)[0] == 413
    assert handler.handle(body, {})[0] == 400


def test_two_attempts_at_once_act_once() -> None:
    seen = []

    async def both() -> List[Tuple[int, str]]:
        released = asyncio.Event()

        async def slow(event: Dict[str, Any]) -> None:
            seen.append(event)
            await released.wait()

        handler = WebhookHandler(SECRET, {"user_forgotten": slow})
        attempts = [asyncio.ensure_future(handler.handle_async(*signed(FORGOTTEN))) for _ in range(5)]
        while not seen:
            await asyncio.sleep(0)
        # The first one has not ended, and all others have begun.
        assert not any(attempt.done() for attempt in attempts)
        released.set()
        return list(await asyncio.gather(*attempts))

    assert [status for status, _ in asyncio.run(both())] == [204] * 5
    assert len(seen) == 1


def test_attempts_after_a_failure_take_turns_and_one_of_them_acts() -> None:
    begun: List[int] = []

    async def four() -> List[Tuple[int, str]]:
        released = [asyncio.Event() for _ in range(4)]

        async def fails_once(event: Dict[str, Any]) -> None:
            begun.append(len(begun))
            await released[begun[-1]].wait()
            if len(begun) == 1:
                raise ValueError("no database")

        handler = WebhookHandler(SECRET, {"user_forgotten": fails_once})

        def attempt() -> "asyncio.Future[Tuple[int, str]]":
            return asyncio.ensure_future(handler.handle_async(*signed(FORGOTTEN)))

        async def until_begun(count: int) -> None:
            while len(begun) < count:
                await asyncio.sleep(0)

        first, waiting = attempt(), attempt()
        given_up = attempt()
        await until_begun(1)
        given_up.cancel()
        released[0].set()
        # The one that waited acts while another one arrives.
        await until_begun(2)
        later = attempt()
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(begun) == 2
        released[1].set()
        return [await first, await waiting, await later]

    assert [status for status, _ in asyncio.run(four())] == [500, 204, 204]
    assert len(begun) == 2


def test_an_attempt_in_a_thread_waits_for_one_in_an_event_loop() -> None:
    begun: List[str] = []

    async def both() -> List[Tuple[int, str]]:
        released = asyncio.Event()

        def act(event: Dict[str, Any]) -> Any:
            begun.append("")
            return released.wait() if len(begun) == 1 else None

        handler = WebhookHandler(SECRET, {"user_forgotten": act})
        first = asyncio.ensure_future(handler.handle_async(*signed(FORGOTTEN)))
        while not begun:
            await asyncio.sleep(0)
        other = asyncio.get_running_loop().run_in_executor(None, handler.handle, *signed(FORGOTTEN))
        while not any(handler._turns._waiting.values()):
            await asyncio.sleep(0)
        released.set()
        return [await first, await other]

    assert [status for status, _ in asyncio.run(both())] == [204, 204]
    assert len(begun) == 1


def test_an_attempt_that_would_stop_the_event_loop_of_another_one_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: List[str] = []
    result = Future.result

    def result_that_does_not_wait(turn: "Future[None]") -> None:
        # In place of a test that never ends.
        return result(turn) if turn.done() else pytest.fail("the loop would stop")

    monkeypatch.setattr(Future, "result", result_that_does_not_wait)

    async def both() -> List[int]:
        released = asyncio.Event()

        def act(event: Dict[str, Any]) -> Any:
            seen.append("")
            return released.wait()

        handler = WebhookHandler(SECRET, {"user_forgotten": act})
        first = asyncio.ensure_future(handler.handle_async(*signed(FORGOTTEN)))
        while not seen:
            await asyncio.sleep(0)
        found = [handler.handle(*signed(FORGOTTEN))[0]]
        released.set()
        found.append((await first)[0])
        return [*found, handler.handle(*signed(FORGOTTEN))[0]]

    assert asyncio.run(both()) == [500, 204, 204]
    assert len(seen) == 1


def test_an_attempt_that_is_closed_while_it_waits_takes_no_turn() -> None:
    handler = WebhookHandler(SECRET, {})
    handler._turns.claim("d1")

    async def closed() -> None:
        attempt = handler.handle_async(*signed(FORGOTTEN))
        attempt.send(None)
        attempt.close()

    asyncio.run(closed())
    handler._turns.give_back("d1")
    assert not handler._turns._waiting


def test_empties_the_consents_that_a_client_trusts() -> None:
    class Client:
        emptied = 0

        def empty_consent_cache(self, user_id: Optional[str] = None) -> None:
            self.emptied += 1

    client = Client()
    handler = WebhookHandler(SECRET, {}, lethe=client)
    handler.handle(*signed({"event": "ping"}, "d1"))
    handler.handle(*signed(FORGOTTEN, "d2"))
    assert client.emptied == 1


def test_with_flask() -> None:
    flask = pytest.importorskip("flask")
    handler = WebhookHandler(SECRET, {})
    app = flask.Flask("bot")
    app.add_url_rule("/gdpr", view_func=handler.flask, methods=["POST"])
    body, headers = signed(FORGOTTEN)
    assert app.test_client().post("/gdpr", data=body, headers=headers).status_code == 204
    assert app.test_client().post("/gdpr", data=body + b" ", headers=headers).status_code == 400
    assert app.test_client().post("/gdpr", data=b"x" * 65_537, headers=headers).status_code == 413


def test_with_aiohttp() -> None:
    web = pytest.importorskip("aiohttp.web")
    from aiohttp import ClientSession

    async def call() -> List[int]:
        app = web.Application()
        app.router.add_post("/gdpr", WebhookHandler(SECRET, {}).aiohttp)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/gdpr"
        body, headers = signed(FORGOTTEN)
        async with ClientSession() as session:
            found = [(await session.post(url, data=one, headers=headers)).status for one in (body, body + b" ", b"x" * 65_537)]
        # No client of Python sends bytes that are no UTF-8.
        for name in (b"Webhook-Id", b"Webhook-Timestamp", b"Webhook-Signature"):
            lines = [f"{key}: {value}".encode() for key, value in headers.items() if key != name.decode()]
            head = [b"POST /gdpr HTTP/1.1", b"Host: bot", b"Connection: close", b"Content-Length: %d" % len(body), *lines]
            reader, writer = await asyncio.open_connection(*runner.addresses[0][:2])
            writer.write(b"\r\n".join([*head, name + b": \xff\xfe", b"", body]))
            found.append(int((await reader.read()).split(b" ")[1]))
            writer.close()
        await runner.cleanup()
        return found

    assert asyncio.run(call()) == [204, 400, 413, 400, 400, 400]


def test_with_asgi() -> None:
    body, headers = signed(FORGOTTEN)
    scope = {
        "type": "http",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }
    parts = [
        {"type": "http.request", "body": body[:10], "more_body": True},
        {"type": "http.request", "body": body[10:], "more_body": False},
    ]
    sent: List[Dict[str, Any]] = []

    async def receive() -> Dict[str, Any]:
        return parts.pop(0)

    async def send(message: Dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(WebhookHandler(SECRET, {}).asgi(scope, receive, send))
    assert sent[0]["status"] == 204
