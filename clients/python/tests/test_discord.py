"""The parts of lethe_discord without Discord, each as in @lethe/discord."""

import asyncio
import json
import re
import time
from types import SimpleNamespace
from typing import Any, AsyncIterator, Callable, Dict, List, Optional

import pytest
from conftest import BANS, PROFILE, Place, snowflake, subject
from discord.utils import MISSING

from lethe_client import (
    CallOptions,
    ConsentRequiredError,
    LetheError,
    NetworkError,
    NotFoundError,
    ProcessingRefusedError,
    RateLimitedError,
    UnavailableError,
)
from lethe_client._async_caller import AsyncCaller
from lethe_client.testing import FakeLethe
from lethe_discord import scope_of
from lethe_discord._consent import _following
from lethe_discord._custom_id import FORGET, WITHDRAW_ALL, base36, custom_id
from lethe_discord._facts import Facts
from lethe_discord._privacy import Privacy
from lethe_discord._public_url import verify_url_of
from lethe_discord._reply import Reply
from lethe_discord._sending import edit
from lethe_discord._turn import Asked
from lethe_discord._waiting import Waiting
from lethe_discord._words import Words
from lethe_discord.cog import PrivacyCog, _asked_of
from lethe_discord.guilds import WAITING_GUILDS_MAX, GuildWatch


def test_the_page_that_checks_files_is_at_the_origin_of_the_service_where_users_reach_it() -> None:
    for origin in ("https://gdpr.bot.example", "http://gdpr.bot.example:3000/"):
        assert verify_url_of(origin) == f"{origin.rstrip('/')}/verify"
    for local in ("http://localhost:3000", "http://127.0.0.1", "http://[::1]:3000", "https://lethe"):
        assert verify_url_of(local) is None
    for wrong in ("gdpr.bot.example", "", "ftp://a.example", "https://a.example/b", "https://a.example:x"):
        with pytest.raises(ValueError, match="PUBLIC_URL of the service"):
            verify_url_of(wrong)


def test_presses_of_different_choices_that_meet_are_no_failure_and_the_user_is_asked_anew() -> None:
    async def meeting() -> None:
        place, who, errors = Place(None), subject(), []  # type: ignore[var-annotated]
        async with place.async_client(place.registered()["api_key"]) as lethe:
            for name in ("Birthday", "Statistics"):
                await lethe.categories.register(**{**PROFILE, "key": name.lower(), "label_en": name})
            privacy = Privacy(lethe, None, None, None, 300, None, errors.append)

            async def act(custom_id: str = "", *values: str) -> Reply:
                subcommand = None if custom_id else "consent"
                given = {"subcommand": subcommand, "custom_id": custom_id, "values": values}
                return await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", **given))

            async def chosen(key: str) -> str:
                return id_of(await act(id_of(question, "Choose"), key), "(1)")

            question = await act()
            birthday, statistics = await chosen("birthday"), await chosen("statistics")
            consents = lethe.consents
            accept, revoke, others = consents.accept, consents.revoke, []

            async def accept_after_the_other(**given: Any) -> Any:
                setattr(consents, "accept", accept)
                others.append(await act(statistics))
                return await accept(**given)

            async def revoke_after_another(**given: Any) -> Any:
                await revoke(**who)
                return await revoke(**given)

            setattr(consents, "accept", accept_after_the_other)
            again = await act(birthday)
            assert ["\n• Statistics\n" in other.content for other in others] == [True]
            assert "`/privacy about`" in again.content
            setattr(consents, "revoke", revoke_after_another)
            done = await act(id_of(again, "(1)"))
            assert done.content.startswith("Thank you. You agreed to:\n• Birthday\nYou can")
            assert errors == []

    asyncio.run(meeting())


def test_a_consent_whose_answer_is_lost_keeps_its_button_for_the_next_press() -> None:
    async def losing() -> None:
        place, who, errors = Place(None), subject(), []  # type: ignore[var-annotated]
        async with place.async_client(place.registered()["api_key"]) as lethe:
            for name in ("Birthday", "Statistics"):
                await lethe.categories.register(**{**PROFILE, "key": name.lower(), "label_en": name})
            privacy = Privacy(lethe, None, None, None, 300, None, errors.append)

            async def press(custom_id: str, *values: str) -> Reply:
                return await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", custom_id=custom_id, values=values))

            async def then() -> str:
                return "Saved."

            question = await privacy.ask(Asked(id=snowflake(), **who, locale="en-US"), then)
            chosen = await press(id_of(question, "Choose"), "birthday")
            accept = lethe.consents.accept

            async def lost(**given: Any) -> Any:
                setattr(lethe.consents, "accept", accept)
                await accept(**given)
                raise LetheError("The answer is lost.", code="internal_error")

            setattr(lethe.consents, "accept", lost)
            failed = await press(id_of(chosen, "(1)"))
            # The message keeps its text and its buttons.
            assert failed.content.startswith("Something failed") and failed.is_note and not failed.components
            done = await press(id_of(chosen, "(1)"))
            assert done.content.startswith("Thank you. You agreed to:\n• Birthday\nYou can")
            assert [name for name, _ in done.files] == ["consent-receipt.jwt"] and done.following is not None
            following = await done.following()
            assert following is not None and following.content == "Saved." and len(errors) == 1

    asyncio.run(losing())


