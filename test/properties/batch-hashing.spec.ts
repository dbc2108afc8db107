import { detailsContext, DigestKey, ERASED_IDS, SubjectKey } from '@app/crypto';
import { ConcurrentChange } from '@app/database';
import { SystemClock, SystemRandom } from '@app/kernel';
import { createHash, createHmac } from 'node:crypto';
import { EventCommitments, type EventRow, type StoredEvents, unpacked } from '@app/sealing';

const BOT = 'bot-1';
const clock = new SystemClock();
const random = new SystemRandom(clock);
const newKey = (id: string): SubjectKey =>
  new SubjectKey(id, random.bytes(32), random, { guild_id: '900', user_id: `user of ${id}` });

const digest = random.bytes(32);
const digestKey = new DigestKey(digest);
const service = newKey('evidence');
const commitments = new EventCommitments(digest, service);

/** One of four kinds: with details and without, and about an erasure, of a subject that is erased or lives anew. */
function eventOf(at: number, key: SubjectKey, kind = at % 4, note = ''): EventRow {
  const [id, createdAt] = [random.uuid(), clock.nowIso()];
  const { guild_id, user_id } = key.ids ?? ERASED_IDS;
  const ids = {
    guild_id: digestKey.of(BOT, 'guild', guild_id),
    user_id: digestKey.of(BOT, 'user', user_id),
  };
  const by = kind < 2 ? key : service;
  const text = kind === 1 ? 'null' : JSON.stringify({ category: `ä${at}${note}` });
  return {
    ...{ seq: at + 1, id, event_type: 'data_submitted', source: 'service', created_at: createdAt },
    ...ids,
    ...(kind === 2 ? { key_id: null, key_sealed: null } : { key_id: key.id, key_sealed: 'v2.' }),
    details: by.encrypt(text, detailsContext(BOT, ids.guild_id, ids.user_id, id)),
  };
}

function eventsOf(of: readonly SubjectKey[], count: number): StoredEvents {
  const keyAt = (at: number): SubjectKey => of[at % of.length] ?? service;
  const rows = Array.from({ length: count }, (_, at) => eventOf(at, keyAt(at)));
  return { rows, keys: rows.map(({ key_id: id }, at) => (id === null ? undefined : keyAt(at))) };
}

const keys = Array.from({ length: 7 }, (_, at) => newKey(`key-${at}`));
const seal = ({ rows, keys: of }: StoredEvents) => commitments.seal(BOT, rows, of);

/** Each part after its length, made in the plainest way. */
const framed = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const [bytes, length] = [Buffer.from(part), Buffer.alloc(4)];
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
const sha256 = (first: number, ...parts: readonly Buffer[]): Buffer =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.of(first), ...parts]))
    .digest();

describe('the hashing of a batch', () => {
  afterEach(() => jest.restoreAllMocks());

  it('gives other work its turn after 5 ms, and computes the same', async () => {
    const events = eventsOf(keys, 500);
    const expected = await seal(events);
    let [nowMs, isOver] = [0, false];
    /** The number of events in each turn of the event loop. */
    const turns = [0];
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const open = Reflect.get(EventCommitments.prototype, 'open');
    jest.spyOn(commitments, 'open').mockImplementation((...given) => {
      nowMs += 2;
      turns.push((turns.pop() ?? 0) + 1);
      return open.apply(commitments, given);
    });
    const turn = (): void => {
      turns.push(0);
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    expect(await seal(events)).toStrictEqual(expected);
    isOver = true;
    expect(turns.reduce((sum, each) => sum + each)).toBe(500);
    expect(Math.max(...turns)).toBe(3);
  });

  it('commits to details of any length as a plain computation does', async () => {
    for (const length of [0, 1, 20_000, 300_000]) {
      const [key, row] = [keys[0]!, eventOf(0, keys[0]!, 0, 'ä'.repeat(length))];
      const { id, details, guild_id, user_id } = row;
      const salts = key.salts(id);
      const commitment = sha256(
        4,
        sha256(3, framed('user', salts.user, key.ids!.user_id)),
        sha256(3, framed('guild', salts.guild, key.ids!.guild_id)),
        sha256(3, framed('details', salts.details, JSON.stringify({ category: `ä0${'ä'.repeat(length)}` }))),
      );
      const fields = [BOT, '1', id, row.event_type, row.source, row.created_at];
      const leaf = sha256(0, framed(...fields, commitment));
      const identities = createHmac('sha256', digest).update('audit-identities/');
      expect(await seal({ rows: [row], keys: [key] })).toStrictEqual({
        entries: Buffer.concat([commitment, Buffer.of(0), leaf.subarray(0, 7)]).toString('base64url'),
        root: leaf.toString('base64url'),
        identities: identities.update(framed(id, user_id, guild_id, details, '0')).digest('base64url'),
      });
    }
  });

  it('takes turns with another batch, and mixes nothing of the two', async () => {
    const batches = [eventsOf(keys, 200), eventsOf(keys, 150)];
    const expected = [await seal(batches[0]!), await seal(batches[1]!)];
    let nowMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 2));
    expect(await Promise.all(batches.map(seal))).toStrictEqual(expected);
  });

  it('commits with random salts to details that cannot be decrypted, and says so', async () => {
    const closed = eventOf(0, newKey('lost'));
    const bare = { ...closed, details: '{"category":"not encrypted"}' };
    const erased = { ...closed, key_id: null, key_sealed: null };
    const events = {
      rows: [closed, closed, bare, erased],
      keys: [undefined, undefined, keys[0], undefined],
    };
    const { entries } = await seal(events);
    const [first, second, ...others] = unpacked(entries) ?? [];
    expect([first, second, ...others].map((entry) => entry?.saltedBy)).toStrictEqual(Array(4).fill(2));
    expect(first?.commitment.equals(second?.commitment ?? Buffer.alloc(0))).toBe(false);
  });

  it('asks for the events to be read again when a key was destroyed meanwhile', async () => {
    const destroyed = newKey('destroyed');
    const events = eventsOf([destroyed], 1);
    destroyed.wipe();
    await expect(seal(events)).rejects.toThrow(ConcurrentChange);
  });
});
