import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { AuditService } from '@app/audit';
import { SubjectDigests } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { BatchSealer } from '@app/sealing';
import { Client as PgClient } from 'pg';
import type { Bot } from '../support/bot';
import { engine } from '../support/database';
import { AN_ID, expectFailure, expectFaults, pagination } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { exported, seal, verified } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { keptOpen } from '../support/units';

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

interface Part {
  readonly value?: string | null;
  readonly salt?: string;
  readonly hash?: string;
}
interface ProvenEvent {
  readonly seq: number;
  readonly id: string;
  readonly event_type: string;
  readonly source: string;
  readonly created_at: string;
  readonly commitment: string;
  readonly erased: boolean;
  readonly parts: Record<'user' | 'guild' | 'details', Part> | null;
}
interface Proof {
  readonly bot_id: string;
  readonly event: ProvenEvent;
  readonly leaf_index: number;
  readonly path: readonly string[];
  readonly checkpoint: string;
}
interface Checkpoint {
  readonly number: number;
  readonly chain: string;
  readonly checkpoint: string;
}

const write = async (who: SubjectIds = subject(), details?: object): Promise<string> => {
  const body = { ...who, event_type: 'data_exported', ...(details && { details }) };
  return (await bot.post<{ id: string }>('/audit/event', body)).data.id;
};
const prove = async (id: string) => (await bot.get<Proof>(`/audit/proof/${id}`)).data;
const checkpoints = async (query = '') =>
  (await bot.get<{ checkpoints: Checkpoint[]; pruning: string | null }>(`/audit/checkpoints${query}`)).data;

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const bytes = (text: string) => Buffer.from(text, 'base64url');

/** The encoding of docs/audit-log.md, implemented a second time. */
function framed(...parts: (string | Buffer)[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const content = Buffer.from(part as string);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(content.length);
      return [length, content];
    }),
  );
}

function partHash(name: string, { value, salt = '', hash }: Part): Buffer {
  if (hash !== undefined) return bytes(hash);
  return sha256(Buffer.of(3), framed(name, bytes(salt), ...(value == null ? [] : [value])));
}

function rootOf({ bot_id: botId, event, leaf_index: index, path }: Proof, size: number): string {
  const { seq, id, event_type, source, created_at, commitment } = event;
  let hash = sha256(
    Buffer.of(0),
    framed(botId, String(seq), id, event_type, source, created_at, bytes(commitment)),
  );
  const left = path.map(bytes);
  for (let at = index, last = size - 1; last > 0; at >>= 1, last >>= 1) {
    if (at % 2 === 0 && at === last) continue;
    const other = left.shift() ?? Buffer.alloc(0);
    hash = at % 2 === 1 ? sha256(Buffer.of(1), other, hash) : sha256(Buffer.of(1), hash, other);
  }
  return hash.toString('base64url');
}

async function payloadOf(jws: string, typ: string): Promise<Record<string, string | number>> {
  const [head = '', body = '', signature = ''] = jws.split('.');
  const header = JSON.parse(bytes(head).toString()) as { typ: string; kid: string };
  expect(header.typ).toBe(typ);
  const response = await fetch(`${service.url}/.well-known/lethe-keys.json`);
  const { keys } = (await response.json()) as { keys: (JsonWebKey & { kid: string })[] };
  const jwk = keys.find(({ kid }) => kid === header.kid);
  const key = createPublicKey({ key: jwk ?? {}, format: 'jwk' });
  expect(verify(null, Buffer.from(`${head}.${body}`), key, bytes(signature))).toBe(true);
  return JSON.parse(bytes(body).toString()) as Record<string, string | number>;
}