def test_the_calls_for_a_user_wait_for_the_next_minute_of_the_limiter(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: List[Any] = []
    begun = AsyncCaller._begun

    async def seen(self: AsyncCaller, route: str, given: Any, options: CallOptions) -> Any:
        calls.append((route, options.timeout))
        return await begun(self, route, given, options)

    async def answering() -> None:
        place, who, errors = Place(FakeLethe()), subject(), []  # type: ignore[var-annotated]
        async with place.async_client(place.registered()["api_key"]) as lethe:
            await lethe.categories.register(**PROFILE)
            privacy = Privacy(lethe, None, None, None, 300, None, errors.append)
            monkeypatch.setattr(AsyncCaller, "_begun", seen)
            for subcommand in ("about", "consent", "status", "page", "export", "revoke", "object"):
                await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", subcommand=subcommand))
            await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", custom_id=custom_id(WITHDRAW_ALL)))

    asyncio.run(answering())
    assert {timeout for _, timeout in calls} == {90.0}
    assert len({route for route, _ in calls}) >= 8


class Guilds:
    """A service of one bot, which can be away, and the pauses of its kit, which end at once."""

    def __init__(self, *of_discord: str, pauses: int = 10) -> None:
        self.known: Dict[str, bool] = {}
        self.acts: List[str] = []
        self.errors: List[str] = []
        self.pauses: List[float] = []
        self.after: Dict[int, Callable[[], Any]] = {}
        self.refusal: Optional[LetheError] = None
        self.registered = "1"
        self.is_away, self._most, self.of_discord = False, pauses, list(of_discord)
        self.servers = SimpleNamespace(register=self._register, delete=self._delete, list=self._list)
        self.bots = SimpleNamespace(me=self._me)
        lethe: Any = self
        self.client: Any = SimpleNamespace(user=SimpleNamespace(id=1), application_id=2, fetch_guilds=self._fetch)
        self.watch = GuildWatch(lethe, self.client, 7, lambda error: self.errors.append(str(error)), self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.after.get(len(self.pauses), lambda: None)()
        if len(self.pauses) >= self._most:
            self.watch.stop()
        await asyncio.sleep(0)

    def back(self) -> None:
        self.is_away = False

    async def ended(self) -> None:
        while self.watch._tasks:
            await asyncio.gather(*self.watch._tasks, return_exceptions=True)

    def _act(self, name: str, guild: str, is_scheduled: bool) -> None:
        if self.is_away:
            raise UnavailableError(f"{name} {guild}", code="service_unavailable")
        if self.refusal is not None:
            raise self.refusal
        self.acts.append(f"{name} {guild}")
        self.known[guild] = is_scheduled

    async def _register(self, guild_id: str, **_: Any) -> None:
        self._act("register", guild_id, False)

    async def _delete(self, guild_id: str, **_: Any) -> None:
        self._act("delete", guild_id, True)

    async def _me(self, **_: Any) -> Dict[str, str]:
        if self.is_away:
            raise UnavailableError("me", code="service_unavailable")
        return {"platform_bot_id": self.registered}

    async def _list(self, **_: Any) -> AsyncIterator[Dict[str, Any]]:
        for guild, is_scheduled in list(self.known.items()):
            yield {"guild_id": guild, "deletion_scheduled_for": "2026-12-01" if is_scheduled else None}

    async def _fetch(self, limit: Optional[int], after: Any = None) -> AsyncIterator[Any]:
        ids = sorted(int(guild) for guild in self.of_discord)
        for guild in [one for one in ids if after is None or one > after.id][:limit]:
            yield SimpleNamespace(id=guild)


def test_an_event_of_a_guild_is_tried_again_until_the_service_takes_it() -> None:
    async def trying() -> None:
        guilds = Guilds(pauses=20)
        guilds.watch.joined("4")
        await guilds.ended()
        guilds.is_away, guilds.after[9] = True, guilds.back
        guilds.watch.left("5")
        await guilds.ended()
        assert guilds.pauses == [5, 10, 20, 40, 80, 160, 320, 600, 600]
        assert (guilds.acts, guilds.errors) == (["register 4", "delete 5"], ["delete 5"] * 9)

    asyncio.run(trying())


@pytest.mark.parametrize("status", [400, 401, 403])
def test_an_event_that_is_refused_for_good_is_given_up_and_reported_once(status: int) -> None:
    async def refused() -> None:
        guilds = Guilds()
        guilds.refusal = LetheError("refused", code="forbidden", status=status)
        guilds.watch.left("5")
        await guilds.ended()
        assert (guilds.errors, guilds.pauses, guilds.watch._wishes) == (["refused"], [], {})

    asyncio.run(refused())


def test_nothing_is_done_for_an_event_where_the_key_of_lethe_is_that_of_another_bot() -> None:
    async def refused() -> None:
        guilds = Guilds()
        guilds.registered = "3"
        guilds.watch.left("5")
        guilds.watch.joined("6")
        await guilds.ended()
        other = "The key of Lethe and the token of Discord are of different bots."
        assert (guilds.acts, guilds.errors, guilds.pauses, guilds.watch._wishes) == ([], [other] * 2, [], {})
        guilds.registered = "1"
        guilds.watch.left("5")
        await guilds.ended()
        # What was learned is remembered.
        guilds.registered = "3"
        guilds.watch.joined("5")
        await guilds.ended()
        assert guilds.acts == ["delete 5", "register 5"]

    asyncio.run(refused())


def test_a_leave_is_done_where_the_service_knows_neither_the_guild_nor_users_of_it() -> None:
    async def unknown() -> None:
        guilds = Guilds()
        guilds.refusal = NotFoundError("none", code="not_found", status=404)
        guilds.watch.left("5")
        await guilds.ended()
        assert (guilds.errors, guilds.pauses, guilds.watch._wishes) == ([], [], {})

    asyncio.run(unknown())


def test_a_newer_event_of_a_guild_replaces_the_one_that_waits() -> None:
    async def replacing() -> None:
        guilds = Guilds()
        guilds.is_away = True

        def joined() -> None:
            guilds.back()
            guilds.watch.joined("5")

        guilds.after[1] = joined
        guilds.watch.left("5")
        await guilds.ended()
        assert (guilds.acts, guilds.errors) == (["register 5"], ["me"])

    asyncio.run(replacing())


def test_the_events_that_wait_are_bounded_and_end_with_the_cog() -> None:
    async def bounded() -> None:
        guilds = Guilds(pauses=WAITING_GUILDS_MAX + 1)
        guilds.is_away = True
        for at in range(WAITING_GUILDS_MAX + 1):
            guilds.watch.joined(str(at))
        assert (len(guilds.watch._wishes), "0" in guilds.watch._wishes) == (WAITING_GUILDS_MAX, False)
        guilds.watch.stop()
        await guilds.ended()
        assert guilds.acts == []

    asyncio.run(bounded())


def test_guilds_are_compared_each_day_and_again_after_a_failure() -> None:
    async def comparing() -> None:
        guilds = Guilds("5", pauses=4)
        guilds.is_away, guilds.after[2] = True, guilds.back
        guilds.watch.start(guilds.watch.reconcile)
        await guilds.ended()
        assert guilds.pauses == [5, 10, 86_400, 86_400]
        assert (guilds.acts, guilds.errors) == (["register 5"], ["me", "me"])

    asyncio.run(comparing())


def test_guilds_are_compared_when_the_cog_is_loaded_into_a_bot_that_is_ready() -> None:
    async def loading(is_ready: bool) -> List[str]:
        guilds = Guilds("5", pauses=1)
        guilds.client.tree = SimpleNamespace(add_command=lambda _: None)
        guilds.client.is_ready = lambda: is_ready
        lethe: Any = guilds
        cog = PrivacyCog(guilds.client, lethe)
        cog._guilds = guilds.watch
        await cog.cog_load()
        await guilds.ended()
        return guilds.acts

    assert asyncio.run(loading(True)) == ["register 5"]
    assert asyncio.run(loading(False)) == []


def test_a_comparison_takes_less_than_half_of_a_minute_and_leaves_a_guild_to_its_event() -> None:
    async def comparing() -> None:
        of_discord = [str(at) for at in range(10, 40)]
        guilds = Guilds(*of_discord)
        guilds.known["5"] = False
        guilds.is_away, guilds.after[1] = True, guilds.back

        def leave_all() -> None:
            for guild in of_discord:
                guilds.watch.left(guild)

        guilds.after[2] = leave_all
        guilds.watch.joined("5")
        while not guilds.pauses:
            await asyncio.sleep(0)
        found = await guilds.watch.reconcile()
        await guilds.ended()
        assert guilds.pauses == [5, 60, 60]
        assert (found.left, len(found.joined)) == ([], 11)
        assert guilds.known == {"5": False, **{guild: True for guild in of_discord}}
        assert "delete 5" not in guilds.acts

    asyncio.run(comparing())


def test_a_comparison_is_made_for_a_bot_that_is_registered_by_the_id_of_its_user_or_application() -> None:
    async def comparing() -> None:
        guilds = Guilds("5")
        guilds.registered = "2"
        assert (await guilds.watch.reconcile()).joined == ["5"]
        guilds.registered = "3"
        with pytest.raises(ValueError, match="are of different bots"):
            await guilds.watch.reconcile()

    asyncio.run(comparing())


def test_a_comparison_asks_discord_again_before_each_act_since_other_processes_have_its_events_too() -> None:
    async def comparing() -> None:
        guilds = Guilds(*(str(at) for at in range(10, 23)))
        guilds.known.update({str(at): False for at in range(30, 43)})

        def meanwhile() -> None:
            guilds.of_discord.remove("22")
            guilds.of_discord.append("42")

        guilds.after[1] = meanwhile
        found = await guilds.watch.reconcile()
        assert (len(found.left), len(found.joined), len(guilds.acts)) == (12, 12, 24)
        assert not {"delete 42", "register 22"} & set(guilds.acts)

    asyncio.run(comparing())


def test_a_command_begins_at_once_where_nothing_is_asked_for() -> None:
    async def beginning() -> None:
        place, who, errors = Place(FakeLethe()), subject(), []  # type: ignore[var-annotated]
        async with place.async_client(place.registered()["api_key"]) as lethe:
            await lethe.categories.register(**BANS)
            privacy = Privacy(lethe, None, None, None, 300, None, errors.append)

            async def then() -> str:
                return "Saved."

            async def failing() -> None:
                raise RuntimeError("x")

            asked = Asked(id=snowflake(), **who, locale="en-US")
            said = await privacy.ask(asked, then)
            assert "asks for no consent" in said.content and said.following is not None
            following = await said.following()
            assert following is not None and following.content == "Saved."
            failed = await privacy.ask(asked, failing)
            following = await failed.following() if failed.following else None
            assert following is not None and following.content.startswith("Something failed")
            assert [str(error) for error in errors] == ["x"]
            # The user is asked for it again where the command does not begin.
            lost = await privacy.ask(asked, None)
            assert lost.content.endswith("\nNow please give your command again.") and lost.following is None

    asyncio.run(beginning())


def test_a_bot_that_asks_only_for_what_needs_no_consent_does_not_say_that_it_asks_for_none() -> None:
    async def asking() -> None:
        place, who = Place(FakeLethe()), subject()
        async with place.async_client(place.registered()["api_key"]) as lethe:
            for category in (BANS, PROFILE):
                await lethe.categories.register(**category)
            privacy = Privacy(lethe, None, ["bans"], None, 300, None, None)
            said = await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", subcommand="consent"))
            assert said.content == "Nothing below needs your consent. Each part has its reason."
            assert said.embeds[0]["description"].endswith(": Abuse has to be prevented.")

    asyncio.run(asking())


def test_a_category_that_is_not_declared_is_reported_once_and_nothing_is_said_of_what_is_below() -> None:
    async def asking() -> None:
        place, who, errors = Place(FakeLethe()), subject(), []  # type: ignore[var-annotated]
        async with place.async_client(place.registered()["api_key"]) as lethe:
            await lethe.categories.register(**PROFILE)
            privacy = Privacy(lethe, None, ["porfile"], None, 300, None, errors.append)
            asked = Asked(id=snowflake(), **who, locale="en-US", subcommand="consent")
            needs = ConsentRequiredError("It needs a consent.", code="consent_required", status=403)

            async def then() -> None:
                raise needs

            said = await privacy.ask(asked, then)
            assert (said.content, said.embeds) == ("This bot asks for no consent here at the moment.", [])
            following = await said.following() if said.following else None
            # No consent of the user mends it.
            assert following is not None and following.content.startswith("Something failed")
            assert ": porfile. " in str(errors[0]) and str(errors[0]).endswith(" Declared: profile.") and errors[1:] == [needs]

    asyncio.run(asking())


def interaction(guild_id: Optional[int], **known: Any) -> Any:
    return SimpleNamespace(user=SimpleNamespace(id=1), guild_id=guild_id, **known)


def since_2_4(guild_id: Optional[int], owners: Dict[int, int], place: Optional[str]) -> Any:
    """As discord.py has it since 2.4: without `context` in the payload none of its flags is set."""
    flags = {name: name == place for name in ("guild", "dm_channel", "private_channel")}
    known = {"_integration_owners": owners, "is_guild_integration": lambda: owners.get(0) == guild_id is not None}
    return interaction(guild_id, context=SimpleNamespace(**flags), **known)


def before_2_4(guild_id: Optional[int], is_known: bool, guilds: bool = True) -> Any:
    client = SimpleNamespace(intents=SimpleNamespace(guilds=guilds))
    return interaction(guild_id, guild=SimpleNamespace(id=guild_id) if is_known else None, client=client)


@pytest.mark.parametrize(
    "given, filed",
    [
        (since_2_4(5, {0: 5}, "guild"), "5"),
        (since_2_4(5, {0: 5, 1: 1}, "guild"), "5"),
        (since_2_4(5, {1: 1}, "guild"), "0" * 17),
        (since_2_4(5, {}, "guild"), "0" * 17),
        (since_2_4(None, {1: 1}, "private_channel"), "0" * 17),
        (since_2_4(None, {0: 0}, "dm_channel"), "0" * 17),
        (since_2_4(None, {}, None), "0" * 17),
        # Discord says of installations alone, or of neither: the table of scope.spec.ts.
        (since_2_4(5, {1: 2}, None), "0" * 17),
        (since_2_4(5, {0: 6}, None), "0" * 17),
        (since_2_4(5, {}, None), "5"),
        (before_2_4(5, True), "5"),
        (before_2_4(5, False), "0" * 17),
        (before_2_4(None, False), "0" * 17),
        # Without the intent a bot does not know the servers that it joins.
        (before_2_4(5, False, guilds=False), "5"),
    ],
)
def test_a_person_is_filed_under_a_server_only_if_the_bot_is_installed_in_it(given: Any, filed: str) -> None:
    assert scope_of(given) == filed
    given.id, given.locale = 7, "en-US"
    asked = _asked_of(given, subcommand="status")
    assert asked.guild_id == (None if filed == "0" * 17 else filed)


def test_a_file_that_has_salts_alone_is_not_said_to_be_the_certificate() -> None:
    async def forgotten(**given: Any) -> Any:
        return {"request_id": "1", "status": "completed", "certificate_salt": "s"}

    async def missing(*given: Any, **more: Any) -> Any:
        raise LetheError("It is not there.", code="not_found")

    for stores in ([], [{"key": "database"}]):
        privacy = SimpleNamespace(forget=forgotten, certificate=missing)
        lethe: Any = SimpleNamespace(privacy=privacy, holders=_listing(stores))
        press = Asked(id="1", **subject(), locale="en-US", custom_id=custom_id(FORGET, "here", base36(2**40)))
        content = asyncio.run(Privacy(lethe, None, None, None, 300, None, None).reply(press)).content
        assert "The attached file has the salt of each certificate" in content
        assert "is the certificate" not in content
        assert ("The bot has also been asked to erase what it keeps about you from this server in" in content) == bool(stores)
        assert ("what the bot keeps elsewhere" in content) == (not stores)


@pytest.mark.parametrize("failure", [RateLimitedError("x", code="rate_limit_exceeded"), NetworkError("x", code="network_error"), TypeError("x")])
def test_no_more_is_said_of_own_stores_than_is_known_where_they_cannot_be_listed(failure: Exception) -> None:
    errors: List[BaseException] = []
    order: List[str] = []
    answers: List[Any] = [failure]

    async def status(**_: Any) -> Any:
        return {"status": "none"}

    async def refusals(**_: Any) -> Any:
        return {"objections": [], "restrictions": []}

    async def me(**_: Any) -> Any:
        return {"name": "Greeter", "privacy_contact": None}

    async def categories() -> Any:
        return []

    async def stream(**_: Any) -> AsyncIterator[bytes]:
        raise NotFoundError("It is not there.", code="not_found")
        yield b""

    async def forgotten(**_: Any) -> Any:
        return {"request_id": "1", "status": "completed", "certificate_salt": "s"}

    async def certificate(*_: Any, **__: Any) -> Any:
        for _turn in range(100):
            await asyncio.sleep(0)
        order.append("certificate")
        return {"certificate": "c"}

    async def holders() -> Any:
        order.append("holders")
        if isinstance(answers[0], Exception):
            raise answers[0]
        return answers[0]

    lethe: Any = SimpleNamespace(
        bots=SimpleNamespace(me=me),
        consents=SimpleNamespace(status=status),
        data=SimpleNamespace(refusals=refusals, export_stream=stream),
        categories=SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=categories)),
        privacy=SimpleNamespace(forget=forgotten, certificate=certificate),
        holders=SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=holders)),
    )

    async def telling() -> None:
        privacy = Privacy(lethe, None, None, None, 300, None, errors.append)

        async def said(**given: str) -> str:
            reply = await privacy.reply(Asked(id="1", **subject(), locale="en-US", **given))
            return "\n".join([reply.content, *(embed["description"] for embed in reply.embeds)])

        assert "in stores of its own is not shown here" in await said(subcommand="status")
        assert (await said(subcommand="export")).startswith("Nothing is recorded about you here. What")
        order.clear()
        erased = await said(custom_id=custom_id(FORGET, "here", base36(2**40)))
        assert erased.endswith("\nMessages on Discord are not affected.") and "is the certificate" in erased
        # It is asked at the side of the certificate: the user does not wait for both in turn.
        assert order == ["holders", "certificate"]
        assert {type(error) for error in errors} == ({TypeError} if isinstance(failure, TypeError) else set())
        answers[0] = NotFoundError("An older service.", code="not_found")
        assert (await said(subcommand="status")).endswith("Nothing is stored about you here.")
        answers[0] = [{"key": "database"}]
        assert await said(subcommand="export") == "Nothing is stored about you."

    asyncio.run(telling())


