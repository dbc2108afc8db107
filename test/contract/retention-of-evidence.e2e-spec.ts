import { ConsentHistoryPruning } from '@app/consent';
import { JobRunner, UnitOfWork } from '@app/database';
import { EvidenceRetention, EvidenceRetentionJob } from '@app/gdpr';
import { Clock, type Config, CONFIG, daysAfter, firstIdAt, Random } from '@app/kernel';
import { RetentionPreview } from '@app/reports';
import type { Bot } from '../support/bot';
import { leased, runNow, sweepOnce } from '../support/jobs';
import { seal, verified } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const DAYS = 1095;
const LONG_AGO = '2020-01-01T00:00:00.000Z';
const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  // Jobs run only when a test calls them, at any played time.
  const jobs = service.app.get(JobRunner);
  const run = jobs.run.bind(jobs);
  jest
    .spyOn(jobs, 'run')
    .mockImplementation((job, when) => (when === 'now' ? run(job, when) : Promise.resolve()));
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  who = subject();
});
afterEach(() => {
  jest.restoreAllMocks();
  // New ids are never older than the last one: the next test begins in the present again.
  Object.assign(service.app.get(Random), { lastMs: 0 });
});

/** Sets the played time to a number of days and milliseconds after an answered time. */
function after(iso: string, days: number, ms = 0): void {
  jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.parse(daysAfter(iso, days)) + ms);
}

const sweep = () => runNow(service, EvidenceRetentionJob);

async function rows<Row>(columns: string, table: string, order = '1'): Promise<Row[]> {
  return service.database.rows<Row>(
    `SELECT ${columns} FROM ${table} WHERE bot_id = ? ORDER BY ${order}`,
    bot.id,
  );
}

const requests = async () => (await rows<{ id: string }>('id', 'deletion_requests')).map(({ id }) => id);
const entries = async () =>
  (await rows<{ request_id: string }>('request_id', 'keys.erasure_ledger')).map(({ request_id: id }) => id);

interface Forgotten {
  readonly id: string;
  readonly at: string;
  readonly keyAt: string;
}

async function forgotten(one = subject()): Promise<Forgotten> {
  await bot.hasConsent(one);
  const id = await bot.hasForgotten(one);
  const [row] = await service.database.rows<{ completed_at: string; erased_at: string }>(
    `SELECT completed_at, erased_at FROM deletion_requests r JOIN keys.erasure_ledger l ON l.request_id = r.id
     WHERE r.id = ?`,
    id,
  );
  return { id, at: row!.completed_at, keyAt: row!.erased_at };
}

async function history(): Promise<string[]> {
  const found = await rows<{ action: string; version: string }>('action, version', 'consent_history', 'id');
  return found.map(({ action, version }) => `${action} ${version}`);
}

describe('an erasure request', () => {
  it('is kept for EVIDENCE_RETENTION_DAYS after its end, and is then removed with its entry in the ledger', async () => {
    const { id, at, keyAt } = await forgotten();
    after(keyAt, DAYS);
    await sweep();
    expect([await entries(), await requests()]).toEqual([[id], [id]]);
    after(at, DAYS);
    await sweep();
    expect(await requests()).toEqual([id]);
    after(at, DAYS, 1);
    await sweep();
    expect(await requests()).toEqual([]);
    expect(await entries()).toEqual([]);
    expect((await bot.get(`/gdpr/forget-status/${id}`)).status).toBe(404);
  });

  it('is kept while it is processing, and is removed after it failed', async () => {
    const [processing, failed] = [oldId(1), oldId(2)];
    await planted('processing', [processing]);
    await planted('failed', [failed]);
    await sweep();
    expect(await requests()).toEqual([processing]);
    await service.database.run('DELETE FROM deletion_requests WHERE bot_id = ?', bot.id);
  });

  it('is never removed before its entry: the entry in the ledger is removed first, in a unit of its own', async () => {
    await forgotten();
    const { at } = await forgotten();
    after(at, DAYS + 1);
    const seen: (readonly [ledger: number, requests: number])[] = [];
    await swept(async () => void seen.push([(await entries()).length, (await requests()).length]));
    expect(seen).toContainEqual([0, 2]);
    expect(seen.filter(([ledger, left]) => ledger > left)).toEqual([]);
    expect(seen.at(-1)).toEqual([0, 0]);
  });

  it('is repeated by no start after it was removed', async () => {
    const { at } = await forgotten(who);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'of a new life' });
    after(at, DAYS + 1);
    await sweep();
    jest.restoreAllMocks();
    await service.restart();
    expect(await requests()).toEqual([]);
    expect((await bot.export(who)).data).toMatchObject({ data: { profile: { value: 'of a new life' } } });
  });

  it('is removed in bounded batches, is interrupted by a stop, and continues later', async () => {
    const ids = Array.from({ length: 1_200 }, (_, index) => oldId(index));
    await planted('completed', ids);
    await inLedger(ids);
    const sizes: number[] = [];
    let [left, stopped] = [2_400, false];
    await swept(async (stopping) => {
      const now = (await entries()).length + (await requests()).length;
      sizes.push(left - now);
      left = now;
      if (now === 1_900 && !stopped) {
        stopped = true;
        stopping.abort();
      }
    });
    expect([stopped, left]).toEqual([true, 1_900]);
    await swept(async () => {
      const now = (await entries()).length + (await requests()).length;
      sizes.push(left - now);
      left = now;
    });
    expect(left).toBe(0);
    expect(Math.max(...sizes)).toBe(500);
  });

  it('stays in the ledger, and on record, as long as backups do', async () => {
    const evidence = service.app.get(EvidenceRetention, { strict: false });
    const config = { ...service.app.get<Config>(CONFIG), backupRetentionDays: DAYS + 10 };
    const replaced = jest.replaceProperty(evidence as unknown as { config: Config }, 'config', config);
    const { id, at, keyAt } = await forgotten();
    after(keyAt, DAYS + 10);
    await sweep();
    expect([await entries(), await requests()]).toEqual([[id], [id]]);
    after(at, DAYS + 10, 1);
    await sweep();
    expect([await entries(), await requests()]).toEqual([[], []]);
    replaced.restore();
  });
});

