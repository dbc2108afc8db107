"""LETHE_URL names a running service. Each test registers a bot of its own."""

import os
import random
from typing import Dict, Iterator

import pytest

from lethe import Lethe

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


def snowflake() -> str:
    return str(random.randrange(10**17, 10**18))


def subject() -> Dict[str, str]:
    return {"user_id": snowflake(), "guild_id": snowflake()}


@pytest.fixture
def key() -> str:
    assert URL, "LETHE_URL is missing"
    with Lethe(URL) as lethe:
        return str(lethe.bots.register(platform_bot_id=snowflake(), name="Greeter")["api_key"])


@pytest.fixture
def lethe(key: str) -> Iterator[Lethe]:
    with Lethe(URL, key) as client:
        client.categories.register(**PROFILE)
        yield client