def test_of_a_store_that_is_long_silent_the_user_reads_whom_to_ask_and_of_one_that_was_not_asked_where() -> None:
    async def me(**_: Any) -> Any:
        return {"name": "Greeter", "privacy_contact": "privacy@bot.example"}

    cases = ["overdue"], ["asked", "overdue"], ["asked"], ["stated", "nothing"], ["stated", "not_asked"]
    for states in cases:

        async def stream(**_: Any) -> AsyncIterator[bytes]:
            yield json.dumps({"guilds": [{"holders": [{"state": state}]} for state in states]}).encode()

        async def no_page(**_: Any) -> Any:
            raise LetheError("Set PUBLIC_URL.", code="conflict")

        lethe: Any = SimpleNamespace(
            bots=SimpleNamespace(me=me),
            data=SimpleNamespace(export_stream=stream),
            privacy=SimpleNamespace(link=no_page),
            holders=_listing([]),
        )
        asked = Asked(id="1", **subject(), locale="en-US", subcommand="export")
        content = asyncio.run(Privacy(lethe, None, None, None, 300, None, lambda error: None).reply(asked)).content
        assert content.startswith("Your data is in the attached file.")
        silent = "\nSome of the bot's own stores have not given their part in time. Please ask privacy@bot.example."
        elsewhere = "\nFor some servers the bot's own stores were not asked: give `/privacy export` there."
        said = (silent in content, "again in some minutes" in content, elsewhere in content)
        assert said == ("overdue" in states, "asked" in states, "not_asked" in states)


