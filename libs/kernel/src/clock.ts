import { randomBytes, randomFillSync } from 'node:crypto';

const DAY_MS = 86_400_000;

/** The source of time for all code of Lethe. Tests replace it to control time without waiting. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch; may jump when the operator sets the clock. */
  abstract nowMs(): number;
  /** Milliseconds that never run backwards. Only the difference of two readings has a meaning. */
  abstract monotonicMs(): number;

  /** The present time in ISO 8601, UTC, with milliseconds: the only form in which times are stored and answered. */
  nowIso(): string {
    return new Date(this.nowMs()).toISOString();
  }

  /** The time `days` × 24 hours ago, in the form of {@link nowIso}. */
  daysAgoIso(days: number): string {
    return daysAfter(this.nowIso(), -days);
  }
}

/** The time `days` × 24 hours after `iso`, in the form of {@link Clock.nowIso}. */
export function daysAfter(iso: string, days: number): string {
  return new Date(Date.parse(iso) + days * DAY_MS).toISOString();
}

export class SystemClock extends Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }
}

/**
 * The source of random values, injected so that tests can replace it. Every method uses a cryptographically secure
 * source.
 */
export abstract class Random {
  abstract bytes(length: number): Buffer;
  /** 12 random bytes for short use, such as a nonce. The buffer is valid until the next call of any method. */
  abstract nonce(): Buffer;
  /** A number in [0, 1). */
  abstract fraction(): number;
  /** A UUID of version 7 (RFC 9562). Within one process, later ids sort after earlier ones. */
  abstract uuid(): string;
}

export class SystemRandom extends Random {
  private readonly pool = Buffer.allocUnsafe(4096);
  private used = 4096;
  private lastMs = 0;
  private sequence = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  bytes(length: number): Buffer {
    return randomBytes(length);
  }

  nonce(): Buffer {
    return this.pooled(12);
  }

  fraction(): number {
    return this.pooled(6).readUIntBE(0, 6) / 2 ** 48;
  }

  /** RFC 9562, method 1, with a 12-bit counter in rand_a: ids are also monotonic within one millisecond. */
  uuid(): string {
    const nowMs = this.clock.nowMs();
    if (nowMs > this.lastMs) {
      this.lastMs = nowMs;
      this.sequence = this.pooled(2).readUInt16BE(0) & 0x7ff;
    } else if (++this.sequence > 0xfff) {
      this.lastMs += 1;
      this.sequence = 0;
    }
    const time = this.lastMs.toString(16).padStart(12, '0');
    const tail = this.pooled(8);
    tail[0] = (tail.readUInt8(0) & 0x3f) | 0x80;
    const hex = tail.toString('hex');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.sequence.toString(16).padStart(3, '0')}-${hex.slice(0, 4)}-${hex.slice(4)}`;
  }

  private pooled(length: number): Buffer {
    if (this.used + length > this.pool.length) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    this.used += length;
    return this.pool.subarray(this.used - length, this.used);
  }
}
