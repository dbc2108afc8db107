import { join } from 'node:path';
import { allMigrations } from '@app/database';
import { verifyWebhook } from '@lethe/sdk';
import {
  type AuditProof,
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
  verifyCertificate,
  verifyFinalCertificate,
} from '@lethe/sdk/evidence';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ByteSearch } from '../support/byte-search';
import { killedAt } from '../support/child-script';
import type { ChildService } from '../support/child-service';
import type { Answer } from '../support/client';
import { engine } from '../support/database';
import { Installation, lasting } from '../support/installation';
import { migrateFailing } from '../support/migrating';
import { useReceiver } from '../support/receiver';
import { databaseOf, deletionsAreDue, kept, type KeptBot, LASTING, releases } from '../support/releases';
import { exported } from '../support/sealing';
import { subject } from '../support/snowflakes';
import { differences } from '../support/differences';

// Releases of which data is kept are upgraded to the present version. migrations-* and migrations-start hold the schema and the
// rows of a service of today, at every statement and with many starts at once; here data, keys and evidence are older than the code.

const build = useBuild();
const receiver = useReceiver();

/** A receipt named a way to withdraw that no bot had declared. It is null since then. */
const CHANGED =
  /^\/consents\/receipt\?\S+: \S+\.withdrawal_method is null, not "By telling the bot or its privacy contact/;

