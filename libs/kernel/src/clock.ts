import { randomBytes, randomFillSync } from 'node:crypto';

const DAY_MS = 86_400_000;

/** The time, as everything in Lethe asks for it; replaced in tests so that hours are played and not waited for. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch; may jump when the operator sets the clock. */
  abstract nowMs(): number;
  /** Milliseconds that never run backwards; only differences mean anything. */
  abstract monotonicMs(): number;

  /** ISO 8601, UTC, with milliseconds: the one form in which times are stored and answered. */
  nowIso(): string {
    return new Date(this.nowMs()).toISOString();
  }

  /** The time that was so many days of 24 hours ago, in the form of {@link nowIso}. */
  daysAgoIso(days: number): string {
    return daysAfter(this.nowIso(), -days);
  }
}

/** The time so many days of 24 hours after another, in the form of {@link Clock.nowIso}. */
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

/** Chance, injected for the same reason as the clock. Every method draws from a cryptographically secure source. */
export abstract class Random {
  abstract bytes(length: number): Buffer;
  /** 12 bytes that are said once and then forgotten, such as a nonce: use them before anything else is asked for. */
  abstract nonce(): Buffer;
  /** A number in [0, 1). */
  abstract fraction(): number;
  /** A UUID of version 7 (RFC 9562): ids made later by this process sort after earlier ones. */
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

  /** RFC 9562 method 1 with a 12-bit counter in rand_a: monotonic also within one millisecond. */
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
