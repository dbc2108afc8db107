import { connect, type Socket } from 'node:net';
import type { LetheHttpAdapter } from '@app/http';
import { type Bot, field } from '../support/bot';
import { type Answer, PREFIX } from '../support/client';
import { engine } from '../support/database';
import { someOf } from '../support/depth';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const READERS_PER_BOT = 2;
/**
 * Fewer than the readers of all bots, and more than are cut, so that one of the first readers hangs to the end: two are cut for
 * the readers that wait, and one for each of three calls.
 */
const STREAMS_MAX = 6;
/** More than the buffers of a connection hold. */
const PARTS = 6;
const PART_LENGTH = 2 ** 21;

const service = useServiceInProcess({
  STREAMS_MAX: String(STREAMS_MAX),
  STREAMS_PER_BOT: String(READERS_PER_BOT),
  BODY_LIMIT_BYTES: '8388608',
  DATA_LIMIT_BYTES: '8388608',
  DETAILS_LIMIT_BYTES: '8388608',
  DECLARATION_LIMIT_BYTES: '262144',
  // The readers hang until the end of the test, unless they are cut for a call that waits.
  READER_TIMEOUT_MS: '3600000',
});
/** The service ends the answer of this one, which holds nothing. */
const HALF_CLOSED = 'close their half of the connection and take nothing';
/** A call that has to wait is refused after this time, in milliseconds: no machine is so busy. */
const WAIT_MS = 3_600_000;
const slots = () => (service.app.getHttpAdapter() as unknown as LetheHttpAdapter).slots;

interface Greedy {
  readonly bot: Bot;
  readonly who: SubjectIds;
}

const greedy: Greedy[] = [];
let innocent: Bot;
/** A user in two guilds, one with an export that is streamed. */
let everywhere: SubjectIds[];

beforeAll(async () => {
  slots().waitMs = WAIT_MS;
  innocent = await service.registerBot();
  await innocent.hasCategory('profile');
  for (let count = 0; count < 4; count++) greedy.push(await large());
});
beforeEach(async () => {
  const first = subject();
  everywhere = [first, { ...first, guild_id: snowflake() }];
  for (const [at, who] of everywhere.entries()) {
    await innocent.hasConsent(who);
    await innocent.hasData(who, 'profile', { value: 'x'.repeat(at * 1_000_000) });
  }
});

/** A bot with a user, a log and declarations of 12 MB each. */
async function large(): Promise<Greedy> {
  const [bot, who] = [await service.registerBot(), subject()];
  await bot.hasConsent(who);
  const description = '€'.repeat(4_000);
  const fields = Array.from({ length: 19 }, (_, at) => ({ ...field(`field_${at}`), description }));
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => bot.hasCategory(`category_${at}`, [...fields, field('value')])),
  );
  for (let at = 0; at < PARTS; at++) {
    const value = String(at).repeat(PART_LENGTH);
    await bot.hasData(who, `category_${at}`, { value });
    if (reads('an audit export'))
      await bot.post('/audit/event', { ...who, event_type: 'data_submitted', details: { value } });
  }
  return { bot, who };
}

const DOCUMENTS: Record<string, (of: Greedy) => string> = {
  'an export': ({ who }) => `/data/export/${who.user_id}?guild_id=${who.guild_id}&format=full`,
  'an export of all guilds': ({ who }) => `/data/export/${who.user_id}?scope=all_guilds`,
  'a processing record': ({ bot }) => `/bots/${bot.id}/processing-record`,
  'a processing record in Markdown': ({ bot }) => `/bots/${bot.id}/processing-record?format=markdown`,
  'an audit export': () => '/audit/export',
  'a large page': () => '/data/categories?page_size=100',
};

