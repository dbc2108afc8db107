import { Signer } from '@app/crypto';
import type { AuditProof, KeySet } from '@lethe/sdk/evidence/web';
import { checkEvent, checkLog } from '../../apps/console/src/pages/audit-check';
import { csvOf } from '../../apps/console/src/pages/audit-csv';
import { askedBy, type AuditFilter, beginOf, searchOf } from '../../apps/console/src/pages/audit-filter';
import { type Read, rowsOf, screenOf, type ShownEvent } from '../../apps/console/src/pages/audit-walk';
import { lineOf } from '../../apps/console/src/pages/audit-line';
import { type Kind, wordFor } from '../../apps/console/src/words';
import type { Bot } from '../support/bot';
import { exported, payloadOf, seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let gone: SubjectIds;
let keys: KeySet;

beforeAll(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  [who, gone] = [subject(), subject()];
  for (const each of [who, gone]) {
    await bot.hasConsent(each);
    await bot.hasData(each, 'profile', { value: 'x' });
    await seal(service, bot);
  }
  await bot.post('/audit/event', {
    ...who,
    event_type: 'data_deleted',
    details: { nested: [{ a: 'ü' }, null] },
  });
  await bot.hasForgotten(gone);
  await seal(service, bot);
  keys = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
});

type Shown = readonly ShownEvent[];
const shown = async (query = '', size = 100): Promise<Shown> =>
  (await bot.get<{ events: Shown }>(`/audit/events?page_size=${size}${query}`)).data.events;
const proofOf = async (id: string) =>
  (await bot.get<AuditProof & Record<string, unknown>>(`/audit/proof/${id}`)).data;

/** A check of the whole log; `change` plays a service or a network that changes a line. */
async function check(
  events: Shown,
  filter: AuditFilter = {},
  change: (line: string) => string = (line) => line,
  of = bot.id,
  by = keys,
) {
  lines ??= await exported(bot);
  const read: number[] = [];
  const found = await checkLog(of, streamOf(lines.map(change)), by, { events, filter }, (count) => {
    read.push(count);
  });
  return { ...found, read };
}

/** The log does not change. */
let lines: readonly string[] | undefined;

async function* streamOf(given: readonly string[]): AsyncGenerator<string, void, undefined> {
  for (const line of given) yield await Promise.resolve(line);
}