describe('GET /api/v1/audit/proof/{event_id}', () => {
  it('proves by hashes alone that a signed checkpoint covers an event, with its user, guild and details', async () => {
    const who = subject();
    const ids = [];
    for (let count = 0; count < 5; count++) ids.push(await write(who, { count, text: 'ü' }));
    await seal(service, bot);
    for (const [count, id] of ids.entries()) {
      const proof = await prove(id);
      const checkpoint = await payloadOf(proof.checkpoint, 'lethe-audit-checkpoint+jwt');
      expect(rootOf(proof, Number(checkpoint['events']))).toBe(checkpoint['root']);
      const { parts, commitment } = proof.event;
      const hashes = (['user', 'guild', 'details'] as const).map((name) =>
        partHash(name, parts?.[name] ?? {}),
      );
      expect(sha256(Buffer.of(4), ...hashes).toString('base64url')).toBe(commitment);
      expect(parts).toMatchObject({
        user: { value: who.user_id },
        guild: { value: who.guild_id },
        details: { value: JSON.stringify({ count, text: 'ü' }) },
      });
    }
  });

  it('seals an event for it that was not sealed yet', async () => {
    const proof = await prove(await write());
    expect(proof).toMatchObject({ bot_id: bot.id, event: { id: AN_ID, erased: false } });
    expect(await verified(service, bot)).toMatchObject({ unsealed: 0, found: [] });
  });

  it('takes an id in upper case', async () => {
    const id = await write();
    expect((await prove(id.toUpperCase())).event.id).toBe(id);
  });

  it('proves an event of an erased user as before, and nothing that it does not tell any more', async () => {
    const gone = subject();
    const id = await write(gone, { note: 'told to nobody' });
    const before = await prove(id);
    await bot.hasForgotten(gone);
    const after = await prove(id);
    expect(after.event).toStrictEqual({ ...before.event, erased: true, parts: null });
    expect(after.path).toStrictEqual(before.path);
    const checkpoint = await payloadOf(after.checkpoint, 'lethe-audit-checkpoint+jwt');
    expect(rootOf(after, Number(checkpoint['events']))).toBe(checkpoint['root']);
  });

  it('proves the request of a completed erasure, and of its user and guild hashes alone', async () => {
    const gone = subject();
    await write(gone);
    const requestId = await bot.hasForgotten(gone);
    const { events } = (
      await bot.get<{ events: { id: string }[] }>('/audit/events?event_type=deletion_completed')
    ).data;
    const { event } = await prove(events[0]?.id ?? '');
    expect(event).toMatchObject({
      erased: true,
      parts: {
        user: { hash: expect.any(String) },
        guild: { hash: expect.any(String) },
        details: { value: JSON.stringify({ request_id: requestId, actor: `key:${bot.key?.slice(0, 16)}` }) },
      },
    });
    const parts = event.parts;
    const hashes = (['user', 'guild', 'details'] as const).map((name) => partHash(name, parts?.[name] ?? {}));
    expect(sha256(Buffer.of(4), ...hashes).toString('base64url')).toBe(event.commitment);
  });

  it('answers 404 for an unknown event, and 400 for what is no id', async () => {
    await write();
    expectFailure(await bot.get(`/audit/proof/${UNKNOWN_UUID}`), 404, 'not_found');
    expectFaults(await bot.get('/audit/proof/x'), 'event_id');
  });

  it('answers 503, and later the proof, while the latest events cannot be sealed', async () => {
    const id = await write();
    const never = jest.spyOn(service.app.get(BatchSealer), 'sealNow').mockResolvedValue(false);
    const answer = await bot.get(`/audit/proof/${id}`);
    never.mockRestore();
    // The job can be faster.
    if (answer.status !== 200) expectFailure(answer, 503, 'service_unavailable');
    expect((await prove(id)).event.id).toBe(id);
  });

  it('answers 503 instead of a proof that would not hold, once the log was changed', async () => {
    const id = await write();
    await prove(id);
    await service.database.run(
      `UPDATE audit_events SET event_type = 'data_deleted' WHERE bot_id = ? AND id = ?`,
      ...[bot.id, id],
    );
    const answer = await bot.get(`/audit/proof/${id}`);
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toContain('audit:verify');
  });
});

describe('GET /api/v1/audit/checkpoints', () => {
  it('answers the checkpoints newest first, each signed and going on from the one before', async () => {
    for (let count = 0; count < 3; count++) await prove(await write());
    const all = await checkpoints();
    expect(all).toMatchObject({ pruning: null, pagination: pagination(1, 20, all.checkpoints.length) });
    const payloads = [];
    for (const { checkpoint } of all.checkpoints)
      payloads.push(await payloadOf(checkpoint, 'lethe-audit-checkpoint+jwt'));
    expect(payloads.map(({ number }) => number)).toStrictEqual(payloads.map((_, at) => payloads.length - at));
    expect(payloads.slice(0, -1).map(({ previous }) => previous)).toStrictEqual(
      payloads.slice(1).map(({ chain }) => chain),
    );
    const [newest] = (await checkpoints('?page_size=1')).checkpoints;
    expect(newest).toStrictEqual(all.checkpoints[0]);
    expect((await checkpoints('?page_size=1&page=2')).checkpoints).toStrictEqual([all.checkpoints[1]]);
  });

  it('answers none before anything was sealed, and none of another bot', async () => {
    await prove(await write());
    bot = await service.registerBot();
    expect(await checkpoints()).toStrictEqual({
      checkpoints: [],
      pruning: null,
      pagination: pagination(1, 20, 0),
    });
  });

  it('answers 400 for a bad page', async () => {
    expectFaults(await bot.get('/audit/checkpoints?page=0'), 'page');
  });
});

