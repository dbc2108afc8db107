import { HostSlots, type Slot } from './host-slots';

const TOTAL = 8;
let nowMs: number;
let slots: HostSlots;
beforeEach(() => {
  nowMs = 1_000_000;
  slots = new HostSlots(TOTAL, 2, () => nowMs);
});

/** A receiver: a bot and a host, or the only bot of its host. */
const at = (name: string, query = ''): Slot => {
  const [host = '', bot = host] = name.split('/').reverse();
  return [bot, `https://${host}.test/hook${query}`];
};
/** A call that takes so long. */
function call(name: string, durationMs: number): void {
  expect(slots.take(...at(name))).toBeUndefined();
  nowMs += durationMs;
  slots.release(...at(name), { outcome: 'confirmed', durationMs });
}
/** What each of so many calls to different receivers waits for. */
const taken = (count: number, name: string): (string | undefined)[] =>
  Array.from({ length: count }, (_, n) =>
    slots.take(...at(name.includes('/') ? `${n}${name}` : `${name}${n}`)),
  );
const FREE = (count: number): undefined[] => Array<undefined>(count).fill(undefined);

describe('HostSlots', () => {
  it('give each receiver two, whatever path and query it is called by, and another port its own', () => {
    expect(slots.take(...at('a', '?1'))).toBeUndefined();
    expect(slots.take(...at('a', '?2'))).toBeUndefined();
    expect(slots.take(...at('a', '?3'))).toBe('a a.test');
    expect(slots.take('a', 'https://a.test:8443/hook')).toBeUndefined();
    expect(slots.release(...at('a'))).toContainEqual({ name: 'a a.test', room: Infinity });
    expect(slots.take(...at('a'))).toBeUndefined();
  });

  it('give one to a receiver while a call of a second runs, and for a minute for each second of it', () => {
    expect(slots.take(...at('a'))).toBeUndefined();
    nowMs += 1_000;
    expect(slots.take(...at('a'))).toBe('a a.test');
    slots.release(...at('a'), { outcome: 'confirmed', durationMs: 2_000 });
    for (const passMs of [0, 119_999]) {
      nowMs += passMs;
      call('a', 0);
      expect(slots.take(...at('a'))).toBeUndefined();
      expect(slots.take(...at('a'))).toBe('a a.test');
      slots.release(...at('a'));
    }
    nowMs += 1;
    expect([slots.take(...at('a')), slots.take(...at('a'))]).toEqual([undefined, undefined]);
  });

  it('give slow receivers half of them, those without an answer three quarters with these, and quick ones all', () => {
    for (let n = 0; n < 8; n++) call(`quick${n}`, 999);
    for (let n = 0; n < 8; n++) call(`slow${n}`, 1_000);
    expect(taken(5, 'slow')).toEqual([...FREE(4), 'slow:all']);
    expect(taken(3, 'new')).toEqual([...FREE(2), 'unproved:all']);
    expect(taken(3, 'quick')).toEqual([...FREE(2), 'any:all']);
    expect(roomsOf('all')).toEqual([0, 0, 0]);
    slots.release(...at('slow0'), { outcome: 'confirmed', durationMs: 1_000 });
    expect(roomsOf('all')).toEqual([1, 1, 1]);
    expect(slots.take(...at('new3'))).toBeUndefined();
    expect(slots.take(...at('slow7'))).toBe('unproved:all');
  });

  it('refuse no bot for what other bots of its host have taken, even while their calls hang', () => {
    slots = new HostSlots(32, 2, () => nowMs);
    call('well/shared', 0);
    expect(taken(4, '/shared')).toEqual(FREE(4));
    nowMs += 9_000;
    expect(slots.take(...at('0/shared'))).toBe('0 shared.test');
    expect([slots.take(...at('new/shared')), slots.take(...at('well/shared'))]).toEqual(FREE(2));
    expect(slots.take(...at('well/shared'))).toBeUndefined();
    expect(slots.take(...at('well/shared'))).toBe('well shared.test');
  });

  it('give the bots of a host four times as many as one of them, and quick ones the last quarter', () => {
    slots = new HostSlots(32, 2, () => nowMs);
    for (let n = 0; n < 4; n++) call(`${n}quick/shared`, 0);
    expect(taken(7, '/shared')).toEqual([...FREE(6), 'unproved:shared.test']);
    nowMs += 1_000;
    expect(taken(3, 'quick/shared')).toEqual([...FREE(2), 'any:shared.test']);
    expect(slots.take(...at('elsewhere'))).toBeUndefined();
    expect(slots.release(...at('0quick/shared'))).toContainEqual(
      expect.objectContaining({ name: 'any:shared.test', room: 1 }),
    );
    expect(taken(1, '/shared')).toEqual(['0 shared.test']);
    for (let n = 0; n < 3; n++)
      slots.release(...at(`${n}/shared`), { outcome: 'timed_out', durationMs: 1_000 });
    expect(roomsOf('shared.test')).toEqual([1, 3, 4]);
    expect(taken(2, '/shared')).toEqual([undefined, 'slow:shared.test']);
  });

  it('take a new bot for quick where the last call to its host was, and for unproved once a receiver there turns out slow', () => {
    call('well/shared', 0);
    expect(taken(7, 'new')).toEqual([...FREE(6), 'unproved:all']);
    expect(slots.take(...at('0/shared'))).toBeUndefined();
    expect(roomsOf('all')).toEqual([4, 0, 1]);
    nowMs += 1_000;
    slots.release(...at('0/shared'), { outcome: 'timed_out', durationMs: 1_000 });
    expect(slots.take(...at('1/shared'))).toBe('unproved:all');
    call('well/shared', 0);
    for (let n = 0; n < 3; n++) slots.release(...at(`new${n}`));
    call('0/shared', 1_000);
    expect(taken(4, 'later')).toEqual([...FREE(3), 'unproved:all']);
    expect(slots.take(...at('1/shared'))).toBeUndefined();
  });

  it('give one of each share where there is one in all', () => {
    slots = new HostSlots(1, 1, () => nowMs);
    call('a', 2_000);
    call('a', 2_000);
  });

  it.each(['', '/shared'])('ask for the kind of each running call a few times: %s', (host) => {
    let asked = 0;
    slots = new HostSlots(1_000, 250, () => (asked++, nowMs));
    expect(taken(100, host === '' ? 'new' : host)).toEqual(FREE(100));
    const askedOf = (act: () => void): number => {
      asked = 0;
      act();
      return asked;
    };
    const last = at(host === '' ? 'last' : `last${host}`);
    // Each kind reads the time: that among all hosts, and that of the host.
    expect(askedOf(() => slots.take(...last))).toBeLessThan(2 * 100 + 20);
    expect(askedOf(() => slots.release(...last))).toBeLessThan(2 * 100 + 20);
  });
});

/** The room in each share of a host, or of all. */
function roomsOf(whose: string): number[] {
  return slots.rooms().flatMap(({ name, room }) => (name.endsWith(`:${whose}`) ? [room] : []));
}