def test_what_is_known_of_the_bot_waits_for_nothing_and_each_fact_is_read_once_at_a_time() -> None:
    calls: List[str] = []

    async def reading() -> None:
        goes_on = asyncio.Event()

        async def waits() -> Any:
            calls.append("holders")
            await goes_on.wait()
            return []

        async def me(**_: Any) -> Any:
            calls.append("me")
            return {"name": "Greeter"}

        lethe: Any = SimpleNamespace(
            bots=SimpleNamespace(me=me), holders=SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=waits))
        )
        facts = Facts(lethe, None, lambda error: None)
        first, ended = asyncio.ensure_future(facts.has_own_stores()), asyncio.ensure_future(facts.has_own_stores())
        while "holders" not in calls:
            await asyncio.sleep(0)
        other = asyncio.ensure_future(facts.bot())
        for _ in range(100):
            await asyncio.sleep(0)
        assert other.done() and await facts.bot() == {"name": "Greeter"}
        # An act that ends early takes no answer from the others.
        ended.cancel()
        goes_on.set()
        assert await first is False and calls == ["holders", "me"]

    asyncio.run(reading())


@pytest.mark.parametrize("clock, seconds", [("time.time", 61.0), ("time.time", -61.0), ("time.monotonic", 61.0)])
def test_what_a_bot_has_declared_is_read_again_once_a_clock_says_so(
    clock: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: List[str] = []

    async def me(**_: Any) -> Any:
        calls.append("me")
        return {"name": "Greeter"}

    async def reading() -> None:
        lethe: Any = SimpleNamespace(bots=SimpleNamespace(me=me))
        facts = Facts(lethe, None, lambda error: None)
        await facts.bot()
        await facts.bot()
        assert calls == ["me"]
        # One of them does not count while a machine is suspended, and the other one is set.
        now = {"time.time": time.time, "time.monotonic": time.monotonic}[clock]
        with monkeypatch.context() as patched:
            patched.setattr(clock, lambda: now() + seconds)
            await facts.bot()
        assert calls == ["me", "me"]

    asyncio.run(reading())


def _listing(found: List[Any]) -> Any:
    async def to_list() -> Any:
        return found

    return SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=to_list))