describe('the ledger of a bot that was deleted', () => {
  it('is kept as long as any other, and is then removed, to the last entry', async () => {
    const { id, keyAt } = await forgotten();
    await bot.delete(`/bots/${bot.id}`);
    after(keyAt, DAYS);
    await sweep();
    expect(await entries()).toEqual([id]);
    after(keyAt, DAYS, 1);
    await sweep();
    expect(await entries()).toEqual([]);
  });
});

describe('the history of a consent', () => {
  it('is kept for EVIDENCE_RETENTION_DAYS after the revocation, and is then removed, while the status stays', async () => {
    await bot.hasConsent(who);
    const { data } = await bot.post<{ revoked_at: string }>('/consents/revoke', who);
    const decided = (await rows<{ created_at: string }>('created_at', 'consent_history', 'id')).at(-1)!;
    after(decided.created_at, DAYS);
    await sweep();
    expect(await history()).toEqual(['requested 1.0', 'accepted 1.0', 'revoked 1.0']);
    after(decided.created_at, DAYS, 1);
    await sweep();
    expect(await history()).toEqual([]);
    const { revoked_at: revokedAt } = data;
    expect((await bot.status(who)).data).toMatchObject({ status: 'revoked', revoked_at: revokedAt });
    const { consent } = (await bot.export<{ consent: object }>(who, '&format=full')).data;
    expect(consent).toMatchObject({
      status: 'revoked',
      revokedAt,
      requestedAt: expect.any(String) as string,
    });
  });

  it('is kept while the consent is in force or waits, at any age', async () => {
    await bot.hasConsent(who);
    await bot.hasRequest(who, '2.0');
    await bot.hasRequest(subject(), '3.0');
    after(new Date().toISOString(), 10 * DAYS);
    await sweep();
    expect((await history()).sort()).toEqual([
      'accepted 1.0',
      'requested 1.0',
      'requested 2.0',
      'requested 3.0',
    ]);
  });

  it('counts from a later acceptance, and takes only what that one has ended', async () => {
    await bot.hasConsent(who);
    after(new Date().toISOString(), 100);
    await bot.hasConsent(who, '2.0');
    const [accepted] = await service.database.rows<{ created_at: string }>(
      `SELECT created_at FROM consent_history WHERE bot_id = ? AND version = '2.0' AND action = 'accepted'`,
      bot.id,
    );
    after(accepted!.created_at, DAYS);
    await sweep();
    expect(await history()).toHaveLength(4);
    after(accepted!.created_at, DAYS, 1);
    await sweep();
    expect(await history()).toEqual(['requested 2.0', 'accepted 2.0']);
  });

  it('of a declined request is kept for EVIDENCE_RETENTION_DAYS, and ends no consent', async () => {
    await bot.hasConsent(who);
    await bot.hasRequest(who, '2.0');
    const { data } = await bot.post<{ declined_at: string }>('/consents/decline', who);
    after(data.declined_at, DAYS);
    await sweep();
    expect(await history()).toHaveLength(4);
    after(data.declined_at, DAYS, 1);
    await sweep();
    expect(await history()).toEqual(['requested 1.0', 'accepted 1.0']);
  });

  it('ends while the user stays in the list, as the notice says, until an erasure', async () => {
    await bot.hasRequest(who);
    const { data } = await bot.post<{ declined_at: string }>('/consents/decline', who);
    await seal(service, bot);
    const [sealed] = await rows<{ sealed_at: string }>('sealed_at', 'audit_batches', 'number DESC');
    after([data.declined_at, sealed!.sealed_at].sort()[1]!, DAYS, 1);
    await sweep();
    expect([await history(), await rows('id', 'audit_events')]).toEqual([[], []]);
    const users = async () => (await bot.get<{ users: unknown[] }>('/users')).data.users;
    expect(await users()).toHaveLength(1);
    await bot.hasForgotten(who);
    expect(await users()).toEqual([]);
  });

  it('does not end by the acceptance of another user, or of the same user in another guild', async () => {
    await bot.hasConsent(who);
    for (const other of [
      { ...who, guild_id: snowflake() },
      { ...who, user_id: snowflake() },
    ]) {
      await bot.hasConsent(other);
      await bot.hasRevoked(other);
    }
    after(new Date().toISOString(), 2 * DAYS);
    await sweep();
    expect(await history()).toEqual(['requested 1.0', 'accepted 1.0']);
  });

  it('is looked through with a place to stop after each page, also where nothing has ended', async () => {
    await bot.hasConsent(who);
    const pruning = service.app.get(ConsentHistoryPruning);
    const search = pruning.pruneBefore(bot.id, daysAfter(new Date().toISOString(), 1));
    expect(await search.next(0)).toEqual({ done: false, value: undefined });
    expect(await search.next(0)).toEqual({ done: true, value: undefined });
  });

  it('is removed in bounded batches, past the kept entries', async () => {
    await plantedHistory(1_300);
    const sizes: number[] = [];
    let left = 3 * 1_300;
    await swept(async () => {
      const now = (await history()).length;
      sizes.push(left - now);
      left = now;
    });
    expect(left).toBe(3 * 650);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
  });
});

