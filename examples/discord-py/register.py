"""Registers the bot with Lethe once, and declares what it stores."""

import os

import httpx
from lethe_client import ConflictError, Lethe

DISCORD_API = os.environ.get("DISCORD_API", "https://discord.com/api")
LETHE_URL, key = os.environ["LETHE_URL"], os.environ.get("LETHE_KEY")
WEBHOOK_URL = os.environ.get("WEBHOOK_URL", "http://127.0.0.1:8080/gdpr")

token = {"Authorization": f"Bot {os.environ['DISCORD_TOKEN']}"}
answer = httpx.get(f"{DISCORD_API}/v10/oauth2/applications/@me", headers=token)
answer.raise_for_status()
me = answer.json()
given = {"platform_bot_id": me["id"], "name": me["name"], "privacy_contact": os.environ["PRIVACY_CONTACT"]}
# Key and secret are shown this once: a file that cannot be written is found before.
with open(os.environ.get("ENV_FILE", ".env"), "a", opener=lambda path, flags: os.open(path, flags, 0o600)) as env:
    try:
        bot = Lethe.register(url=LETHE_URL, webhook_url=WEBHOOK_URL, **given)
        key = bot["api_key"]
        env.write(f"\nLETHE_KEY={key}\nLETHE_WEBHOOK_SECRET={bot['webhook_secret']}\n")
    except ConflictError as error:  # an earlier run may have ended before it declared the categories
        if key is None:
            raise SystemExit(f"{error} For a lost key: npx @lethe/server admin bots:new-key --bot {me['id']}")

BIRTHDAY = {
    **{"key": "birthday", "label_de": "Geburtstag", "label_en": "Birthday"},
    "description_de": "Um dir auf diesem Server zum Geburtstag zu gratulieren.",
    "description_en": "To congratulate you on your birthday on this server.",
    "fields": [{"key": "day", "type": "date", "label_de": "Tag", "label_en": "Day"}],
}
WARNINGS = {
    **{"key": "warnings", "label_de": "Verwarnungen", "label_en": "Warnings", "requires_consent": False},
    "legal_basis": "legitimate_interests",
    "reason_de": "Der Betreiber des Servers hat ein berechtigtes Interesse daran, Regelverstöße festzuhalten.",
    "reason_en": "The owner of the server has a legitimate interest in noting who breaks its rules.",
    "fields": [{"key": "reason", "type": "string", "label_de": "Grund", "label_en": "Reason"}],
}
with Lethe(LETHE_URL, key) as lethe:
    declared = [one["key"] for one in lethe.categories.list()]
    for category in [one for one in (BIRTHDAY, WARNINGS) if one["key"] not in declared]:
        lethe.categories.register(**category)
print(f"{me['name']} is registered. Start it: python3 bot.py")
