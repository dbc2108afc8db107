import { SystemClock } from '@app/kernel';
import { MemoryRateLimitStore } from './rate-limit.store';

const FLOOD = 1_000_000;

/** A clock that is stopped: no window ends during a flood. */
const STANDING = Object.assign(new SystemClock(), { nowMs: () => 0, monotonicMs: () => 0 });

/** The prefixes of one of very many addresses. */
const ipv4 = (n: number): string[] => [`${n >> 24}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`];
const ipv6 = (subnet: number, host: number): string[] => [
  `2001:db8:${subnet}:${host}/64`,
  `2001:db8:${subnet}:${host >> 8}/56`,
  `2001:db8:${subnet}/48`,
];

describe('the limiter in memory', () => {
  it('counts no bot with strangers, and holds a bounded number of these, under a million addresses', () => {
    const store = new MemoryRateLimitStore(STANDING);
    for (let n = 0; n < FLOOD; n++) store.hitStranger(ipv4(n), 10);
    expect(store.strangersBegun).toBeLessThanOrEqual(200_001);
    expect(store.hitStranger(ipv4(FLOOD), 10).exceeded).toBe(true);
    expect(store.hit('a bot', 10)).toMatchObject({ remaining: 9, exceeded: false });
  });

  it('counts the addresses of an IPv6 prefix that floods together, and those of others alone', () => {
    const store = new MemoryRateLimitStore(STANDING);
    for (let n = 0; n < FLOOD; n++) store.hitStranger(ipv6(n % 4, (n * 7) & 65_535), 10);
    expect(store.strangersBegun).toBeLessThan(20_000);
    expect(store.hitStranger(ipv6(3, 65_535), 10).exceeded).toBe(true);
    expect(store.hitStranger(ipv6(4, 1), 10)).toMatchObject({ remaining: 9, exceeded: false });
  });

  it('leaves an address that has begun its window its own count when the prefix is flooded later', () => {
    const store = new MemoryRateLimitStore(STANDING);
    store.hitStranger(ipv6(0, 0), 1_000);
    for (let n = 1; n < 256; n++)
      for (let times = 0; times < 20; times++) store.hitStranger(ipv6(0, n), 1_000);
    expect(store.hitStranger(ipv6(0, 0), 1_000).remaining).toBe(998);
  });

  it('begins a window with the whole second of its first request, so that the reset is its end and at most 60 seconds away', () => {
    let passedMs = 0;
    const clock = Object.assign(new SystemClock(), {
      wallMs: () => 1_800_000_000_999 + passedMs,
      monotonicMs: () => 5_000_300 + passedMs,
    });
    const store = new MemoryRateLimitStore(clock);
    const first = store.hit('a bot', 10);
    expect(first).toMatchObject({ resetSeconds: 1_800_000_060, retryAfterSeconds: 60, remaining: 9 });
    passedMs = 59_000;
    expect(store.hit('a bot', 10)).toMatchObject({
      resetSeconds: 1_800_000_060,
      retryAfterSeconds: 1,
      remaining: 8,
    });
    passedMs = 59_001;
    expect(store.hit('a bot', 10)).toMatchObject({ resetSeconds: 1_800_000_120, remaining: 9 });
  });
});
