import { SubjectKey } from '@app/crypto';
import { ConcurrentChange } from '@app/database';
import { SystemClock, SystemRandom } from '@app/kernel';
import { detailsContext, DigestKey } from '@app/primitives';
import { ERASED_IDS } from '@app/subjects';
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
function eventOf(at: number, key: SubjectKey, kind = at % 4): EventRow {
  const [id, createdAt] = [random.uuid(), clock.nowIso()];
  const { guild_id, user_id } = key.ids ?? ERASED_IDS;
  const ids = {
    guild_id: digestKey.of(BOT, 'guild', guild_id),
    user_id: digestKey.of(BOT, 'user', user_id),
  };
  const by = kind < 2 ? key : service;
  const text = kind === 1 ? 'null' : JSON.stringify({ category: `ä${at}` });
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
    const gone = newKey('gone');
    const events = eventsOf([gone], 1);
    gone.wipe();
    await expect(seal(events)).rejects.toThrow(ConcurrentChange);
  });
});
