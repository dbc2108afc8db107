"""Runs discord_bot.py in a fork for each line with a port and an environment: discord.py is imported once for all bots."""

import json
import os
import signal
import socket
import sys

import discord_local
import discord.ext.commands
import lethe_client
import lethe_discord


def become_bot(port: int, environment: dict[str, str]) -> None:
    """The process writes all its output to the port, its id first. The connection closes when the process ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output = socket.create_connection(("127.0.0.1", port))
    for descriptor in (1, 2):
        os.dup2(output.fileno(), descriptor)
    output.close()
    print(json.dumps({"pid": os.getpid()}), flush=True)
    os.environ.update(environment)
    discord_local.run(os.path.join(os.path.dirname(__file__), "discord_bot.py"))


# No ended child stays as a zombie.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    if os.fork() == 0:
        become_bot(**json.loads(line))
        break
