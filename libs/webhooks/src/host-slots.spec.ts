import { HostSlots } from './host-slots';

const TOTAL = 8;
let nowMs: number;
let slots: HostSlots;
beforeEach(() => {
  nowMs = 1_000_000;
  slots = new HostSlots(TOTAL, 2, () => nowMs);
});

const url = (host: string, query = ''): string => `https://${host}.test/hook${query}`;
/** A call that takes so long. */
function call(host: string, durationMs: number): void {
  expect(slots.take(url(host))).toBeUndefined();
  nowMs += durationMs;
  slots.release(url(host), { outcome: 'confirmed', durationMs });
}
/** What each of so many calls to different hosts waits for. */
const taken = (count: number, prefix: string): (string | undefined)[] =>
  Array.from({ length: count }, (_, n) => slots.take(url(`${prefix}${n}`)));

describe('HostSlots', () => {
  it('give each host two, whatever path and query it is called by, and another port its own', () => {
    expect(slots.take(url('a', '?1'))).toBeUndefined();
    expect(slots.take(url('a', '?2'))).toBeUndefined();
    expect(slots.take(url('a', '?3'))).toBe('a.test');
    expect(slots.take('https://a.test:8443/hook')).toBeUndefined();
    expect(slots.release(url('a'))).toBe('a.test');
    expect(slots.take(url('a'))).toBeUndefined();
  });

  it('give one to a host while a call of a second runs, and for a minute for each second of it', () => {
    expect(slots.take(url('a'))).toBeUndefined();
    nowMs += 1_000;
    expect(slots.take(url('a'))).toBe('a.test');
    slots.release(url('a'), { outcome: 'confirmed', durationMs: 2_000 });
    for (const passMs of [0, 119_999]) {
      nowMs += passMs;
      call('a', 0);
      expect(slots.take(url('a'))).toBeUndefined();
      expect(slots.take(url('a'))).toBe('a.test');
      slots.release(url('a'));
    }
    nowMs += 1;
    expect([slots.take(url('a')), slots.take(url('a'))]).toEqual([undefined, undefined]);
  });

  it('give slow hosts half of them, hosts without an answer three quarters with these, and quick ones all', () => {
    for (let n = 0; n < 8; n++) call(`quick${n}`, 999);
    for (let n = 0; n < 8; n++) call(`slow${n}`, 1_000);
    expect(taken(5, 'slow')).toEqual([...Array<undefined>(4), 'share:slow']);
    expect(taken(3, 'new')).toEqual([undefined, undefined, 'share:unproved']);
    expect(taken(2, 'quick')).toEqual([undefined, undefined]);
    expect(slots.rooms().map(({ room }) => room)).toEqual([0, 0]);
    slots.release(url('slow0'), { outcome: 'confirmed', durationMs: 1_000 });
    expect(slots.rooms().map(({ room }) => room)).toEqual([1, 1]);
    expect(slots.take(url('new3'))).toBeUndefined();
    expect(slots.take(url('slow7'))).toBe('share:unproved');
  });

  it('give one of each share where there is one in all', () => {
    slots = new HostSlots(1, 1, () => nowMs);
    call('a', 2_000);
    call('a', 2_000);
  });
});
