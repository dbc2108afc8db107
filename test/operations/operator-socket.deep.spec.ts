import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { BotAdministration } from '@app/bots';
import { MasterKeyRotation } from '@app/crypto';
import { OperatorSocket, socketPath } from '@app/operations';
import type { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { sqliteFile } from '../support/database';
import { adminHere } from '../support/here';
import { LETHE_MASTER_KEY, Service } from '../support/service';
import { until } from '../support/until';

const build = useBuild();

let directory: string;
let service: Service;
let bot: Bot;
let isRunning = false;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
});
afterEach(async () => {
  if (isRunning) await end();
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true, force: true });
});

const filePath = (): string => join(directory, 'lethe.db');
const path = (): string => socketPath(service.databasePath);

async function started(inner = directory, key = LETHE_MASTER_KEY): Promise<void> {
  const database = sqliteFile(join(inner, 'lethe.db'));
  service = new Service({ LETHE_MASTER_KEY: key, DATABASE_URL: database.url }, database, inner);
  await service.start();
  isRunning = true;
}

async function end(): Promise<void> {
  isRunning = false;
  await service.app.close();
}

async function withBot(): Promise<void> {
  await started();
  bot = await service.registerBot();
}

const admin = (args: readonly string[], key = LETHE_MASTER_KEY) =>
  adminHere(args, { DATABASE_URL: service.database.url, LETHE_MASTER_KEY: key });

const suspend = () => admin(['bots:suspend', '--bot', bot.id]);

const isSuspended = async (): Promise<boolean> =>
  (await service.database.rows('SELECT 1 FROM bots WHERE suspended_at IS NOT NULL')).length > 0;

const warnings = (): string[] => service.logLines.filter((line) => line.includes('is not opened'));