describe('the check of the whole log in the browser', () => {
  it('holds, tells how far it is, and compares what a page shows, also of erased users, in pages and with filters', async () => {
    const all = await shown();
    expect(all.filter(({ erased }) => erased === true).length).toBeGreaterThan(3);
    const found = await check(all);
    expect(found).toMatchObject({ result: 'holds', events: all.length, shown: all.length, erasedSince: 0 });
    expect(found.read.at(-1)).toBe(all.length);
    for (let page = 1; page <= 3; page++)
      expect(await check(await shown(`&page=${page}`, 4))).toMatchObject({ result: 'holds' });
    const filters: readonly (readonly [string, AuditFilter])[] = [
      ['&event_type=data_submitted', { type: 'data_submitted' }],
      ...[who, gone].map(
        ({ user_id: user, guild_id: server }) =>
          [`&user_id=${user}&guild_id=${server}`, { user, server }] as const,
      ),
    ];
    for (const [query, filter] of filters)
      expect(await check(await shown(query), filter)).toMatchObject({ result: 'holds' });
    const client = all.filter(({ source }) => source === 'client');
    expect(client).toHaveLength(1);
    expect(await check(client, { source: 'client' })).toMatchObject({ result: 'holds', shown: 1 });
    expect(await check([])).toMatchObject({ result: 'holds', shown: 0 });
  });

  it.each(['id', 'user_id', 'guild_id', 'event_type', 'source', 'details', 'created_at', 'erased'])(
    'fails for an event that is shown with another %s than was sealed',
    async (field) => {
      const all = await shown();
      for (const [at, event] of all.entries()) {
        // The ids of an erased user are not shown as sealed: both are hidden.
        if (event.erased === true && field.endsWith('_id')) continue;
        if (event.erased === true && field === 'erased') continue;
        const others: Record<string, unknown> = { details: { other: 1 }, erased: true };
        const other = all.with(at, { ...event, [field]: others[field] ?? `${event.id.slice(0, -2)}zz` });
        expect([field, at, await check(other)]).toEqual([
          field,
          at,
          expect.objectContaining({ result: 'fails' }),
        ]);
      }
    },
  );

  it('counts apart the events whose user was erased after the page was loaded', async () => {
    const all = await shown();
    const at = all.findIndex(({ erased }) => erased === true);
    const before: ShownEvent = {
      ...(all[at] as ShownEvent),
      ...gone,
      erased: false,
      details: { was: 'there' },
    };
    expect(await check(all.with(at, before))).toMatchObject({
      ...{ result: 'holds', shown: all.length - 1, erasedSince: 1 },
    });
  });

  it('fails for an event that is left out between the first and the last', async () => {
    const all = await shown();
    for (let at = 1; at < all.length - 1; at++)
      expect(await check(all.toSpliced(at, 1))).toMatchObject({ why: 'missing', eventId: all[at]?.id });
    const own = await shown(`&user_id=${who.user_id}`);
    const finding = await check(own.toSpliced(1, 1), { user: who.user_id });
    expect(finding).toMatchObject({ result: 'fails', why: 'missing', eventId: own[1]?.id });
  });

  it('fails for a log that is changed on its way, cut, of another bot or of other keys', async () => {
    const all = await shown();
    const changed = (line: string): string => line.replace('"data_submitted"', '"data_exported"');
    expect(await check(all, {}, changed)).toMatchObject({ result: 'fails', why: 'signature' });
    const cut = (part: string) => (line: string) => (line.includes(part) ? '' : line);
    for (const part of ['"type":"log"', '"type":"batch"', '"type":"end"'])
      expect(await check(all, {}, cut(part))).toMatchObject({ result: 'fails', why: 'signature' });
    expect(await check(all, {}, undefined, 'another')).toMatchObject({ why: 'foreign' });
    const foreign = { keys: keys.keys.map((key) => ({ ...key, x: 'A'.repeat(43) })) };
    expect(await check(all, {}, undefined, bot.id, foreign)).toMatchObject({ why: 'signature' });
  });
});

describe('the check of one event', () => {
  it('holds of its proof, and of no other event, bot, key or signature', async () => {
    const [event, other] = (await shown(`&user_id=${who.user_id}`)) as [ShownEvent, ShownEvent];
    const proof = await proofOf(event.id);
    const { sealed_at: sealedAt } = payloadOf(proof.checkpoint);
    expect(await checkEvent(bot.id, event, proof, keys)).toEqual({ result: 'holds', sealedAt });
    expect(await checkEvent(bot.id, other, proof, keys)).toMatchObject({ why: 'unknown' });
    expect(await checkEvent('another', event, proof, keys)).toMatchObject({ why: 'foreign' });
    const differing = { ...event, details: {} };
    expect(await checkEvent(bot.id, differing, proof, keys)).toMatchObject({ why: 'differs' });
    const checkpoint = await service.app.get(Signer).sign(payloadOf(proof.checkpoint), 'lethe-other+jwt');
    const signed = { ...proof, checkpoint };
    expect(await checkEvent(bot.id, event, signed, keys)).toMatchObject({ why: 'signature' });
  });
});

const DAY_MS = 86_400_000;
const FIRST = beginOf('2026-03-01');

/** The n-th newest of `count` events, three hours apart; every tenth is of the bot itself. */
function made(count: number): ShownEvent[] {
  return [...Array(count).keys()].map((n) => ({
    ...{ id: `id-${n}`, user_id: '1', guild_id: '2', event_type: 'data_submitted', details: null },
    source: n % 10 === 9 ? 'client' : 'service',
    created_at: new Date(FIRST + ((count - n) * DAY_MS) / 8).toISOString(),
  }));
}

