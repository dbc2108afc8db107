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
/** What a call has to wait for; it has a slot otherwise. */
const busy = (name: string, query = ''): string | undefined => slots.take(...at(name, query))?.name;
/** A call of this duration. */
function call(name: string, durationMs: number): void {
  expect(busy(name)).toBeUndefined();
  nowMs += durationMs;
  slots.release(...at(name), { outcome: 'confirmed', durationMs });
}
/** What each of `count` calls to different receivers waits for. */
const taken = (count: number, name: string): (string | undefined)[] =>
  Array.from({ length: count }, (_, n) => busy(name.includes('/') ? `${n}${name}` : `${name}${n}`));
const FREE = (count: number): undefined[] => Array<undefined>(count).fill(undefined);

describe('HostSlots', () => {
  it('give each receiver two, whatever path and query it is called by, and another port its own', () => {
    expect(busy('a', '?1')).toBeUndefined();
    expect(busy('a', '?2')).toBeUndefined();
    expect(busy('a', '?3')).toBe('a a.test');
    expect(slots.take('a', 'https://a.test:8443/hook')).toBeUndefined();
    slots.release(...at('a'));
    expect(busy('a')).toBeUndefined();
  });

  it('give one to a receiver while a call of a second runs, and for a minute for each second of it', () => {
    expect(busy('a')).toBeUndefined();
    nowMs += 1_000;
    expect(busy('a')).toBe('a a.test');
    slots.release(...at('a'), { outcome: 'confirmed', durationMs: 2_000 });
    for (const passMs of [0, 119_999]) {
      nowMs += passMs;
      call('a', 0);
      expect(busy('a')).toBeUndefined();
      expect(busy('a')).toBe('a a.test');
      slots.release(...at('a'));
    }
    nowMs += 1;
    expect([busy('a'), busy('a')]).toEqual([undefined, undefined]);
  });

  it('give slow receivers half of them, those without an answer three quarters with these, and quick ones all', () => {
    for (let n = 0; n < 8; n++) call(`quick${n}`, 999);
    for (let n = 0; n < 8; n++) call(`slow${n}`, 1_000);
    expect(taken(5, 'slow')).toEqual([...FREE(4), 'slow:all hosts']);
    expect(taken(3, 'new')).toEqual([...FREE(2), 'unproved:all hosts']);
    expect(taken(3, 'quick')).toEqual([...FREE(2), 'any:all hosts']);
    expect(roomsOf('all hosts', TOTAL)).toEqual([0, 0, 0]);
    slots.release(...at('slow0'), { outcome: 'confirmed', durationMs: 1_000 });
    expect(roomsOf('all hosts', TOTAL)).toEqual([1, 1, 1]);
    expect(busy('new3')).toBeUndefined();
    expect(busy('slow7')).toBe('unproved:all hosts');
  });

  it('refuse no bot for what other bots of its host have taken, even while their calls hang', () => {
    slots = new HostSlots(32, 2, () => nowMs);
    call('well/shared', 0);
    expect(taken(4, '/shared')).toEqual(FREE(4));
    nowMs += 9_000;
    expect(busy('0/shared')).toBe('0 shared.test');
    expect([busy('new/shared'), busy('well/shared')]).toEqual(FREE(2));
    expect(busy('well/shared')).toBeUndefined();
    expect(busy('well/shared')).toBe('well shared.test');
  });

  it('give the bots of a host four times as many as one of them, and quick ones the last quarter', () => {
    slots = new HostSlots(32, 2, () => nowMs);
    for (let n = 0; n < 4; n++) call(`${n}quick/shared`, 0);
    expect(taken(7, '/shared')).toEqual([...FREE(6), 'unproved:shared.test']);
    nowMs += 1_000;
    expect(taken(3, 'quick/shared')).toEqual([...FREE(2), 'any:shared.test']);
    expect(busy('elsewhere')).toBeUndefined();
    slots.release(...at('0quick/shared'));
    expect(roomsOf('shared.test', 8)[2]).toBe(1);
    expect(taken(1, '/shared')).toEqual(['0 shared.test']);
    for (let n = 0; n < 3; n++)
      slots.release(...at(`${n}/shared`), { outcome: 'timed_out', durationMs: 1_000 });
    expect(roomsOf('shared.test', 8)).toEqual([1, 3, 4]);
    expect(taken(2, '/shared')).toEqual([undefined, 'slow:shared.test']);
  });

  it('take a new bot for quick where the last call to its host was, and for unproved once a receiver there turns out slow', () => {
    call('well/shared', 0);
    expect(taken(7, 'new')).toEqual([...FREE(6), 'unproved:all hosts']);
    expect(busy('0/shared')).toBeUndefined();
    expect(roomsOf('all hosts', TOTAL)).toEqual([4, 0, 1]);
    nowMs += 1_000;
    slots.release(...at('0/shared'), { outcome: 'timed_out', durationMs: 1_000 });
    expect(busy('1/shared')).toBe('unproved:all hosts');
    call('well/shared', 0);
    for (let n = 0; n < 3; n++) slots.release(...at(`new${n}`));
    call('0/shared', 1_000);
    expect(taken(4, 'later')).toEqual([...FREE(3), 'unproved:all hosts']);
    expect(busy('1/shared')).toBeUndefined();
  });

  it('give one of each share where there is one in all', () => {
    slots = new HostSlots(1, 1, () => nowMs);
    call('a', 2_000);
    call('a', 2_000);
  });

  it('count the running calls once in a millisecond, however many more are taken', () => {
    let asked = 0;
    slots = new HostSlots(1_000, 250, () => (asked++, nowMs));
    expect(taken(100, '/shared')).toEqual(FREE(100));
    asked = 0;
    expect([busy('last/shared'), busy('last')]).toEqual(FREE(2));
    expect(asked).toBeLessThan(30);
    nowMs++;
    expect(taken(100, 'new')).toEqual(FREE(100));
    expect(asked).toBeLessThan(30 + 102 + 100 * 15);
  });

  it('count a host of any name apart from all hosts', () => {
    expect(slots.take('a', 'https://all/hook')).toBeUndefined();
    expect([roomsOf('all', 8)[2], roomsOf('all hosts', TOTAL)[2]]).toEqual([7, 7]);
  });
});

/** The room in each share of `size` slots, of a host or of all. */
function roomsOf(whose: string, size: number): number[] {
  const shares = { slow: size / 2, unproved: (size * 3) / 4, any: size };
  return Object.entries(shares).map(([share, max]) => max - slots.callsAt(`${share}:${whose}`));
}
