import { type Tx, UnitOfWork } from '@app/database';
import { BatchPlace, batchesAfter, EventOpener, faultsOf, NO_CHAIN } from '@app/sealing';
import type { Bot } from '../support/bot';
import { engine } from '../support/database';
import { atDepth, itInPart } from '../support/depth';
import { seal, verified, withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

/** Rounds of the large log; each adds a batch of more than 20 events. */
const ROUNDS = atDepth(4, 52);
/** None of this depends on the database: one engine checks every event, the other one some of them. */
const STEP = engine === 'sqlite' ? 1 : 8;

const service = useServiceInProcess();
let large: Bot;
let bot: Bot;
let other: Bot;

type Row = Record<string, string | number | null>;

/** Adds events of all kinds to a log, seals each round as a batch, and erases some of the users. */
async function grown(rounds: number): Promise<Bot> {
  const one = await service.registerBot();
  await one.hasCategory('profile');
  for (let round = 0; round < rounds; round++) {
    const [who, another] = [subject(), subject()];
    for (const each of [who, another]) {
      await one.hasConsent(each);
      await one.hasData(each, 'profile', { value: 'x' });
    }
    const post = (details?: object) =>
      one.post('/audit/event', { ...(details ? who : subject()), event_type: 'data_deleted', details });
    const bare = Array.from({ length: 12 }, () => post());
    await Promise.all([post({ round }), post({ round, more: [1, 'ü', null] }), ...bare]);
    if (round % 5 === 0) await one.hasForgotten(another);
    await seal(service, one);
    if (round % 7 === 0) await one.hasForgotten(who);
  }
  await seal(service, one);
  return one;
}

beforeAll(async () => {
  large = await grown(ROUNDS);
  bot = await grown(8);
  other = await service.registerBot();
  // From here on the job does not seal the changes of the tests.
  await withoutSealing(service);
});

const rowsOf = (table: string, order: string) =>
  service.database.rows<Row>(`SELECT * FROM ${table} WHERE bot_id = ? ORDER BY ${order}`, bot.id);

/** Another value of the same kind. */
function changed(column: string, value: string | number | null): string | number {
  if (typeof value === 'number') return value + (column === 'seq' ? 100_000 : 1);
  if (value === null) return 'planted';
  if (column === 'source') return value === 'client' ? 'service' : 'client';
  const at = value.length - 1;
  return value.slice(0, at) + (value.endsWith('1') ? '2' : '1');
}

describe('AuditVerifier', () => {
  itInPart('finds nothing where nothing was changed', async () => {
    const summary = await verified(service, large);
    expect(summary).toMatchObject({ unsealed: 0, found: [] });
    expect(summary.events).toBeGreaterThan(20 * ROUNDS);
    expect(summary.batches).toBeGreaterThanOrEqual(ROUNDS);
    expect(summary.erased).toBeGreaterThan(ROUNDS);
  });

  itInPart('finds every change of every single field of every event', async () => {
    const opener = service.app.get(EventOpener);
    const missed: unknown[] = [];
    let fields = 0;
    let place: BatchPlace = { number: 0, last_seq: 0, chain: NO_CHAIN };
    for (let part = await partAfter(place); part !== undefined; part = await partAfter(place)) {
      const { batch, rows, events } = part;
      expect(faultsOf(opener.commitments, batch, events, place)).toEqual([]);
      for (const [index, row] of rows.entries()) {
        if (index % STEP > 0) continue;
        for (const [column, planted] of changesOf(row)) {
          fields += 1;
          const [event] = await opener.read(reading([{ ...row, [column]: planted }]), large.id, 0, 0, 1);
          const tampered = events.with(index, event!).sort((a, b) => a.seq - b.seq);
          if (faultsOf(opener.commitments, batch, tampered, place).length === 0)
            missed.push([row, column, planted]);
        }
      }
      place = batch;
    }
    expect(missed).toEqual([]);
    expect(fields).toBeGreaterThan((150 * ROUNDS) / STEP);
  });

  it('finds a change of each column of an event, for every kind of subject, and where it is', async () => {
    const events = await rowsOf('audit_events', 'seq');
    const { erased, completed, plain, bare } = await kindsOf(events);
    for (const row of [erased, completed, plain, bare]) {
      for (const [column, planted] of changesOf(row)) {
        const value = column === 'bot_id' ? other.id : planted;
        const found = await whileChanged('audit_events', { seq: row['seq'] ?? 0 }, { [column]: value });
        expect([column, found.length > 0]).toEqual([column, true]);
      }
    }
    const found = await whileChanged(
      'audit_events',
      { seq: plain['seq'] ?? 0 },
      { created_at: '2020-01-01T00:00:00.000Z' },
    );
    expect(found).toStrictEqual([expect.objectContaining({ fault: 'event_changed', seq: plain['seq'] })]);
    expect(await verified(service, bot)).toMatchObject({ found: [] });
  });

  it('finds that an event that was not erased is made to look as if', async () => {
    const events = await rowsOf('audit_events', 'seq');
    const { erased, plain } = await kindsOf(events);
    const { user_id = '', guild_id = '', details = '' } = erased;
    const plants: Row[] = [{ details }, { user_id, guild_id, details }];
    for (const planted of plants) {
      const found = await whileChanged('audit_events', { seq: plain['seq'] ?? 0 }, planted);
      expect(found).toContainEqual(expect.objectContaining({ fault: 'batch' }));
    }
  });

  it('finds a change of each column of each table that seals', async () => {
    for (const [table, key] of [
      ['audit_batches', 'number'],
      ['audit_heads', 'bot_id'],
    ] as const) {
      const rows = await rowsOf(table, key);
      for (const row of [rows[0], rows.at(-1), rows[Math.floor(rows.length / 2)]]) {
        for (const [column, value] of Object.entries(row ?? {})) {
          const planted =
            column === 'bot_id'
              ? other.id
              : column === 'number' && table === 'audit_batches'
                ? 9_999
                : changed(column, value);
          const found = await whileChanged(table, { [key]: row?.[key] ?? 0 }, { [column]: planted });
          expect([table, column, found.length > 0]).toEqual([table, column, true]);
        }
      }
    }
    expect(await verified(service, bot)).toMatchObject({ found: [] });
  });

  it('finds an event that was removed, and says between which', async () => {
    const [row] = await rowsOf('audit_events', 'seq DESC');
    const events = await rowsOf('audit_events', 'seq');
    for (const gone of [events[0], events[77], row]) {
      await removed('audit_events', gone ?? {});
      const { found } = await verified(service, bot);
      await added('audit_events', gone ?? {});
      expect(found).toContainEqual(expect.objectContaining({ fault: 'event_missing' }));
      expect(found).toContainEqual(expect.objectContaining({ fault: 'counts' }));
    }
  });

  it('finds two events that were exchanged', async () => {
    const events = await rowsOf('audit_events', 'seq');
    for (const [one, two] of [
      [events[10], events[11]],
      [events[30], events[130]],
    ]) {
      const [a, b] = [Number(one?.['seq']), Number(two?.['seq'])];
      const swap = async () => {
        for (const [from, to] of [
          [a, 999_999],
          [b, a],
          [999_999, b],
        ])
          await service.database.run(
            'UPDATE audit_events SET seq = ? WHERE bot_id = ? AND seq = ?',
            to!,
            bot.id,
            from!,
          );
      };
      await swap();
      const { found } = await verified(service, bot);
      await swap();
      expect(found.filter(({ fault }) => fault === 'event_changed').map(({ seq }) => seq)).toStrictEqual([
        a,
        b,
      ]);
    }
  });

  it('finds an event that was slipped in', async () => {
    const events = await rowsOf('audit_events', 'seq');
    const places = new Set(events.map(({ seq }) => Number(seq)));
    const first = Math.min(...places);
    // On PostgreSQL the places of one bot have gaps.
    const gap = [...places]
      .map((seq) => seq + 1)
      .find((seq) => !places.has(seq) && seq < Math.max(...places));
    for (const seq of [first - 1, first - 1_000, gap]) {
      if (seq === undefined) continue;
      const slipped = { ...events.at(-1), seq, id: '018f2f00-0000-7000-8000-000000000000' };
      await added('audit_events', slipped);
      const { found } = await verified(service, bot);
      await removed('audit_events', slipped);
      expect(found).toContainEqual(expect.objectContaining({ fault: 'event_added', seq }));
    }
  });

  it('finds batches that were removed at the beginning, in the middle and at the end', async () => {
    const batches = await rowsOf('audit_batches', 'number');
    for (const gone of [batches[0], batches[3], batches.at(-1)]) {
      await removed('audit_batches', gone ?? {});
      const { found } = await verified(service, bot);
      await added('audit_batches', gone ?? {});
      expect(found).toContainEqual(expect.objectContaining({ fault: 'batch' }));
    }
  });

  it('finds the end of a log removed together with its seals, by a checkpoint kept elsewhere', async () => {
    const { checkpoints } = (await bot.get<{ checkpoints: { checkpoint: string }[] }>('/audit/checkpoints'))
      .data;
    const [kept = ''] = checkpoints.map(({ checkpoint }) => checkpoint);
    const [batch = {}, before = {}] = await rowsOf('audit_batches', 'number DESC');
    const events = (await rowsOf('audit_events', 'seq')).filter(
      ({ seq }) => Number(seq) > Number(before['last_seq']),
    );
    const [head = {}] = await rowsOf('audit_heads', 'bot_id');
    await removed('audit_batches', batch);
    for (const event of events) await removed('audit_events', event);
    const { number = 0, last_seq = 0, chain = '' } = before;
    await change('audit_heads', {}, { number, last_seq, chain });
    const without = await verified(service, bot);
    const { found } = await verified(service, bot, [kept]);
    await change(
      'audit_heads',
      {},
      { number: head['number']!, last_seq: head['last_seq']!, chain: head['chain']! },
    );
    await added('audit_batches', batch);
    for (const event of events) await added('audit_events', event);
    expect(without.found).toStrictEqual([expect.objectContaining({ fault: 'counts' })]);
    expect(found).toContainEqual(expect.objectContaining({ fault: 'batch', batch: batch['number'] }));
    expect(await verified(service, bot, [kept])).toMatchObject({ found: [] });
  });

  it('says which key is missing when one was removed without an erasure', async () => {
    const sealed = await service.database.rows<Row>(
      `SELECT seq, stored.id, stored.sealed FROM audit_events event JOIN subjects ON subjects.bot_id = event.bot_id
         AND subjects.user_id = event.user_id AND subjects.guild_id = event.guild_id
         JOIN keys.subject_keys stored ON stored.id = subjects.key_id WHERE event.bot_id = ? ORDER BY seq`,
      bot.id,
    );
    const { seq, ...key } = sealed[0] ?? {};
    await service.database.run('DELETE FROM keys.subject_keys WHERE id = ?', key['id'] ?? '');
    const { found } = await verified(service, bot);
    await added('keys.subject_keys', key);
    expect(found).toContainEqual(expect.objectContaining({ fault: 'event_unreadable', seq }));
    expect(await verified(service, bot)).toMatchObject({ found: [] });
  });

  it('finds an erasure that was removed from the ledger, or changed there, so that a backup would undo it', async () => {
    const entries = await rowsOf('keys.erasure_ledger', 'request_id');
    const [entry = {}, another = {}] = entries;
    const { request_id = '' } = entry;
    const ledger = [expect.objectContaining({ fault: 'ledger' })];
    await removed('keys.erasure_ledger', entry);
    const without = (await verified(service, bot)).found;
    await added('keys.erasure_ledger', entry);
    // Its key is in no entry either.
    expect(without).toEqual(expect.arrayContaining(ledger));
    expect(without.filter(({ fault }) => fault === 'ledger')).toHaveLength(1);
    const { user_id = '', guild_id = '', key_id = '' } = another;
    const changes: Row[] = [{ user_id }, { guild_id }, { erased_at: '2020-01-01T00:00:00.000Z' }];
    for (const values of changes)
      expect(await whileChanged('keys.erasure_ledger', { request_id }, values)).toEqual(ledger);
    const found = await whileChanged('keys.erasure_ledger', { request_id }, { key_id });
    expect(found).toContainEqual(expect.objectContaining({ fault: 'event_unreadable' }));
    expect(await verified(service, bot)).toMatchObject({ found: [] });
  });

  it('finds that a subject was removed with its key, so that its events look erased', async () => {
    const [row = {}] = await rowsOf('subjects', 'key_id');
    await removed('subjects', row);
    const { found } = await verified(service, bot);
    await added('subjects', row);
    expect(found).not.toStrictEqual([]);
    expect(found.every(({ message }) => message.includes('no erasure of the user is on record'))).toBe(true);
    expect(await verified(service, bot)).toMatchObject({ found: [] });
  });
});

/** The next batch, the rows of its events, and their opener. */
async function partAfter({ number, last_seq: last }: BatchPlace) {
  const opener = service.app.get(EventOpener);
  return service.app.get(UnitOfWork).read(async (tx) => {
    const [batch] = await batchesAfter(tx, large.id, number, 1);
    if (batch === undefined) return undefined;
    let rows: Row[] = [];
    const all = async (sql: string, ...values: number[]) => (rows = await tx.all<Row>(sql, ...values));
    const events = await opener.read({ all } as unknown as Tx, large.id, last, batch.last_seq, 1_000);
    return { batch, rows, events };
  });
}

/** Plays a database with these rows. */
function reading(rows: readonly Row[]): Tx {
  return { all: async () => rows } as unknown as Tx;
}

/** Each column of the table with another value. */
function changesOf(row: Row): [column: string, planted: string | number | null][] {
  return Object.entries(row)
    .filter(([column]) => !column.startsWith('key_'))
    .flatMap(([column, value]): [string, string | number | null][] =>
      column === 'details'
        ? [
            [column, changed(column, value)],
            [column, '{"planted":true}'],
            // As of an erased subject.
            [column, String(value).replace(/^s2\.[\w-]+\./, 's2.AAAAAAAAAAAA.')],
          ]
        : [[column, changed(column, value)]],
    );
}

/** One event of each kind. */
async function kindsOf(
  events: readonly Row[],
): Promise<Record<'erased' | 'completed' | 'plain' | 'bare', Row>> {
  const held = await service.database.rows<{ key_id: string }>(
    'SELECT key_id FROM subjects WHERE bot_id = ?',
    bot.id,
  );
  const present = new Set(held.map(({ key_id: id }) => id));
  const find = (isOf: (row: Row, isErased: boolean) => boolean): Row => {
    const found = events.find((row) => isOf(row, !present.has(String(row['details']).split('.')[1] ?? '')));
    if (found === undefined) throw new Error('the log has not every kind of event');
    return found;
  };
  // The details of all other events are longer than those of an event without.
  const isBare = ({ details }: Row): boolean => String(details).split('.')[2]?.length === 43;
  return {
    erased: find((row, isErased) => isErased && row['event_type'] !== 'deletion_completed'),
    completed: find(({ event_type: type }) => type === 'deletion_completed'),
    plain: find((row, isErased) => !isErased && !isBare(row)),
    bare: find((row, isErased) => !isErased && isBare(row)),
  };
}

async function change(table: string, where: Row, values: Row): Promise<void> {
  const set = Object.keys(values).map((column) => `${column} = ?`);
  const and = Object.keys(where).filter((column) => column !== 'bot_id');
  await service.database.run(
    `UPDATE ${table} SET ${set.join(', ')} WHERE bot_id = ?${and.map((column) => ` AND ${column} = ?`).join('')}`,
    ...[...Object.values(values), bot.id, ...and.map((column) => where[column] ?? null)],
  );
}

/** The report of the verifier during a change. */
async function whileChanged(table: string, where: Row, values: Row) {
  const and = Object.keys(where).filter((column) => column !== 'bot_id');
  const [before = {}] = await service.database.rows<Row>(
    `SELECT * FROM ${table} WHERE bot_id = ?${and.map((column) => ` AND ${column} = ?`).join('')}`,
    ...[bot.id, ...and.map((column) => where[column] ?? null)],
  );
  await change(table, where, values);
  const { found } = await verified(service, bot);
  await service.database.run(
    `DELETE FROM ${table} WHERE bot_id = ?${and.map((column) => ` AND ${column} = ?`).join('')}`,
    ...[String(values['bot_id'] ?? bot.id), ...and.map((column) => values[column] ?? where[column] ?? null)],
  );
  await added(table, before);
  return found;
}

async function removed(table: string, row: Row): Promise<void> {
  const places: Record<string, string> = {
    audit_events: 'seq',
    audit_batches: 'number',
    subjects: 'key_id',
    'keys.erasure_ledger': 'request_id',
  };
  const place = places[table] ?? '';
  await service.database.run(
    `DELETE FROM ${table} WHERE bot_id = ? AND ${place} = ?`,
    bot.id,
    row[place] ?? 0,
  );
}

async function added(table: string, row: Row): Promise<void> {
  const columns = Object.keys(row);
  await service.database.run(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...Object.values(row),
  );
}