def test_an_erasure_that_fails_partway_keeps_the_salts_and_the_button() -> None:
    salt = {"guild_id": "2", "request_id": "1", "certificate_salt": "s"}
    errors: List[BaseException] = []
    keys: List[Optional[str]] = []

    async def fails(*, options: CallOptions, **given: Any) -> Any:
        keys.append(options.idempotency_key)
        details = {"requests": [{**salt, "status": "completed"}]} if len(given) == 1 else {}
        raise UnavailableError("Some guilds are done.", code="service_unavailable", status=503, details=details)

    lethe: Any = SimpleNamespace(privacy=SimpleNamespace(forget_everywhere=fails, forget=fails))
    privacy = Privacy(lethe, None, None, None, 300, None, errors.append)
    for where in ("everywhere", "here"):
        given = {"locale": "en-US", "custom_id": custom_id(FORGET, where, base36(2**40), "7")}
        who = subject()
        first, second = (asyncio.run(privacy.reply(Asked(id=id, **who, **given))) for id in ("1", "2"))
        assert first == second and keys[-1] == keys[-2]
        assert first.content.startswith("This is not possible at the moment.")
        buttons = [part for row in first.components for part in row["components"]]
        assert [(one["custom_id"], one["style"]) for one in buttons] == [(given["custom_id"], 4)]
        assert ("The attached file has the salt" in first.content) == bool(first.files) == (where == "everywhere")
        # The salts of an earlier press stay in their message, unless others replace them.
        assert first.keeps_files == (where == "here")
        for name, data in first.files:
            kept = {"user_id": who["user_id"], "certificates": [{**salt, "certificate": None}]}
            assert (name, json.loads(data)) == ("erasure-certificate.json", kept)
    assert len(errors) == 4 and all(isinstance(error, UnavailableError) for error in errors)


