"""Runs a program with discord.py as it is, whose calls reach a Discord of the tests: discord_local.py program.py"""

import os
import runpy
import sys

# httpx loads it for its own command line alone.
sys.modules["rich"] = None  # type: ignore[assignment]

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route


def run(program: str) -> None:
    Route.BASE = os.environ["DISCORD_API"] + "/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(os.environ.get("DISCORD_GATEWAY", "ws://127.0.0.1:1"))
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    run(sys.argv[1])