/** A service that has these events, whose cursors are places. Counts its calls. */
function served(events: readonly ShownEvent[]): { read: Read; calls: () => number } {
  let calls = 0;
  const read: Read = ({ after, page = 1, page_size: size }) => {
    calls += 1;
    const begin = after === undefined ? (page - 1) * size : Number(after.slice(1));
    const end = begin + size;
    const next = end < events.length ? `p${end}` : null;
    return Promise.resolve({ events: events.slice(begin, end), total: events.length, next });
  };
  return { read, calls: () => calls };
}

/** The ids of all screens. */
async function walked(read: Read, filter: AuditFilter): Promise<string[][]> {
  const screens: string[][] = [];
  for (let place = undefined as Parameters<typeof screenOf>[2] | null; place !== null;) {
    const screen = await screenOf(read, filter, place);
    screens.push(screen.events.map(({ id }) => id));
    place = screen.next ?? null;
  }
  return screens;
}

describe('the walk of the page of the log', () => {
  it.each([
    ['everything', {}],
    ['a source', { source: 'client' }],
    ['a period', { from: '2026-03-20', to: '2026-04-10' }],
    ['a first day', { from: '2026-04-20' }],
    ['a last day', { to: '2026-03-02' }],
    ['a source in a period', { source: 'client', from: '2026-03-05', to: '2026-04-10' }],
    ['a period without events', { from: '2020-01-01', to: '2020-12-31' }],
  ] as const)('shows each event once that fits %s, in screens of 20', async (_, filter: AuditFilter) => {
    const events = made(555);
    const { from = '2000-01-01', to = '2100-01-01', source } = filter;
    const fitting = events.filter(
      (event) =>
        (source === undefined || source === event.source) &&
        Date.parse(event.created_at) >= beginOf(from) &&
        Date.parse(event.created_at) < beginOf(to) + DAY_MS,
    );
    const { read } = served(events);
    const screens = await walked(read, filter);
    expect(screens.flat()).toEqual(fitting.map(({ id }) => id));
    expect(screens.every((ids) => ids.length <= 20)).toBe(true);
    const { rows, isWhole } = await rowsOf(read, filter, 5_000, () => undefined);
    expect([rows.map(({ id }) => id), isWhole]).toEqual([screens.flat(), true]);
  });

  it('finds a day in a log of a million events by 21 calls', async () => {
    const events = made(2_000);
    const { read, calls } = served(events);
    // As if each page had 500 times as many events.
    const large: Read = async ({ page, ...given }) => ({
      ...(await read({ ...given, ...(page !== undefined && { page: Math.ceil(page / 500) }) })),
      total: 1_000_000,
    });
    await screenOf(large, { to: '2026-03-10' });
    expect(calls()).toBeLessThanOrEqual(21);
  });

  it('ends a look that finds nothing after ten calls, says how far it was, and goes on from there', async () => {
    const events = made(3_000).map((event) => ({ ...event, source: 'service' }));
    const { read, calls } = served(events);
    const screen = await screenOf(read, { source: 'client' });
    expect(calls()).toBe(10);
    expect(screen).toMatchObject({ events: [], lookedTo: events[919]?.created_at, next: { after: 'p920' } });
    expect((await walked(read, { source: 'client' })).flat()).toEqual([]);
  });

  it('reads a bounded number of rows for a file, and says that there are more', async () => {
    const { read, calls } = served(made(3_000));
    const { rows, isWhole } = await rowsOf(read, {}, 500, () => undefined);
    expect([rows.length, isWhole, calls()]).toEqual([520, false, 6]);
  });
});