def test_what_the_bot_says_about_itself_is_left_out_without_notice_settings_and_editable_values_are_named() -> None:
    field = {"key": "value", "label_de": "Wert", "label_en": "Value", "editable": True}
    other = {**field, "label_de": "Anderes", "editable": False}
    category = {**PROFILE, "description": None, "legal_basis": "consent", "retention_days": 1, "fields": [field, field, other]}
    errors: List[BaseException] = []

    async def me(**_: Any) -> Any:
        return {"name": "Greeter", "privacy_contact": None}

    async def categories() -> Any:
        return [category]

    def told(failure: LetheError) -> Reply:
        async def notice_settings(**_: Any) -> Any:
            raise failure

        lethe: Any = SimpleNamespace(
            bots=SimpleNamespace(me=me, notice_settings=notice_settings),
            categories=SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=categories)),
            holders=_listing([]),
        )
        asked = Asked(id="1", **subject(), locale="de", subcommand="about")
        return asyncio.run(Privacy(lethe, None, None, None, 300, None, errors.append).reply(asked))

    about = told(NotFoundError("It is not there.", code="not_found")).embeds[0]["description"]
    assert "\nSpeicherdauer: 1 Tag ab der letzten Änderung\n" in about
    assert about.endswith(" beschweren. Auf deiner Datenschutzseite (`/privacy page`) kannst du selbst berichtigen: Wert.")
    assert errors == []
    failed = UnavailableError("It is not available.", code="unavailable")
    assert told(failed).content.startswith("Das geht im Moment nicht.")
    assert errors == [failed]