/** The bytes that the service answers to these, until it closes. */
function answerTo(sent: string): Promise<string> {
  return new Promise((done) => {
    let taken = '';
    const socket = connect(path(), () => socket.write(sent)).setEncoding('utf8');
    socket.on('data', (chunk: string) => (taken += chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => done(taken));
  });
}

const line = (act: string, ...given: readonly unknown[]): string => `${JSON.stringify({ act, given })}\n`;

describe('the socket of a service on SQLite', () => {
  it('changes the master key once at a time, and can do it again', async () => {
    await withBot();
    const rotation = service.app.get(MasterKeyRotation, { strict: false });
    const first = rotation.rotate(() => undefined);
    await expect(rotation.rotate(() => undefined)).rejects.toThrow(/^Nothing was changed: .+ is running\./);
    await first;
    expect((await admin(['keys:rotate'])).code).toBe(0);
  });

  it('is open to its owner alone, and is removed with the end of the service', async () => {
    await withBot();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect((await suspend()).code).toBe(0);
    expect(await isSuspended()).toBe(true);
    await end();
    expect(existsSync(path())).toBe(false);
  });

  it('is made anew after a process that was killed', async () => {
    const child = await new ChildService(build.directory, filePath(), { LETHE_MASTER_KEY }).start();
    await child.end('SIGKILL');
    expect(existsSync(socketPath(filePath()))).toBe(true);
    await withBot();
    expect((await suspend()).code).toBe(0);
    expect(warnings()).toEqual([]);
  });

  it('is not made where others have rights on the directory; the log says so once, and the service runs', async () => {
    chmodSync(directory, 0o750);
    await withBot();
    expect(existsSync(path())).toBe(false);
    expect(warnings()).toEqual([expect.stringContaining('Restrict it with chmod 700')]);
    expect(await suspend()).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('Another process is using') as unknown },
    });
    expect(await isSuspended()).toBe(false);
  });

  it('is not made under a path that is too long for one, nor over another file', async () => {
    const long = join(directory, 'd'.repeat(100));
    mkdirSync(long, { mode: 0o700 });
    await started(long);
    expect(warnings()).toEqual([expect.stringContaining('longer than 103 bytes')]);
    await end();
    writeFileSync(socketPath(filePath()), 'kept');
    await started();
    expect(warnings()).toEqual([expect.stringContaining('something else of this name')]);
    expect(statSync(path()).size).toBe(4);
  });

  it('refuses every other act by its name, and what is no act, and does nothing', async () => {
    await withBot();
    const before = await service.database.rows('SELECT * FROM bots');
    const others = [
      'restore',
      'db:move',
      'db:migrate',
      'ledger:import',
      'bots:list',
      'constructor',
      'toString',
    ];
    const refused: [sent: string, why: string][] = [
      ...others.map((act): [string, string] => [line(act), 'a running service does not do this']),
      ...[
        'bots:delete\n',
        'null\n',
        line('bots:delete', 1),
        line('bots:delete'),
        line('bots:delete', bot.id, 'and more'),
        line('bots:delete', bot.id) + line('bots:delete', bot.id),
      ].map((sent): [string, string] => [sent, 'one act in one line']),
    ];
    for (const [sent, why] of refused)
      expect(JSON.parse(await answerTo(sent))).toEqual({ refused: expect.stringContaining(why) as unknown });
    expect(await service.database.rows('SELECT * FROM bots')).toEqual(before);
  });

  it('reads no more than a line, and no longer than its time; other callers are served', async () => {
    await withBot();
    service.app.get(OperatorSocket).waitMs = 1;
    expect(await answerTo('{')).toBe('');
    service.app.get(OperatorSocket).waitMs = 3_600_000;
    const silent = connect(path());
    await answerTo('x'.repeat(10_000_000));
    expect((await suspend()).code).toBe(0);
    silent.destroy();
  });

  it('ends with the service: an act under way is answered, and one that does not end is told as unknown', async () => {
    await withBot();
    const bots = service.app.get(BotAdministration, { strict: false });
    const original = bots.suspend.bind(bots);
    const held: (() => void)[] = [];
    bots.suspend = async (id) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return original(id);
    };
    service.app.get(OperatorSocket).waitMs = 3_600_000;
    const answered = suspend();
    await until(() => held.length === 1);
    const closed = end();
    await until(() => !existsSync(path()));
    held[0]?.();
    expect((await answered).code).toBe(0);
    await closed;
    expect(await isSuspended()).toBe(true);

    await started();
    service.app.get(OperatorSocket).waitMs = 3_600_000;
    const next = service.app.get(BotAdministration, { strict: false });
    let isHeld = false;
    next.resume = () => {
      isHeld = true;
      return new Promise(() => undefined);
    };
    const cut = admin(['bots:resume', '--bot', bot.id]);
    await until(() => isHeld);
    service.app.get(OperatorSocket).waitMs = 1;
    await end();
    expect(await cut).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('bots:resume may be done or not') as unknown },
    });
  });
});

describe('a command beside a service on SQLite', () => {
  it('sends no act to a socket that others can open', async () => {
    await withBot();
    rmSync(path());
    const callers: Socket[] = [];
    const foreign = createServer((socket) => callers.push(socket));
    await new Promise<void>((resolve) => foreign.listen(path(), resolve));
    chmodSync(path(), 0o666);
    expect((await suspend()).stderr).toContain('Another process is using');
    expect(callers).toEqual([]);
    await new Promise((resolve) => foreign.close(resolve));
  });

  it('changes the signing key, and the master key where both have the same first one', async () => {
    await withBot();
    const first = (await admin(['keys:sign-rotate'])).stdout.trim();
    const published = await fetch(`${service.url}/.well-known/lethe-keys.json`);
    expect(await published.text()).toContain(first);
    const both = `${Buffer.alloc(32, 'next').toString('base64')},${LETHE_MASTER_KEY}`;
    const refused = await admin(['keys:rotate'], both);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('another first key than this command');
    await end();
    await started(directory, both);
    expect((await admin(['keys:rotate'], both)).stderr).toContain('everything is under the key');
    expect((await admin(['keys:list', '--json'], both)).stdout).toMatch(/"role":"older","texts":0/);
    expect((await bot.at(service).get(`/bots/${bot.id}`)).status).toBe(200);
  });
});
