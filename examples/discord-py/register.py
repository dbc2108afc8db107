"""Registers the bot with Lethe once, and declares what it stores."""

import os

import httpx
from lethe_client import Lethe

DISCORD_API = os.environ.get("DISCORD_API", "https://discord.com/api")
LETHE_URL, PRIVACY_CONTACT = os.environ["LETHE_URL"], os.environ["PRIVACY_CONTACT"]

token = os.environ["DISCORD_TOKEN"]
answer = httpx.get(f"{DISCORD_API}/v10/users/@me", headers={"Authorization": f"Bot {token}"})
answer.raise_for_status()
me = answer.json()
bot = Lethe.register(
    url=LETHE_URL,
    platform_bot_id=me["id"],
    name=me["username"],
    privacy_contact=PRIVACY_CONTACT,
    webhook_url=os.environ.get("WEBHOOK_URL", "http://127.0.0.1:8080/gdpr"),
)
with open(os.environ.get("ENV_FILE", ".env"), "a") as env:  # both are shown this once
    env.write(f"\nLETHE_KEY={bot['api_key']}\nLETHE_WEBHOOK_SECRET={bot['webhook_secret']}\n")

with Lethe(LETHE_URL, bot["api_key"]) as lethe:
    lethe.categories.register(
        key="birthday",
        label_de="Geburtstag",
        label_en="Birthday",
        description_de="Um dir auf diesem Server zum Geburtstag zu gratulieren.",
        description_en="To congratulate you on your birthday on this server.",
        fields=[{"key": "day", "type": "date", "label_de": "Tag", "label_en": "Day"}],
    )
print(f"{me['username']} is registered. Start it: python3 bot.py")