/** How the readers take what they have asked for. */
const READERS: Record<string, (socket: Socket, request: string) => void> = {
  'take nothing': (socket, request) => void socket.pause().write(request),
  'take one byte a second': (socket, request) => {
    socket.write(request);
    const timer = setInterval(() => socket.resume(), 1_000);
    socket.on('close', () => clearInterval(timer));
  },
  'take 1 MB and then nothing': (socket, request) => {
    let left = 1_000_000;
    socket.on('data', (chunk: Buffer) => (left -= chunk.length) < 0 && socket.pause()).write(request);
  },
  'ask twenty times on a connection and take nothing': (socket, request) =>
    void socket.pause().write(request.repeat(20)),
  [HALF_CLOSED]: (socket, request) => void socket.pause().end(request),
};

const open: Socket[] = [];
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await until(async () => (await innocent.get(`/bots/${innocent.id}/processing-record`)).status === 200);
});

/** Opens as many readers as each bot may have. */
async function begin(read: (typeof READERS)[string], path: (of: Greedy) => string): Promise<void> {
  for (const of of greedy) {
    const headers = `Host: localhost\r\nAuthorization: Bearer ${of.bot.key}\r\n\r\n`;
    for (let count = 0; count < READERS_PER_BOT; count++) {
      // A buffer of one byte: each turn of a reader that is resumed takes one.
      const onread = read === READERS['take one byte a second'] && {
        buffer: Buffer.alloc(1),
        callback: () => false,
      };
      const socket = connect({
        ...{ port: service.port, host: '127.0.0.1', allowHalfOpen: true },
        ...(onread && { onread }),
      });
      socket.on('error', () => undefined);
      open.push(socket);
      read(socket, `GET ${PREFIX}${path(of)} HTTP/1.1\r\n${headers}`);
    }
  }
  // Every open answer has filled the buffers of its connection.
  if (read !== READERS[HALF_CLOSED]) await until(() => slots().stalled === STREAMS_MAX);
}

/** Whether a transaction waits for a reader: on SQLite it would keep the write-ahead log from being taken over. */
async function isHeld(): Promise<boolean> {
  if (engine === 'sqlite') {
    const checkpoint = 'PRAGMA main.wal_checkpoint(TRUNCATE)';
    return service.database.session(async (rows) => {
      // The service is in this process: waiting would stop it.
      await rows('PRAGMA busy_timeout = 0');
      return (await rows<{ busy: number }>(checkpoint))[0]?.busy !== 0;
    });
  }
  const sql = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`;
  return (await service.database.rows(sql)).length > 0;
}

/** The call is answered although readers hang. */
async function isAnswered(request: () => Promise<Answer<unknown>>, areHanging: boolean): Promise<void> {
  expect((await request()).status).toBe(200);
  if (areHanging) expect(slots().stalled).toBeGreaterThan(0);
}

/** All that the law asks of another bot, at once. */
async function lawfulCalls(areHanging: boolean): Promise<void> {
  const [small, streamed] = everywhere as [SubjectIds, SubjectIds];
  const user = small.user_id;
  const erased = subject();
  await innocent.hasConsent(erased);
  await Promise.all(
    [
      () => innocent.export(small),
      () => innocent.export(streamed, '&format=full'),
      () => innocent.get(`/bots/${innocent.id}/processing-record`),
      () => innocent.get('/audit/breach-scope?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z'),
      () => innocent.post('/gdpr/forget-user', erased),
    ].map((call) => isAnswered(call, areHanging)),
  );
  await isAnswered(() => innocent.get(`/data/export/${user}?scope=all_guilds`), areHanging);
  await isAnswered(
    () => innocent.post('/gdpr/forget-user', { user_id: user, scope: 'all_guilds' }),
    areHanging,
  );
  expect((await innocent.export(streamed)).status).toBe(404);
}

const cases = Object.keys(READERS).flatMap((reader) =>
  Object.keys(DOCUMENTS).map((document) => [document, reader] as const),
);

const taken = someOf(cases, 5);

/** Whether a case of this depth has the document. */
function reads(document: string): boolean {
  return taken.some(([name]) => name === document);
}

describe('readers of several bots that hold every large answer', () => {
  it.each(taken)('of %s, and %s, delay no lawful call of another bot', async (document, reader) => {
    await begin(READERS[reader]!, DOCUMENTS[document]!);
    await until(async () => !(await isHeld()));
    await lawfulCalls(reader !== HALF_CLOSED);
  });
});
