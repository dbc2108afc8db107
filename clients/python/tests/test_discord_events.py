"""Discord's webhook events, signed as Discord signs them."""

import asyncio
import json
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

import pytest
from conftest import PROFILE, Place, snowflake, subject

from lethe_client import AsyncLethe, Lethe, NotFoundError, UnavailableError
from lethe_client.testing import FakeLethe
from lethe_client.webhooks import WebhookHandler
from lethe_discord import DiscordEvents, deauthorized, user_deauthorized

ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
KEY = ed25519.Ed25519PrivateKey.generate()
RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
PUBLIC_KEY = KEY.public_key().public_bytes(*RAW).hex()
BOT_WIDE = "0" * 17


def signed(body: Any, at: Optional[float] = None) -> Tuple[bytes, Dict[str, str]]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    timestamp = str(int(time.time() if at is None else at))
    signature = KEY.sign(timestamp.encode() + raw).hex()
    return raw, {"X-Signature-Ed25519": signature, "X-Signature-Timestamp": timestamp}


def removed(user_id: str, at: Optional[str] = None) -> Dict[str, Any]:
    happened = {} if at is None else {"timestamp": at}
    event = {"type": "APPLICATION_DEAUTHORIZED", **happened, "data": {"user": {"id": user_id}}}
    return {"version": 1, "application_id": "1", "type": 1, "event": event}


