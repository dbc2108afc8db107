import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { BotSeat } from './discord-seats';
import type { FakeDiscord } from './fake-discord';
import { FakeGateway } from './fake-gateway';
import { canRun } from './programs';

const SOURCE = join(__dirname, '../../clients/python/src');
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
  return python([join(__dirname, 'discord_local.py'), program], {
    ...addressesOf(discord),
    ...environment,
  });
}

const addressesOf = (discord: FakeDiscord) => ({
  ...{ DISCORD_API: discord.url, DISCORD_GATEWAY: discord.gatewayUrl },
});

const python = (args: readonly string[], environment: Record<string, string> = {}, detached = false) =>
  spawn(PYTHON, args, {
    detached,
    env: {
      ...{ PATH: process.env['PATH'], PYTHONPATH: SOURCE, PYTHONDONTWRITEBYTECODE: '1' },
      // Each client reads the authorities of the machine, and no call has TLS.
      SSL_CERT_FILE: join(__dirname, 'certificates/authority.pem'),
      ...{ PYTHONUNBUFFERED: '1', ...environment },
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'close');
  child.kill('SIGKILL');
  await over;
}

/** The process of which each bot of the suite is a fork, all in a process group. */
function startForks() {
  const child = python([join(__dirname, 'discord_forks.py')], {}, true);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const over = once(child, 'close').then(() => Promise.reject(new Error(`No bot can begin: ${said}`)));
  over.catch(() => undefined);
  return { child, over };
}
let forks: ReturnType<typeof startForks> | undefined;
afterAll(async () => {
  const { pid } = forks?.child ?? {};
  if (forks === undefined || pid === undefined) return;
  // Bots of tests that have failed too.
  process.kill(-pid, 'SIGKILL');
  await ended(forks.child);
});

/** What a new bot says, until its end. */
async function forked(environment: Record<string, string>): Promise<Socket> {
  const { child, over } = (forks ??= startForks());
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  child.stdin.write(`${JSON.stringify({ port, environment })}\n`);
  try {
    const [output] = (await Promise.race([once(server, 'connection'), over])) as [Socket];
    return output;
  } finally {
    server.close();
  }
}

/** A bot with discord.py in a process of its own, once it has compared its guilds. `options` are those of `PrivacyCog`. */
export async function discordPySeat(
  discord: FakeDiscord,
  service: { url: string; key: string },
  options: object = {},
): Promise<PythonSeat> {
  const gateway = await new FakeGateway(discord).start();
  const output = await forked({
    ...addressesOf(discord),
    ...{ LETHE_URL: service.url, LETHE_KEY: service.key, OPTIONS: JSON.stringify(options) },
  }).catch(async (error: unknown) => {
    await gateway.stop();
    throw error;
  });
  const closed = once(output, 'close');
  const errors: Reported[] = [];
  let pid = 0;
  let said = '';
  const stop = async (): Promise<void> => {
    // 0 would be the process group of this process.
    if (!output.closed && pid > 0) process.kill(pid, 'SIGKILL');
    await closed;
    await gateway.stop();
  };
  await new Promise<void>((resolve, reject) => {
    createInterface(output).on('line', (line) => {
      if (!line.startsWith('{')) said += `${line}\n`;
      else {
        const given = JSON.parse(line) as Reported | { ready: true } | { pid: number };
        if ('pid' in given) ({ pid } = given);
        else if ('ready' in given) resolve();
        else errors.push(given);
      }
    });
    output.once('close', () => reject(new Error(`The bot has ended: ${said}`)));
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const deliver: BotSeat['deliver'] = (payload) => gateway.interact(payload);
  return { deliver, stop, errors, gateway };
}