describe('the words that Lethe has made of categories', () => {
  const words = () => rows<{ content: string }>('content', 'consent_words', 'digest');
  const texts = async () => (await words()).filter(({ content }) => content.startsWith('['));
  const ask = (of: SubjectIds, categories: readonly string[], version = '1.0') =>
    bot.post('/consents/request', { ...of, consent_version: version, categories });
  const accept = (of: SubjectIds) => bot.post('/consents/accept', { ...of, consent_version: '1.0' });
  const revoke = (of: SubjectIds) => bot.post<{ revoked_at: string }>('/consents/revoke', of);
  const shown = async () => {
    const query = `user_id=${who.user_id}&guild_id=${who.guild_id}`;
    const { data } = await bot.get<{ entries: { texts: { digest: string }[] }[] }>(
      `/consents/history?${query}`,
    );
    return bot.get(`/consents/texts/${data.entries[0]?.texts[0]?.digest}`);
  };

  it('go with the last entry that names them, and their parts with the last text', async () => {
    for (const key of ['notes', 'levels']) await bot.hasCategory(key);
    const other = subject();
    await ask(other, ['levels', 'notes']);
    await accept(other);
    await ask(who, ['profile', 'notes']);
    await accept(who);
    const [{ data: revoked }, before] = [await revoke(other), await shown()];
    // A sentence for all, and one for each category.
    expect([(await texts()).length, (await words()).length]).toEqual([2, 2 + 1 + 3]);
    after(revoked.revoked_at, DAYS, 1);
    await sweep();
    expect(await texts()).toHaveLength(2);
    after(revoked.revoked_at, DAYS + 2);
    await sweep();
    expect([(await texts()).length, (await words()).length]).toEqual([1, 1 + 1 + 2]);
    expect((await shown()).text).toBe(before.text);
    const end = (await revoke(who)).data.revoked_at;
    after(end, DAYS + 2);
    await sweep();
    expect(await words()).toEqual([]);
  });

  it('stay where a request has made them again', async () => {
    await ask(who, ['profile']);
    await accept(who);
    const end = (await revoke(who)).data.revoked_at;
    after(end, DAYS + 1);
    const other = subject();
    await ask(other, ['profile']);
    await bot.hasForgotten(other);
    after(end, DAYS + 2);
    await sweep();
    expect(await history()).toEqual([]);
    expect(await words()).toHaveLength(3);
  });
});

