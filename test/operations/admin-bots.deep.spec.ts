import type { Bot } from '../support/bot';
import type { ScriptRun } from '../support/child-script';
import { Client } from '../support/client';
import { expectFailure } from '../support/expected';
import { adminHere } from '../support/here';
import { LETHE_MASTER_KEY, Service } from '../support/service';
import { subject } from '../support/snowflakes';

let service: Service;
let bot: Bot;
let other: Bot;

beforeEach(async () => {
  service = await new Service({ LETHE_MASTER_KEY }).start();
  [bot, other] = [await service.registerBot(), await service.registerBot()];
});
afterEach(() => service.stop());

const environment = () => ({ DATABASE_URL: service.database.url, LETHE_MASTER_KEY });

/** Beside the running service. */
const admin = (...args: readonly string[]): Promise<ScriptRun> => adminHere(args, environment());

const isAccepted = async (caller: Bot): Promise<boolean> =>
  (await caller.at(service).get(`/bots/${caller.id}`)).status === 200;

describe('bots:list', () => {
  it('writes every bot beside the running service, with both ids and no key', async () => {
    const run = await adminHere(['bots:list'], environment());
    expect(run.code).toBe(0);
    const lines = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    expect(lines.map(({ id }) => id)).toStrictEqual([bot.id, other.id].sort());
    expect(lines).toContainEqual({
      id: bot.id,
      platform_bot_id: bot.platformBotId,
      name: bot.name,
      created_at: expect.stringMatching(/Z$/) as unknown,
      deleted_at: null,
      ...{ suspended_at: null, tier: 'free', stored_tier: null },
    });
    expect(run.output).not.toContain(bot.key);
  });
});

describe('bots:new-key', () => {
  it.each(['id', 'platformBotId'] as const)(
    'voids the keys of one bot, named by its %s, and writes one that is accepted',
    async (by) => {
      const run = await admin('bots:new-key', '--bot', bot[by]);
      expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('are void') as unknown });
      expect(await isAccepted(bot)).toBe(false);
      expect(await isAccepted(other)).toBe(true);
      const renewed = new Client(service.url, run.stdout.trim());
      expect((await renewed.get(`/bots/${bot.id}`)).status).toBe(200);
    },
  );

  it('refuses an unknown bot', async () => {
    const run = await admin('bots:new-key', '--bot', '1');
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('The bot 1 not found');
    expect(await isAccepted(bot)).toBe(true);
  });
});

/** The line of the bot in the list. */
async function listed(): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { stdout } = await adminHere(['bots:list'], environment());
  const lines = stdout.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ id }) => id === bot.id);
}

const changes = async (caller: Bot): Promise<number> =>
  (await caller.at(service).post('/servers/register', { guild_id: subject().guild_id })).status;

describe('bots:suspend and bots:resume', () => {
  it('suspend one bot in the running service, and end that; both can be repeated', async () => {
    expect(await changes(bot)).toBe(201);
    const run = await admin('bots:suspend', '--bot', bot.platformBotId);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('is suspended') as unknown });
    expect([await changes(bot), await changes(other), await isAccepted(bot)]).toEqual([403, 201, true]);
    const { suspended_at: at } = (await listed()) ?? {};
    expect(at).toMatch(/Z$/);
    const again = await admin('bots:suspend', '--bot', bot.id);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('already') as unknown });
    expect(await listed()).toMatchObject({ suspended_at: at });
    for (const words of ['is no longer suspended', 'was not suspended: nothing has changed']) {
      const resumed = await admin('bots:resume', '--bot', bot.id);
      expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining(words) as unknown });
      expect([await changes(bot), (await listed())?.['suspended_at']]).toEqual([201, null]);
    }
  });

  it('refuse an unknown bot, and one that is deleted', async () => {
    await bot.delete(`/bots/${bot.id}`);
    for (const command of ['bots:suspend', 'bots:resume'])
      for (const id of ['1', bot.id])
        expect(await admin(command, '--bot', id)).toMatchObject({
          ...{ code: 1, stderr: expect.stringContaining(`The bot ${id} not found`) as unknown },
        });
  });
});

describe('the output of a command', () => {
  it('has no character that a terminal obeys, whatever a bot has named itself', async () => {
    const name = '\u001b[2J\u001b]0;owned\u0007\u202eA\u009b1m\u2066\u200f\rB \u{1F469}\u200d\u{1F527}';
    const hostile = await service.registerBot({ name });
    await hostile.hasCategory('profile');
    const about = ['--bot', hostile.id];
    const commands = [
      ...[['bots:list'], ['retention:preview'], ['status'], ['doctor'], ['audit:verify']],
      ...[
        ['bots:suspend', ...about],
        ['bots:resume', ...about],
        ['bots:tier', ...about, '--tier', 'free'],
      ],
      ...[
        ['bots:tier', ...about, '--tier', name],
        ['bots:new-key', ...about],
        ['bots:delete', '--bot', name],
      ],
      ['bots:delete', ...about],
    ];
    const runs: string[] = [];
    for (const command of commands)
      for (const json of command.includes('bots:delete') ? [[]] : [[], ['--json']])
        runs.push((await admin(...command, ...json)).output);
    expect(runs.filter((output) => output.includes('owned')).length).toBeGreaterThan(10);
    for (const output of runs) expect(output).not.toMatch(/[^\P{C}\n\t\u200d]|[\u2028\u2029]/u);
    const [list = ''] = runs;
    expect(
      list
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { name: string }).name),
    ).toContain(name);
    expect(runs.join('')).toContain('The bot \\u001b[2J\\u001b]0;owned\\u0007\\u202eA');
  });
});

describe('bots:delete', () => {
  it('needs no running service', async () => {
    await service.app.close();
    const run = await admin('bots:delete', '--bot', bot.id);
    await service.start();
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('is deleted') as unknown });
    expect([await isAccepted(bot), await isAccepted(other)]).toEqual([false, true]);
  });

  it('deletes one bot with its rows, and leaves the others', async () => {
    for (const caller of [bot, other]) {
      await caller.hasCategory('profile');
      const who = subject();
      await caller.hasConsent(who);
      await caller.hasData(who, 'profile', { value: 'stored' });
    }
    const run = await admin('bots:delete', '--bot', bot.platformBotId);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('is deleted') as unknown });
    expectFailure(await bot.at(service).get(`/bots/${bot.id}`), 401, 'unauthorized');
    expect(await isAccepted(other)).toBe(true);
    for (const table of ['bots', 'user_data', 'subjects', 'keys.subject_keys'])
      expect(await service.database.rows(`SELECT 1 FROM ${table}`)).toHaveLength(1);
    expect((await admin('bots:delete', '--bot', bot.id)).code).toBe(1);
  });
});
