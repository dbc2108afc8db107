import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BotSeat } from './discord-seats';
import type { FakeDiscord } from './fake-discord';
import { FakeGateway } from './fake-gateway';
import { canRun } from './programs';

const ROOT = join(__dirname, '../..');
/** Debian's, for which its packages are. */
export const PYTHON = '/usr/bin/python3';
export const HAS_DISCORD_PY = canRun(PYTHON, ['-c', 'import discord, httpx']);

export interface Reported {
  readonly message: string;
  readonly status: number | null;
}

export interface PythonSeat extends BotSeat {
  /** What the bot has reported. */
  readonly errors: Reported[];
  readonly gateway: FakeGateway;
}

/** A Python program with discord.py, at a Discord and a gateway of the test. */
export function discordPy(discord: FakeDiscord, program: string, environment: Record<string, string> = {}) {
  const source = join(ROOT, 'clients/python/src');
  return spawn(PYTHON, [join(__dirname, 'discord_local.py'), program], {
    env: {
      ...{ PATH: process.env['PATH'], PYTHONPATH: source, PYTHONDONTWRITEBYTECODE: '1' },
      // Each client reads the authorities of the machine, and no call has TLS.
      SSL_CERT_FILE: join(__dirname, 'certificates/authority.pem'),
      ...{ PYTHONUNBUFFERED: '1', DISCORD_API: discord.url, DISCORD_GATEWAY: discord.gatewayUrl },
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'close');
  child.kill('SIGKILL');
  await over;
}

/** A bot with discord.py in a process of its own, once it has compared its guilds. `options` are those of `PrivacyCog`. */
export async function discordPySeat(
  discord: FakeDiscord,
  service: { url: string; key: string },
  options: object = {},
): Promise<PythonSeat> {
  const gateway = await new FakeGateway(discord).start();
  const child = discordPy(discord, join(__dirname, 'discord_bot.py'), {
    ...{ LETHE_URL: service.url, LETHE_KEY: service.key, OPTIONS: JSON.stringify(options) },
  });
  const errors: Reported[] = [];
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const stop = async (): Promise<void> => {
    await ended(child);
    await gateway.stop();
  };
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const given = JSON.parse(line) as Reported | { ready: true };
      if ('ready' in given) resolve();
      else errors.push(given);
    });
    child.once('close', () => reject(new Error(`The bot has ended: ${said}`)));
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const deliver: BotSeat['deliver'] = (payload) => gateway.interact(payload);
  return { deliver, stop, errors, gateway };
}