describe.each(releases())('the data of %s', (release) => {
  const expected = kept(release);
  const [first, suspended] = expected.bots;
  const lethe = lasting(
    new Installation({
      build,
      settings: { LETHE_MASTER_KEY: expected.master_key, ...LASTING },
      makeDatabase: (directory) => databaseOf(release, directory),
    }),
  );
  let service: ChildService;
  let before: string[];
  let keySet: KeySet;
  /** What the upgraded service answers, by bot and path. */
  const answers = new Map<string, Answer>();
  /** The migrations after each interruption. */
  const interrupted: { readonly isDone: boolean; readonly ran: string[] }[] = [];
  const botOf = ({ api_key, ...bot }: KeptBot, key = api_key): Bot =>
    new Bot(service.url, { ...bot, api_key: key, api_key_prefix: '' });

  async function ran(): Promise<string[]> {
    const rows = await lethe.database.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    return rows.map(({ name }) => name);
  }

  const pending = (): string[] =>
    allMigrations()
      .map(({ name }) => name)
      .filter((name) => !before.includes(name));

  beforeAll(async () => {
    before = await ran();
    for (const [at] of pending().entries()) {
      const isDone = await migrateFailing(lethe.database, at + 1, undefined, /^INSERT INTO "migrations"/);
      interrupted.push({ isDone, ran: await ran() });
    }
  });
  // The suites of migrations-start kill at other statements.
  beforeAll(async () => {
    if (pending().length === 0) return;
    for (const at of ['INSERT INTO "migrations"', '^COMMIT']) {
      const starting = lethe.child(killedAt({ at }, lethe.root));
      const isDone = await starting.start().then(
        () => true,
        (error: unknown) => !String(error).includes('HELD'),
      );
      await starting.end('SIGKILL');
      interrupted.push({ isDone, ran: await ran() });
    }
  });
  beforeAll(async () => void (service = await lethe.child().start()));
  beforeAll(async () => {
    keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    for (const bot of expected.bots)
      for (const path of Object.keys(bot.answers))
        answers.set(`${bot.id} ${path}`, await botOf(bot).get(path));
  });

  it('has no migration after one was interrupted, by an error or a kill, and all of them after the next start', async () => {
    const count = pending().length;
    expect(interrupted).toHaveLength(count + (count > 0 ? 2 : 0));
    for (const one of interrupted) expect(one).toStrictEqual({ isDone: false, ran: before });
    expect((await ran()).sort()).toStrictEqual(
      allMigrations()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it.each([
    ['a bot', first],
    ['a suspended bot', suspended],
  ])('has every answer to %s that it had', (_, bot) => {
    // The log, which has grown, is compared by its own test.
    const compared = Object.entries(bot.answers).filter(([path]) => path !== '/audit/checkpoints');
    const changed = compared.flatMap(([path, { status, text }]) => {
      const now = answers.get(`${bot.id} ${path}`);
      if (now?.status !== status) return [`${path}: ${now?.status}, not ${status}`];
      return differences(JSON.parse(text), now.body).map((found) => `${path}: ${found}`);
    });
    expect(changed.filter((found) => !CHANGED.test(found))).toStrictEqual([]);
    expect(Object.keys(bot.answers).length).toBeGreaterThan(2);
  });

  it('takes the keys of the bot as before: a void one, one that reads, and one for everything', async () => {
    const { void: ended = '', reading = '' } = first.keys ?? {};
    const statusOf = async (key: string) => (await botOf(first, key).get('/servers')).status;
    expect([await statusOf(ended), await statusOf(reading)]).toStrictEqual([401, 200]);
    const asked = await botOf(first, reading).post('/consents/request', {
      ...subject(),
      consent_version: '1.0',
    });
    expect([asked.status, asked.error.code]).toStrictEqual([403, 'insufficient_scope']);
    await botOf(first).hasConsent(subject());
  });

  it('shows the page of a link from before, with the values of its user', async () => {
    const { pathname } = new URL(first.link?.url ?? '');
    const page = await fetch(service.url + pathname);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Robin of');
  });

  it('verifies the certificates and the proof of before by the keys of today, and they are those of before', () => {
    for (const { request_id, salt, user_id: userId, guild_id: guildId } of first.erased) {
      const path = `/gdpr/forget-status/${request_id}/certificate`;
      const { certificate } = dataOf<{ certificate: string }>(first, path);
      const about = { salt, botId: first.id, userId, guildId };
      expect(verifyCertificate(certificate, keySet, about)).toMatchObject({ request_id });
      expect(() =>
        verifyCertificate(certificate, keySet, { ...about, userId: '411111111111111199' }),
      ).toThrow();
    }
    const proof = dataOf<AuditProof>(first, `/audit/proof/${first.proof_of}`);
    expect(verifyAuditProof(proof, keySet)).toStrictEqual(verifyAuditProof(proof, expected.key_set));
  });

  it('continues the audit log: what was sealed before is in it, and the whole verifies', async () => {
    const bot = botOf(first);
    await bot.hasConsent(subject());
    await lethe.sealed();
    const lines = await exported(bot);
    const { checkpoints } = dataOf<{ checkpoints: { checkpoint: string }[] }>(first, '/audit/checkpoints');
    const log = await verifyAuditExport(
      lines,
      keySet,
      checkpoints.map(({ checkpoint }) => checkpoint),
    );
    const sealed = first.log.filter((line) => line.startsWith('{"type":"batch"'));
    expect(sealed.length).toBeGreaterThan(1);
    expect(lines.filter((line) => sealed.includes(line))).toStrictEqual(sealed);
    expect(log.batches).toBeGreaterThan(sealed.length);
  });

  it('delivers the calls that waited, signed by the secret of before, and those of a suspended bot once it is resumed', async () => {
    expect((await lethe.admin('bots:resume', '--bot', suspended.id)).code).toBe(0);
    for (const bot of expected.bots) {
      receiver.reset();
      const waiting = await waitingOf(bot);
      expect(waiting.length).toBeGreaterThan(0);
      expect((await botOf(bot).put(`/bots/${bot.id}`, { webhook_url: receiver.url })).status).toBe(200);
      const calls = await receiver.received(waiting.length);
      expect(calls.map(({ headers }) => String(headers['webhook-id'])).sort()).toStrictEqual(waiting.sort());
      for (const { headers, rawBody } of calls)
        await verifyWebhook({ headers, rawBody, secrets: bot.webhook_secret });
      await service.untilOf(async () => (await waitingOf(bot)).length === 0);
    }
  });

  /** Older releases have none. */
  const itWithHolder = first.holder === undefined ? it.skip : it;
  itWithHolder('completes the erasures that wait for a store of the bot, once it answers', async () => {
    const bot = botOf(first);
    for (const { request_id: id, salt, user_id: userId, guild_id: guildId } of first.erased) {
      const before = dataOf<object>(first, `/gdpr/forget-status/${id}`);
      expect(before).toMatchObject({ coverage: { complete: false } });
      const path = `/holders/${first.holder}/tasks/${id}/acknowledge`;
      expect((await bot.post(path, { result: 'erased' })).status).toBe(200);
      const status = await bot.get(`/gdpr/forget-status/${id}`);
      expect(status.data).toMatchObject({ coverage: { complete: true } });
      const final = await bot.get<{ certificate: string }>(`/gdpr/forget-status/${id}/final-certificate`);
      const about = { salt, botId: first.id, userId, guildId };
      expect(verifyFinalCertificate(final.data.certificate, keySet, about)).toMatchObject({ request_id: id });
    }
  });

  async function waitingOf(bot: KeptBot): Promise<string[]> {
    const listed = await botOf(bot).get<{ deliveries: { id: string }[] }>(
      '/webhooks/deliveries?status=pending',
    );
    return listed.data.deliveries.map(({ id }) => id);
  }

  /** The `data` of an answer from before. */
  function dataOf<Data>(bot: KeptBot, path: string): Data {
    return (JSON.parse(bot.answers[path]?.text ?? '{}') as { data: Data }).data;
  }

  describe('the deletion of a guild that was scheduled before', () => {
    beforeAll(async () => {
      await service.end('SIGTERM');
      await deletionsAreDue(lethe.database);
      await service.start();
      const servers = async () => (await botOf(first).get('/servers')).text;
      await service.untilOf(async () => !(await servers()).includes(expected.leaving_guild));
    });

    it('is done at its time, and nothing about its users or the erased ones is in a file', async () => {
      expect(first.leaving.length).toBeGreaterThan(1);
      for (const who of first.leaving)
        expect((await botOf(first).export(who)).text).not.toContain(expected.mark);
      await service.end('SIGTERM');
      const search = new ByteSearch();
      search.add('mark', expected.mark);
      for (const { user_id } of [...first.erased, ...first.leaving]) search.add('id', user_id);
      expect(search.below(...(await filesOf(lethe)))).toStrictEqual({});
    });
  });
});

/** The directories of all files of the database. */
async function filesOf({ directory, database }: Installation): Promise<string[]> {
  if (engine === 'sqlite') return [directory];
  await database.run('CHECKPOINT');
  const [server] = await database.rows<{ place: string; oid: number }>(
    `SELECT current_setting('data_directory') AS place, oid FROM pg_database WHERE datname = current_database()`,
  );
  return [join(server?.place ?? '', `base/${server?.oid}`)];
}