PING = {"version": 1, "application_id": "1", "type": 0}
OTHER = {**PING, "type": 1, "event": {"type": "ENTITLEMENT_CREATE", "timestamp": "2026-01-01T00:00:00", "data": {}}}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stops for seconds fails no test."""
    monkeypatch.setattr("lethe_discord.events._CALL_SECONDS", 60.0)


def consented(lethe: Lethe, user_id: str, *guilds: str) -> None:
    for guild in guilds:
        asked = lethe.consents.request(user_id=user_id, guild_id=guild, categories=["profile"])
        lethe.consents.accept(consent_id=asked["consent_id"])


def test_removing_the_bot_withdraws_the_bot_wide_consent_alone(lethe: Lethe) -> None:
    who = subject()
    consented(lethe, who["user_id"], who["guild_id"], BOT_WIDE)
    handler = DiscordEvents(lethe, PUBLIC_KEY)
    assert [handler.handle(*signed(removed(who["user_id"]))) for _ in range(2)] == [(204, "")] * 2
    states = [lethe.consents.status(user_id=who["user_id"], guild_id=guild) for guild in (BOT_WIDE, who["guild_id"])]
    assert [state["status"] for state in states] == ["revoked", "accepted"]


def test_the_data_of_the_bot_wide_scope_has_its_days_of_grace(service: Lethe) -> None:
    user_id = snowflake()
    consented(service, user_id, BOT_WIDE)
    service.data.submit(user_id=user_id, guild_id=BOT_WIDE, category="profile", data={"nickname": "Robin"})
    assert DiscordEvents(service, PUBLIC_KEY).handle(*signed(removed(user_id)))[0] == 204
    status = service.consents.status(user_id=user_id, guild_id=BOT_WIDE)
    assert status["revoked_at"] < status["data_erased_at"]
    history = service.consents.history(user_id=user_id, guild_id=BOT_WIDE).to_list()
    assert ("revoked", "discord_deauthorized") in [(one["action"], one["source"]) for one in history]


@pytest.mark.parametrize("at", ["{:%Y-%m-%dT%H:%M:%S}", "{:%Y-%m-%dT%H:%M:%S.%f}", "{:%Y-%m-%dT%H:%M:%S}.123456789Z", "{:%Y-%m-%dT%H:%M:%S}+00:00"])
def test_a_consent_that_is_newer_than_the_event_stays(at: str, lethe: Lethe) -> None:
    import datetime

    user_id, now = snowflake(), datetime.datetime.now(datetime.timezone.utc)
    consented(lethe, user_id, BOT_WIDE)
    handler = DiscordEvents(lethe, PUBLIC_KEY)
    before, after = (at.format(now + datetime.timedelta(minutes=minutes)) for minutes in (-2, 2))
    assert handler.handle(*signed(removed(user_id, before)))[0] == 204
    assert lethe.consents.status(user_id=user_id, guild_id=BOT_WIDE)["status"] == "accepted"
    assert handler.handle(*signed(removed(user_id, after)))[0] == 204
    assert lethe.consents.status(user_id=user_id, guild_id=BOT_WIDE)["status"] == "revoked"


@pytest.mark.parametrize(("ahead", "withdrawn"), [(240, False), (86_400, True)])
def test_a_consent_whose_time_is_of_a_clock_far_ahead_is_withdrawn(ahead: int, withdrawn: bool) -> None:
    import datetime

    now = datetime.datetime.now(datetime.timezone.utc)
    calls: List[str] = []

    class Consents:
        def status(self, **_: Any) -> Dict[str, Any]:
            return {"status": "accepted", "accepted_at": (now + datetime.timedelta(seconds=ahead)).isoformat()}

        def revoke(self, **given: Any) -> None:
            calls.append(given["source"])

    lethe: Any = type("Client", (), {"consents": Consents()})()
    assert asyncio.run(user_deauthorized(lethe, snowflake(), at=now.isoformat())) is withdrawn
    assert calls == ["discord_deauthorized"] * withdrawn


def test_two_deliveries_at_once_are_no_failure() -> None:
    class Consents:
        async def status(self, **_: Any) -> Dict[str, Any]:
            return {"status": "accepted", "accepted_at": None}

        async def revoke(self, **_: Any) -> None:
            raise NotFoundError("It is withdrawn.", code="not_found", status=404)

    lethe: Any = type("Client", (), {"consents": Consents()})()
    assert asyncio.run(user_deauthorized(lethe, snowflake())) is False


def test_what_discord_has_not_signed_is_answered_with_401_and_nothing_is_asked() -> None:
    lethe: Any = None
    errors: List[BaseException] = []
    # The time stops: it does not come closer to that of an event of later than now.
    at = time.time()
    handler = DiscordEvents(lethe, PUBLIC_KEY, on_error=errors.append, now=lambda: at)
    raw, headers = signed(removed(snowflake()), at)
    other = DiscordEvents(lethe, "00" * 32, on_error=errors.append, now=lambda: at)
    refused = [
        handler.handle(raw + b" ", headers),
        handler.handle(raw, {**headers, "X-Signature-Timestamp": str(int(headers["X-Signature-Timestamp"]) + 1)}),
        handler.handle(raw, {}),
        other.handle(raw, headers),
        *(handler.handle(*signed(removed(snowflake()), at + off)) for off in (-302, 302)),
    ]
    for name in headers:
        for text in ("", "x", "\udcff", "\u0661" * 10, "0" * 128, "1" * 20_000, "-1", "1e5"):
            refused.append(handler.handle(raw, {**headers, name: text}))
    assert {status for status, _ in refused} == {401}
    assert handler.handle(b" " * 65_537, headers)[0] == 413
    assert errors == []


def test_pings_and_other_events_are_confirmed_and_others_are_handed_on() -> None:
    lethe: Any = None
    seen: List[Any] = []

    async def keep(event: Dict[str, Any]) -> None:
        await asyncio.sleep(0)
        seen.append(event)

    handlers = [DiscordEvents(lethe, PUBLIC_KEY, others=others) for others in (None, seen.append, keep)]
    answers = [asyncio.run(handler.handle_async(*signed(body))) for handler in handlers for body in (PING, OTHER)]
    assert answers == [(204, "")] * 6
    assert seen == [OTHER["event"], OTHER["event"]]


def test_a_failure_is_answered_with_500_and_reported_so_that_discord_sends_the_event_again() -> None:
    fake, errors = FakeLethe(), []  # type: ignore[var-annotated]
    lethe = Lethe(fake.url, Place(fake).registered()["api_key"], client=fake.client(), retries=0)
    user_id = snowflake()
    lethe.categories.register(**PROFILE)
    consented(lethe, user_id, BOT_WIDE)
    handler = DiscordEvents(lethe, PUBLIC_KEY, on_error=errors.append)
    fake.refuse_next("service_unavailable")
    assert [handler.handle(*signed(removed(user_id)))[0] for _ in range(2)] == [500, 204]
    assert isinstance(errors.pop(), UnavailableError)
    removal = "APPLICATION_DEAUTHORIZED"
    events = [None, [], "x", {}, {"type": removal, "data": None}, {"type": removal, "data": {"user": {"id": 5}}}]
    for body in (b"{", b"[]", b"[" * 60_000, b"null", {}, *({**OTHER, "event": event} for event in events)):
        consented(lethe, user_id, BOT_WIDE)
        assert handler.handle(*signed(body))[0] == 500
        errors.pop()
    assert errors == []


@pytest.mark.parametrize("at", ["yesterday", "", None, 5, {}, "2026-02-30T00:00:00", "2026-01-01T25:00:00Z", "2026-01-01", "2026-01-01T00:00:00+99:00"])
def test_an_event_whose_time_cannot_be_read_withdraws(at: Any, lethe: Lethe) -> None:
    user_id, errors = snowflake(), []  # type: ignore[var-annotated]
    consented(lethe, user_id, BOT_WIDE)
    body = removed(user_id)
    body["event"]["timestamp"] = at
    assert DiscordEvents(lethe, PUBLIC_KEY, on_error=errors.append).handle(*signed(body)) == (204, "")
    assert lethe.consents.status(user_id=user_id, guild_id=BOT_WIDE)["status"] == "revoked"
    assert errors == []


def test_with_asyncio() -> None:
    fake = FakeLethe()
    key, errors = Place(fake).registered()["api_key"], []  # type: ignore[var-annotated]
    with Lethe(fake.url, key, client=fake.client()) as lethe:
        lethe.categories.register(**PROFILE)
        user_id = snowflake()
        consented(lethe, user_id, BOT_WIDE)
        call = signed(removed(user_id))

        async def received() -> Tuple[int, str]:
            async with AsyncLethe(fake.url, key, client=fake.async_client()) as other:
                handler = DiscordEvents(other, PUBLIC_KEY, on_error=errors.append)
                return await handler.handle_async(*call)

        assert asyncio.run(received()) == (204, "")
        assert lethe.consents.status(user_id=user_id, guild_id=BOT_WIDE)["status"] == "revoked"
    assert errors == []


def test_an_async_function_needs_the_async_handler() -> None:
    async def others(event: Dict[str, Any]) -> None:
        await asyncio.sleep(0)

    lethe: Any = None
    errors: List[BaseException] = []
    handler = DiscordEvents(lethe, PUBLIC_KEY, others=others, on_error=errors.append)
    for given in (handler, DiscordEvents(AsyncLethe("http://lethe.test", "k"), PUBLIC_KEY, on_error=errors.append)):
        assert given.handle(*signed(OTHER))[0] == 500
        assert "handle_async" in str(errors.pop())


def test_with_flask() -> None:
    flask = pytest.importorskip("flask")
    lethe: Any = None
    handler = DiscordEvents(lethe, PUBLIC_KEY)
    app = flask.Flask("bot")
    app.add_url_rule("/discord", view_func=handler.flask, methods=["POST"])
    # Beside others, and under two paths.
    webhooks = [WebhookHandler("whsec_eA==", {}), WebhookHandler("whsec_eA==", {})]
    for path, beside in (("/one", webhooks[0]), ("/two", webhooks[1]), ("/three", handler)):
        app.add_url_rule(path, view_func=beside.flask, methods=["POST"])
    raw, headers = signed(PING)
    answers = [app.test_client().post("/discord", data=data, headers=headers) for data in (raw, raw + b" ", b" " * 65_537)]
    assert [answer.status_code for answer in answers] == [204, 401, 413]
    statuses = [app.test_client().post(path, data=raw, headers=headers).status_code for path in ("/one", "/two", "/three")]
    assert statuses == [400, 400, 204]
    # Discord wants it also of an answer without a body.
    assert answers[0].headers["content-type"].startswith("text/plain")


def test_is_not_made_without_its_key_or_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    lethe: Any = None
    for key in ("", "x" * 64, "ab" * 31, None):
        with pytest.raises(ValueError, match="64 hexadecimal digits"):
            DiscordEvents(lethe, key)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tolerance"):
        DiscordEvents(lethe, PUBLIC_KEY, tolerance=90_000)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(ImportError, match=r"lethe-client\[sign\]"):
        DiscordEvents(lethe, PUBLIC_KEY)


def test_what_a_body_says() -> None:
    assert deauthorized(removed("1", "2026-01-01T00:00:00")) == ("1", "2026-01-01T00:00:00")
    assert deauthorized(removed("1")) == ("1", None)
    assert [deauthorized(body) for body in (PING, OTHER, {}, {"event": []})] == [None] * 4


def test_an_on_error_that_raises_leaves_the_answer_as_it_is() -> None:
    def broken(error: BaseException) -> None:
        raise RuntimeError("the log is away")

    handler = DiscordEvents(Lethe("http://lethe.test", "k"), PUBLIC_KEY, on_error=broken)
    assert handler.handle(*signed(b"no json"))[0] == 500