describe('audit events', () => {
  it('go in sealed batches that are wholly too old, and what is left verifies', async () => {
    await bot.hasConsent(who);
    await seal(service, bot);
    const [first] = await rows<{ created_at: string }>('created_at', 'audit_events', 'seq');
    const [last] = await rows<{ sealed_at: string }>('sealed_at', 'audit_batches', 'number DESC');
    // Each may be in a batch of its own.
    after(first!.created_at, DAYS, -100);
    await sweep();
    expect(await rows('seq', 'audit_events')).toHaveLength(2);
    await bot.hasRevoked(who);
    after(last!.sealed_at, DAYS, 1);
    await sweep();
    expect(await rows('event_type', 'audit_events')).toEqual([{ event_type: 'consent_revoked' }]);
    await seal(service, bot);
    expect((await verified(service, bot)).found).toEqual([]);
  });
});

describe('the preview', () => {
  const ofBot = async () => {
    for await (const forecast of service.app.get(RetentionPreview).ofAllBots())
      if (forecast.botId === bot.id) return forecast;
    throw new Error('the bot is missing');
  };

  it('counts exactly what the next runs take, and takes nothing', async () => {
    await bot.hasCategory('aging', undefined, { retention_days: 5 });
    await bot.hasConsent(who);
    await bot.hasData(who, 'aging', { value: 'x' });
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.hasRevoked(who);
    await forgotten();
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.delete(`/servers/${who.guild_id}?grace_days=20`);
    await seal(service, bot);
    const events = (await rows('seq', 'audit_events')).length;
    const nothing = { ledgerEntries: 0, deletionRequests: 0, consentEntries: 0, auditEvents: 0 };
    expect(await ofBot()).toMatchObject({ due: [], guilds: { scheduled: 1, due: 0 }, evidence: nothing });
    after(new Date().toISOString(), DAYS + 1);
    const forecast = {
      botId: bot.id,
      due: [
        { category: 'aging', reason: 'retention', values: 1 },
        { category: 'aging', reason: 'consent_revoked', values: 1 },
        { category: 'profile', reason: 'consent_revoked', values: 1 },
      ],
      guilds: { scheduled: 1, due: 1 },
      evidence: { ledgerEntries: 1, deletionRequests: 1, consentEntries: 3, auditEvents: events },
    };
    expect(await ofBot()).toMatchObject(forecast);
    expect(await ofBot()).toMatchObject(forecast);
    await sweep();
    expect(await ofBot()).toMatchObject({ ...forecast, evidence: nothing });
  });
});

/** One pass; `look` is called after every batch. */
async function swept(look: (stopping: AbortController) => Promise<void>): Promise<void> {
  const unitOfWork = service.app.get(UnitOfWork);
  const lease = await leased(service, 'evidence-retention');
  const stopping = new AbortController();
  const batch = lease.batch.bind(lease);
  jest.spyOn(lease, 'batch').mockImplementation(async (work) => {
    const done = await batch(work);
    await look(stopping);
    return done;
  });
  await sweepOnce(service, EvidenceRetentionJob, lease, stopping.signal);
  await unitOfWork.write((tx) => lease.end(tx));
}

/** An id from 2020. */
function oldId(index: number): string {
  return firstIdAt(LONG_AGO).slice(0, -12) + String(index).padStart(12, '0');
}

async function inserted(into: string, values: readonly (readonly (string | null)[])[]): Promise<void> {
  for (let at = 0; at < values.length; at += 500) {
    const some = values.slice(at, at + 500);
    const marks = some.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
    await service.database.run(`INSERT INTO ${into} VALUES ${marks}`, ...some.flat());
  }
}

function planted(status: string, ids: readonly string[]): Promise<void> {
  const completedAt = status === 'completed' ? LONG_AGO : null;
  return inserted(
    'deletion_requests (bot_id, id, guild_id, user_id, status, created_at, completed_at, webhook_sent)',
    ids.map((id) => [bot.id, id, ...storedIds(), status, LONG_AGO, completedAt, '0']),
  );
}

function inLedger(ids: readonly string[]): Promise<void> {
  return inserted(
    'keys.erasure_ledger (bot_id, request_id, guild_id, user_id, erased_at)',
    ids.map((id) => [bot.id, id, ...storedIds(), LONG_AGO]),
  );
}

function storedIds(one = subject()): [guildId: string, userId: string] {
  const { guild_id: guildId, user_id: userId } = service.stored(bot, one);
  return [guildId, userId];
}

/** Three entries for each user; every other user has revoked. */
function plantedHistory(users: number): Promise<void> {
  const all = Array.from({ length: 3 * users }, (_, index) => {
    const user = String(10n ** 17n + BigInt(index % users));
    const last = (index % users) % 2 === 0 ? 'revoked' : 'shown';
    const action = ['requested', 'accepted', last][Math.floor(index / users)]!;
    const ids = storedIds({ ...who, user_id: user });
    return [bot.id, ...ids, oldId(index), user, action, '1.0', LONG_AGO];
  });
  return inserted(
    'consent_history (bot_id, guild_id, user_id, id, consent_id, action, version, created_at)',
    all,
  );
}