describe('the address of the page of the log', () => {
  it('has all that is asked for, and is read as it was written', () => {
    const filter: AuditFilter = {
      ...{ type: 'data_submitted', server: '1'.repeat(18), user: '2'.repeat(18) },
      ...{ source: 'client', from: '2026-03-01', to: '2026-03-02' },
    };
    const place = { after: 'a-b_c.d', skip: 3 };
    expect(askedBy(searchOf(filter, place))).toEqual({ filter, place, bad: [] });
    expect(askedBy(searchOf({}))).toEqual({ filter: {}, bad: [] });
  });

  it.each([
    'type=x',
    'server=1',
    'user=x',
    'source=',
    'source=bot',
    'from=2026-13-01',
    'to=1.3.2026',
    'after=%22',
    'skip=-1',
  ])('applies nothing of %s', (search) => {
    const { filter, place, bad } = askedBy(search);
    expect([filter, place]).toEqual([{}, undefined]);
    const isFilter = !/^(after|skip|source=$)/.test(search);
    expect(bad).toEqual(isFilter ? [search] : []);
  });
});

describe('the rows as a file and as a line', () => {
  const [event] = made(1) as [ShownEvent];

  it('quotes what CSV needs, and calculates nothing in a spreadsheet', () => {
    const details = { a: '"x",\n' };
    const text = csvOf([
      { ...event, details, event_type: '=1+1' },
      { ...event, erased: true },
    ]);
    expect(text.split('\r\n')[1]).toContain(`,'=1+1,service,,1,2,false,"{""a"":""\\""x\\"",\\n""}",id-0`);
    expect(text.split('\r\n')[2]).toContain(',data_submitted,service,,,,true,,id-0');
  });

  it.each(['=', '+', '-', '@', '\t', '\r'])(
    'puts an apostrophe before a cell that begins with %j',
    (sign) => {
      const text = csvOf([{ ...event, id: `${sign}1` }]);
      expect(text).toContain(sign === '\r' ? `"'${sign}1"\r\n` : `,'${sign}1\r\n`);
    },
  );

  it('has the details in one line, without the actor of the service, and cut', () => {
    const details = { actor: 'console', category: 'birthday', keys: ['a', 'b'], of: { n: 1 } };
    expect(lineOf({ ...event, details })).toBe('category: birthday · keys: a, b · of: {"n":1}');
    expect(lineOf({ ...event, source: 'client', details })).toMatch(/^actor: console · /);
    // An act that has a word is named as the event; one of a bot or a module is a detail as any other.
    expect(lineOf({ ...event, details: { act: 'objection', category: 'stats' } })).toBe('category: stats');
    expect(lineOf({ ...event, details: { act: 'toString' } })).toBe('act: toString');
    expect(lineOf({ ...event, source: 'client', details: { act: 'objection' } })).toBe('act: objection');
    // The column of the actor says where.
    expect(lineOf({ ...event, details: { actor: 'privacy_page', via: 'privacy_page' } })).toBe('');
    expect(lineOf({ ...event, details: { long: 'x'.repeat(9_000) } }).length).toBeLessThan(250);
  });

  it('has words for what the service writes, and leaves what a bot writes', () => {
    const wording = {
      named: (kind: Kind, value: string) => wordFor('de', kind, value) ?? value,
      labelOf: (key: string) => `Label of ${key}`,
    };
    const details = { format: 'full', scope: 'all_guilds', via: 'privacy_page' };
    expect(lineOf({ ...event, details }, wording)).toBe(
      'Format: alles · Umfang: alle Server · Wo: Datenschutzseite',
    );
    const removed = { category: 'a', categories: ['b', 'c'], reason: 'retention', toString: 'x' };
    expect(lineOf({ ...event, details: removed }, wording)).toBe(
      'Kategorie: Label of a · Kategorien: Label of b, Label of c · Grund: in seiner Frist nicht erneuert · toString: x',
    );
    expect(lineOf({ ...event, source: 'client', details }, wording)).toBe(
      'format: full · scope: all_guilds · via: privacy_page',
    );
  });
});