def refused(reason: str) -> ProcessingRefusedError:
    return ProcessingRefusedError("It is refused.", code="processing_refused", status=403, details={"reason": reason})


def test_a_command_that_the_user_has_refused_the_data_for_is_answered_with_their_decision_and_is_no_failure() -> None:
    errors: List[BaseException] = []
    privacy = Privacy(None, None, None, None, 300, None, errors.append)  # type: ignore[arg-type]
    asked = {locale: Asked(id="1", **subject(), locale=locale) for locale in ("en-GB", "de")}
    assert "you have objected" in privacy.failed(asked["en-GB"], refused("objection")).content
    assert "du eingeschränkt hast" in privacy.failed(asked["de"], refused("restriction")).content
    assert errors == []
    lost = KeyError("birthday")
    assert privacy.failed(asked["en-GB"], lost).content.startswith("Something failed")
    assert errors == [lost]

    async def fails() -> None:
        raise refused("restriction")

    turn: Any = SimpleNamespace(words=Words("en", {}), report=errors.append)
    reply = asyncio.run(_following(turn, fails))
    assert reply is not None and "you have restricted" in reply.content
    assert errors == [lost]

    async def blank() -> str:
        return " \n"

    # Discord takes no message without a visible character.
    assert asyncio.run(_following(turn, blank)) is None


def test_the_status_says_what_is_refused_and_a_service_of_an_older_version_knows_of_nothing() -> None:
    since = "2026-01-01T00:00:00.000Z"
    view = {"objections": [{"category": "profile", "since": since}], "restrictions": [{"category": None, "since": since}]}

    async def consent(**_: Any) -> Any:
        return {"status": "none"}

    async def categories() -> Any:
        return [PROFILE]

    def told(found: Any, stores: Optional[List[Any]] = None) -> str:
        async def refusals(**_: Any) -> Any:
            if isinstance(found, Exception):
                raise found
            return found

        lethe: Any = SimpleNamespace(
            consents=SimpleNamespace(status=consent),
            data=SimpleNamespace(refusals=refusals),
            categories=SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=categories)),
            holders=_listing(stores or []),
        )
        asked = Asked(id="1", **subject(), locale="de", subcommand="status")
        return str(asyncio.run(Privacy(lethe, None, None, None, 300, None, None).reply(asked)).embeds[0]["description"])

    older = told(NotFoundError("There is no such route.", code="not_found", status=404))
    assert told(view) == f"{older}\n\n• Eingeschränkt seit <t:1767225600:f>: alles\n• Widersprochen am <t:1767225600:f>: Profil"
    assert told({"objections": [], "restrictions": []}) == older
    own = told({"objections": [], "restrictions": []}, [{"key": "database"}])
    assert "was der Bot in eigenen Speichern über dich hat" in own.replace("Was", "was") and "nichts" not in own


def test_a_user_restricts_and_objects_and_nothing_is_erased_without_the_confirmation(place: Place, key: str) -> None:
    async def life() -> None:
        who, errors = subject(), []  # type: ignore[var-annotated]
        now = [time.time()]
        async with place.async_client(key) as lethe:
            for name, basis in (("profile", "consent"), ("statistics", "legitimate_interests")):
                await lethe.categories.register(**{**PROFILE, "key": name, "label_en": name.title(), "legal_basis": basis})
            privacy = Privacy(lethe, None, None, None, 300, None, errors.append, lambda: now[0])

            async def act(custom_id: str = "", *values: str) -> Reply:
                subcommand = None if custom_id else "object"
                given = {"subcommand": subcommand, "custom_id": custom_id, "values": values}
                return await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", **given))

            async def in_force() -> Any:
                found = await lethe.data.refusals(**who)
                return [[one["category"] for one in found[of]] for of in ("objections", "restrictions")]  # type: ignore[literal-required]

            first = await act()
            assert labels_of(first) == ["Restrict …", "Object …"]
            which = await act(id_of(first, "Restrict …"))
            # One category at a time: the answer is about one.
            assert [part["max_values"] for part in which.components[0]["components"]] == [1]
            done = await act(id_of(which, "Restrict one"), "profile")
            assert done.content.startswith("Your restriction is recorded.")
            assert re.match(r"• Restricted since <t:\d+:f>: Profile\n", done.embeds[0]["description"])
            assert labels_of(done) == ["Restrict …", "End a restriction …", "Object …"]
            menu = id_of(await act(id_of(done, "Object …")), "Object to one")
            sure = await act(menu, "statistics")
            assert "Object to the processing: Statistics?" in sure.content
            assert await in_force() == [[], ["profile"]]
            now[0] += 301
            assert (await act(id_of(sure, "Object and erase"))).content.startswith("The button has expired and erases nothing any more.")
            assert await in_force() == [[], ["profile"]]
            for unknown in ("nothing", "profile"):
                press = await act(menu, unknown)
                answer = press if unknown == "nothing" else await act(id_of(press, "Object and erase"))
                assert answer.content.startswith("Nothing was recorded")
            objected = await act(id_of(await act(menu, "statistics"), "Object and erase"))
            assert objected.content.startswith("Your objection is recorded.")
            assert await in_force() == [["statistics"], ["profile"]]
            ended = await act(id_of(await act(id_of(objected, "End a restriction …")), "End every restriction"))
            assert ended.content == "The restriction has ended."
            assert await in_force() == [["statistics"], []] and errors == []
            assert labels_of(ended) == ["Restrict …"]
            assert "You can object to nothing more here" in ended.embeds[0]["description"]

    asyncio.run(life())


