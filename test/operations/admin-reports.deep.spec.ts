import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import type { ScriptRun } from '../support/child-script';
import { UNKNOWN_UUID } from '../support/inputs';
import { useOneInstallation } from '../support/installation';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const lethe = useOneInstallation({ build: useBuild() });
let bot: Bot;

const linesOf = ({ stdout }: ScriptRun): object[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);

/** A sealed log, and a value without an update for years. */
beforeAll(async () => {
  bot = await lethe.withBot();
  await bot.put('/data/categories/profile', { retention_days: 1 });
  await bot.hasUser();
  await lethe.sealed();
  await lethe.service.end();
  const old = '2020-01-01T00:00:00.000Z';
  await lethe.database.run('UPDATE user_data SET updated_at = ?, retention_from = ?', old, old);
});

describe('keys:list, audit:verify and retention:preview', () => {
  it('answer beside a service that writes and erases, and make no file', async () => {
    const service = await lethe.service.start();
    // The service makes its ballast after its start.
    const filesOf = () => readdirSync(lethe.directory).filter((name) => !name.endsWith('.ballast'));
    const files = filesOf().sort();
    const acts = { begun: 0, isOver: false };
    const writing = (async () => {
      for (; !acts.isOver; acts.begun++) {
        const who = subject();
        await bot.at(service).hasConsent(who);
        await bot.at(service).hasForgotten(who);
      }
    })();
    try {
      await until(() => acts.begun > 0);
      for (const command of ['keys:list', 'audit:verify', 'retention:preview'])
        expect(await lethe.adminApart([command])).toMatchObject({ code: 0 });
      expect(filesOf().sort()).toEqual(files);
    } finally {
      acts.isOver = true;
      await writing;
      await service.end();
    }
  });
});

describe('npm run admin -- retention:preview', () => {
  it('prints how much would be erased, and erases nothing', async () => {
    const run = await lethe.admin('retention:preview');
    expect(run.code).toBe(0);
    expect(linesOf(run)).toMatchObject([
      {
        bot_id: bot.id,
        due: [{ category: 'profile', values: 1 }],
        guilds: { scheduled: 0, due: 0 },
        evidence: { deletion_requests: 0 },
      },
    ]);
    expect(await lethe.database.rows('SELECT 1 FROM user_data')).toHaveLength(1);
  });
});

describe('npm run admin -- audit:verify', () => {
  it('finds a log whole, and by --bot that of one bot', async () => {
    for (const args of [[], ['--bot', bot.id]]) {
      const run = await lethe.admin('audit:verify', ...args);
      expect(run).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('Every log is what was sealed.'),
      });
      expect(linesOf(run)).toMatchObject([{ bot_id: bot.id, faults: 0 }]);
    }
  });

  it('refuses a bot that is not there, and checkpoints that are none of the log', async () => {
    const unknown = await lethe.admin('audit:verify', '--bot', UNKNOWN_UUID);
    expect(unknown).toMatchObject({ code: 1, stderr: `There is no bot ${UNKNOWN_UUID}.\n` });
    const file = join(lethe.directory, 'kept');
    writeFileSync(file, 'x.y.z\n');
    const foreign = await lethe.admin('audit:verify', '--bot', bot.id, '--kept', file);
    expect(foreign.code).toBe(1);
    expect(foreign.stdout).toContain('a checkpoint that was given is not one of this log');
  });

  it('names what was changed, and ends with 1', async () => {
    await lethe.database.run(
      `UPDATE audit_events SET event_type = 'data_exported' WHERE event_type = 'data_submitted'`,
    );
    const run = await lethe.admin('audit:verify');
    expect(run.code).toBe(1);
    expect(linesOf(run)).toContainEqual(expect.objectContaining({ bot_id: bot.id, fault: 'event_changed' }));
  });

  it('has no line for a bot that is being deleted', async () => {
    await lethe.database.run('UPDATE bots SET deleted_at = ?', '2020-01-01T00:00:00.000Z');
    for (const [args, told] of [
      [[], 'Every log is what was sealed.'],
      [['--bot', bot.id], `The bot ${bot.id} is being deleted, and its log with it.`],
    ] as const)
      expect(await lethe.admin('audit:verify', ...args)).toEqual({
        ...{ code: 0, stdout: '', output: expect.any(String) },
        stderr: expect.stringContaining(told),
      });
    writeFileSync(join(lethe.root, 'kept'), '[]');
    const compared = await lethe.admin('audit:verify', '--bot', bot.id, '--kept', join(lethe.root, 'kept'));
    expect([compared.code, compared.stderr]).toEqual([1, expect.stringContaining('cannot be compared')]);
  });
});