describe('GET /api/v1/audit/export', () => {
  const lines = async (query = '') =>
    (await exported(bot, query)).map((text) => JSON.parse(text) as Record<string, unknown>);

  it('answers every event and every batch a line each, between a first and a last one, outside the envelope', async () => {
    const who = subject();
    for (let count = 0; count < 3; count++) await prove(await write(who, { count }));
    const all = await lines();
    const types = all.map(({ type }) => type);
    expect(types[0]).toBe('log');
    expect(types.at(-1)).toBe('end');
    expect(types.filter((type) => type === 'event')).toHaveLength(3);
    const end = await payloadOf(String(all.at(-1)?.['statement']), 'lethe-audit-export+jwt');
    expect(end).toMatchObject({ bot_id: bot.id, after: 0, events: 3 });
    expect(end['number']).toBe(types.filter((type) => type === 'batch').length);
  });

  it('seals what was written before it', async () => {
    const id = await write();
    expect((await lines()).filter((line) => line['id'] === id)).toHaveLength(1);
  });

  it('continues after the batch that the query names', async () => {
    for (let count = 0; count < 3; count++) await prove(await write());
    const all = await lines();
    const last = (await checkpoints()).checkpoints[0]?.number ?? 0;
    const rest = await lines(`?after=${last - 1}`);
    expect(rest[0]).toMatchObject({ type: 'log', after: last - 1 });
    expect(rest.slice(1, -1)).toStrictEqual(all.slice(-rest.length + 1, -1));
    expect((await lines(`?after=${last}`)).map(({ type }) => type)).toStrictEqual(['log', 'end']);
  });

  it('names no erased user', async () => {
    const gone = subject();
    await prove(await write(gone, { note: 'told to nobody' }));
    await bot.hasForgotten(gone);
    const text = (await exported(bot)).join('\n');
    expect(text).not.toContain(gone.user_id);
    expect(text).not.toContain('told to nobody');
    for (const digest of Object.values(service.stored(bot, gone))) expect(text).not.toContain(digest);
  });

  it('is NDJSON, with the headers of every answer', async () => {
    const headers = { authorization: `Bearer ${bot.key}` };
    const response = await fetch(`${service.url}/api/v1/audit/export`, { headers });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-request-id')).not.toBeNull();
    expect(response.headers.get('x-ratelimit-remaining')).not.toBeNull();
    await response.text();
  });

  it('answers 400 for a bad place to begin at', async () => {
    expectFaults(await bot.get('/audit/export?after=x'), 'after');
  });
});

if (engine === 'postgres') {
  describe('on PostgreSQL, where places are taken before commits', () => {
    it('seals nothing above an event that is not committed yet, and all of it in order afterwards', async () => {
      await write();
      const older = new PgClient({ connectionString: service.database.url });
      await older.connect();
      await older.query('BEGIN');
      const { guild_id: guildId, user_id: userId } = service.stored(bot, subject());
      const {
        rows: [{ seq: low }],
      } = (await older.query<{ seq: string }>(
        `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
         VALUES ($1, nextval('audit_events_seq'), gen_random_uuid()::text, $2, $3, 'data_deleted', 'client',
           's2.erased.x', '2000-01-01T00:00:00.000Z')
         RETURNING seq`,
        [bot.id, guildId, userId],
      )) as unknown as { rows: [{ seq: string }] };
      const id = await write();
      expect(await service.app.get(BatchSealer).sealNow(bot.id)).toBe(false);
      expect(await heads()).not.toContain(Number(low) + 1);
      expectFailure(await bot.get(`/audit/proof/${id}`), 503, 'service_unavailable');
      await older.query(
        `INSERT INTO audit_counts VALUES ($1, '', 'data_deleted', 99, 1), ($1, $2, 'data_deleted', 99, 1)`,
        [bot.id, guildId],
      );
      await older.query('COMMIT');
      await older.end();
      expect((await prove(id)).event.seq).toBe(Number(low) + 1);
      expect(await verified(service, bot)).toMatchObject({ events: 3, unsealed: 0, found: [] });
    });

    it('waits for a unit of the service that has appended and not ended', async () => {
      const who = service.app.get(SubjectDigests).named(bot.id, subject());
      let end: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (end = resolve));
      let appended: () => void = () => undefined;
      const isAppended = new Promise<void>((resolve) => (appended = resolve));
      const unit = service.app.get(UnitOfWork).write(async (tx) => {
        await keptOpen(tx);
        // Of another type than the act beside it: both may count in one row, by their connections, and it would wait.
        const { id } = await service.app.get(AuditService).record(tx, who, 'data_deleted');
        appended();
        await gate;
        return id;
      });
      await isAppended;
      const id = await write();
      const isSealed = await service.app.get(BatchSealer).sealNow(bot.id);
      const exported = await bot.get('/audit/export');
      end();
      expect(isSealed).toBe(false);
      // Its signed end would say that it is the whole log.
      expectFailure(exported, 503, 'service_unavailable');
      const low = (await prove(await unit)).event.seq;
      expect((await prove(id)).event.seq).toBeGreaterThan(low);
      expect(await verified(service, bot)).toMatchObject({ events: 2, unsealed: 0, found: [] });
    });

    it('does not wait for a transaction that writes no event', async () => {
      const other = new PgClient({ connectionString: service.database.url });
      await other.connect();
      await other.query('BEGIN');
      await other.query('SELECT pg_current_xact_id()');
      const id = await write();
      await seal(service, bot);
      await other.query('ROLLBACK');
      await other.end();
      expect((await prove(id)).event.id).toBe(id);
    });
  });
}

async function heads(): Promise<number[]> {
  const rows = await service.database.rows<{ last_seq: number }>(
    'SELECT last_seq FROM audit_heads WHERE bot_id = ?',
    bot.id,
  );
  return rows.map(({ last_seq: last }) => last);
}