def test_the_commands_that_wait_are_bounded_and_each_is_taken_once_by_its_user() -> None:
    now = [0.0]
    waiting = Waiting(lambda: now[0])

    async def then() -> None:
        pass

    ids = [waiting.add("1", then) for _ in range(1_001)]
    assert waiting.take(ids[0], "1") == (None, True)
    assert waiting.take(ids[1], "2") == (None, True)
    assert [waiting.take(ids[1], "1"), waiting.take(ids[1], "1")] == [(then, False), (None, False)]
    assert waiting.take(waiting.add("1", None), "1") == (None, True)
    now[0] = 15 * 60.0
    assert waiting.take(ids[-1], "1") == (None, True)
    late = waiting.add("1", then)
    assert waiting.take(late, "1") == (then, False) and len(waiting._kept) == 1


def test_a_withdrawal_is_said_to_have_failed_only_if_it_has() -> None:
    acts: List[str] = []

    async def revoke(**_: Any) -> Any:
        acts.append("revoked")
        return {"status": "revoked"}

    async def unavailable() -> Any:
        raise UnavailableError("It is not available.", code="unavailable")

    lethe: Any = SimpleNamespace(
        consents=SimpleNamespace(revoke=revoke),
        categories=SimpleNamespace(list=lambda **_: SimpleNamespace(to_list=unavailable)),
    )
    press = Asked(id="1", **subject(), locale="en-US", custom_id=custom_id(WITHDRAW_ALL))
    said = asyncio.run(Privacy(lethe, None, None, None, 300, None, None).reply(press)).content
    assert said.startswith("This is not possible at the moment.") and acts == []


def test_the_button_that_keeps_the_data_denies_no_act_of_the_one_beside_it() -> None:
    keeping_words = "This button erases nothing. If you have pressed the other one too, that one counts."

    async def keeping(subcommand: str, act: str, yes: str, done: str) -> None:
        place, who = Place(FakeLethe()), subject()
        async with place.async_client(place.registered()["api_key"]) as lethe:
            await lethe.categories.register(**BANS)
            await lethe.data.submit(**who, category="bans", data={"nickname": "x"})
            privacy = Privacy(lethe, None, None, None, 300, None, None)

            async def press(custom_id: str) -> Reply:
                return await privacy.reply(Asked(id=snowflake(), **who, custom_id=custom_id, locale="en-US"))

            async def sure() -> Reply:
                asked = await privacy.reply(Asked(id=snowflake(), **who, locale="en-US", subcommand=subcommand))
                if subcommand == "forget":
                    return asked
                which = await press(id_of(asked, "Object …"))
                return await press(id_of(which, "Object to everything"))

            of = lethe.privacy if subcommand == "forget" else lethe.data
            real, begun, opened = getattr(of, act), asyncio.Event(), asyncio.Event()

            async def held(**given: Any) -> Any:
                begun.set()
                await opened.wait()
                return await real(**given)

            setattr(of, act, held)
            message = await sure()
            erasing = asyncio.ensure_future(press(id_of(message, yes)))
            await begun.wait()
            kept = await press(id_of(message, "Keep my data"))
            opened.set()
            assert (kept.content, kept.keeps_files) == (keeping_words, True)
            assert (await erasing).content.startswith(done)

    asyncio.run(keeping("forget", "forget", "Erase my data", "Your data has been erased."))
    asyncio.run(keeping("object", "object", "Object and erase", "Your objection is recorded."))


def test_a_note_leaves_the_text_and_the_buttons_of_its_message() -> None:
    sent: List[Dict[str, Any]] = []

    async def edited(**given: Any) -> None:
        sent.append(given)

    interaction: Any = SimpleNamespace(edit_original_response=edited)

    async def editing() -> None:
        await edit(interaction, Reply("Something failed.", is_note=True), lambda _: Reply(""))
        await edit(interaction, Reply("Thank you."), lambda _: Reply(""))

    asyncio.run(editing())
    assert [(one["content"], one["embeds"] is MISSING, one["view"] is MISSING) for one in sent] == [
        ("Something failed.", True, True),
        ("Thank you.", False, False),
    ]


def labels_of(reply: Reply) -> List[str]:
    return [part["label"] for row in reply.components for part in row["components"] if "label" in part]


def id_of(reply: Reply, label: str) -> str:
    """The id of the button or menu with these words."""
    parts = [part for row in reply.components for part in row["components"]]
    return str(next(part["custom_id"] for part in parts if label in part.get("label", part.get("placeholder", ""))))
