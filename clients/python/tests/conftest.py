"""LETHE_URL names a running service. Each test registers a bot of its own, there and with the fake: both answer the same."""

import importlib.util
import os
import random
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

import httpx
import pytest

from lethe_client import AsyncLethe, Lethe
from lethe_client.testing import FakeLethe

#: lethe_discord needs discord.py.
collect_ignore = [] if importlib.util.find_spec("discord") else ["test_discord.py", "test_discord_events.py"]
URL = os.environ.get("LETHE_URL", "")
PROFILE = {
    "key": "profile",
    "label_de": "Profil",
    "label_en": "Profile",
    "fields": [
        {"key": "nickname", "type": "string", "label_de": "Spitzname", "label_en": "Nickname"},
        {"key": "birthday", "type": "date", "label_de": "Geburtstag", "label_en": "Birthday"},
    ],
}
#: A category that needs no consent.
BANS: Dict[str, Any] = {
    **PROFILE,
    "key": "bans",
    "legal_basis": "legitimate_interests",
    "requires_consent": False,
    "reason_de": "Missbrauch muss abgewehrt werden.",
    "reason_en": "Abuse has to be prevented.",
}


def snowflake() -> str:
    return str(random.randrange(10**17, 10**18))


def subject() -> Dict[str, str]:
    return {"user_id": snowflake(), "guild_id": snowflake()}


class Place:
    """Where a bot is tested: the service, or the fake."""

    def __init__(self, fake: Optional[FakeLethe]) -> None:
        self.fake = fake
        self.url = URL if fake is None else fake.url
        assert self.url, "LETHE_URL is missing"

    def client(self, key: Optional[str]) -> Lethe:
        return Lethe(self.url, key, client=None if self.fake is None else self.fake.client())

    def async_client(self, key: str) -> AsyncLethe:
        return AsyncLethe(self.url, key, client=None if self.fake is None else self.fake.async_client())

    def called(self, key: str, route: str, given: Mapping[str, Any], once: Optional[str] = None) -> Tuple[int, Any]:
        """The status of a call and its data, or what says why it is refused."""
        method, path = route.split(" ")
        sent: Dict[str, Any] = {"params": given} if method == "GET" else {"json": given}
        headers = {"authorization": f"Bearer {key}", **({"idempotency-key": once} if once else {})}
        with httpx.Client() if self.fake is None else self.fake.client() as client:
            response = client.request(method, f"{self.url}/api/v1{path}", headers=headers, **sent)
        answer = response.json()
        if "data" in answer:
            return response.status_code, answer["data"]
        details = dict(answer["error"].get("details", {}))
        if "fields" in details:
            details["fields"] = [fault["field"] for fault in details["fields"]]
        return response.status_code, {"code": answer["error"]["code"], **details}

    def registered(self, **given: Any) -> Dict[str, Any]:
        client = None if self.fake is None else self.fake.client()
        return Lethe.register(url=self.url, platform_bot_id=snowflake(), name="Greeter", client=client, **given)


@pytest.fixture(params=["service", "fake"])
def place(request: pytest.FixtureRequest) -> Place:
    return Place(FakeLethe() if request.param == "fake" else None)


@pytest.fixture
def service() -> Iterator[Lethe]:
    """For what the fake has not."""
    own = Place(None)
    with own.client(own.registered()["api_key"]) as client:
        client.categories.register(**PROFILE)
        yield client


@pytest.fixture
def key(place: Place) -> str:
    return str(place.registered()["api_key"])


@pytest.fixture
def lethe(place: Place, key: str) -> Iterator[Lethe]:
    with place.client(key) as client:
        client.categories.register(**PROFILE)
        yield client
