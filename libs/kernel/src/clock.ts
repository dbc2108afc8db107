import { randomBytes, randomFillSync } from 'node:crypto';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/**
 * The largest steps of the clock of the machine that are taken over at once, in milliseconds. A larger one is taken over
 * when it has lasted for {@link CONFIRMED_AFTER_MS} of monotonic time.
 */
const FORWARD_MAX_MS = HOUR_MS;
const BACKWARD_MAX_MS = DAY_MS;
const CONFIRMED_AFTER_MS = HOUR_MS;

/** A time on two clocks. */
export type Moment = Readonly<Record<'monotonicMs' | 'wallMs', number>>;

/** The source of time for all code of Lethe. Tests replace it to control time without waiting. */
export abstract class Clock {
  /** The last answer of {@link nowIso}: an act asks several times in a millisecond. */
  private shownMs = NaN;
  private shownIso = '';

  /** Milliseconds since the Unix epoch, for the times of acts. It runs back only after a step that was not confirmed. */
  abstract nowMs(): number;
  /** Milliseconds that never run backwards. Only the difference of two readings has a meaning. */
  abstract monotonicMs(): number;

  /** The clock of the machine as it is, for times that others compare with their own clock. */
  wallMs(): number {
    return this.nowMs();
  }

  moment(): Moment {
    return { monotonicMs: this.monotonicMs(), wallMs: this.wallMs() };
  }

  /** How much has passed since on the clock on which more has: the monotonic one stops with the machine, the other one can be set back. */
  passedMs(since: Moment): number {
    return Math.max(this.monotonicMs() - since.monotonicMs, this.wallMs() - since.wallMs);
  }

  /**
   * {@link nowMs} without a step that is not confirmed yet: for what is erased by time, and for what is due later. It is
   * never ahead of the time that has passed by more than an hour.
   */
  confirmedMs(): number {
    return this.nowMs();
  }

  /** How far the clock of the machine is ahead of {@link confirmedMs}; negative when it went back. */
  get deviationMs(): number {
    return 0;
  }

  /** Continues the times of an earlier process, the newest of which was between the two given ones. */
  abstract continueFrom(fromMs: number, untilMs: number): void;

  /** The present time in ISO 8601, UTC, with milliseconds: the only form in which times are stored and answered. */
  nowIso(): string {
    const nowMs = this.nowMs();
    if (nowMs !== this.shownMs) {
      this.shownMs = nowMs;
      this.shownIso = new Date(nowMs).toISOString();
    }
    return this.shownIso;
  }

  /** {@link confirmedMs} in the form of {@link nowIso}. */
  confirmedIso(): string {
    return new Date(this.confirmedMs()).toISOString();
  }

  /** The confirmed time `days` × 24 hours ago, in the form of {@link nowIso}: what is older may be erased. */
  daysAgoIso(days: number): string {
    return daysAfter(this.confirmedIso(), -days);
  }
}

/** The time `days` × 24 hours after `iso`, in the form of {@link Clock.nowIso}. */
export function daysAfter(iso: string, days: number): string {
  return new Date(Date.parse(iso) + days * DAY_MS).toISOString();
}

/**
 * The clock of the machine, checked against the monotonic clock. A step forward of up to an hour counts at once. After a
 * step back of up to a day, time runs at half speed until the two agree. A larger step is confirmed when it has lasted for
 * an hour.
 */
export class SystemClock extends Clock {
  private confirmedTimeMs = Date.now();
  private readAtMs = performance.now();
  private wallReadMs = this.confirmedTimeMs;
  /** A large step: the difference of the two clocks since then. */
  private step: { readonly offsetMs: number; readonly sinceMs: number } | undefined;

  nowMs(): number {
    this.read();
    return Math.max(this.wallReadMs, Math.floor(this.confirmedTimeMs));
  }

  monotonicMs(): number {
    return performance.now();
  }

  override wallMs(): number {
    return Date.now();
  }

  override confirmedMs(): number {
    return this.nowMs() - Math.max(0, Math.ceil(this.deviationMs));
  }

  override get deviationMs(): number {
    return this.wallReadMs - this.confirmedTimeMs;
  }

  continueFrom(fromMs: number, untilMs: number): void {
    this.confirmedTimeMs = Date.now() < fromMs ? untilMs : fromMs;
    this.readAtMs = performance.now();
    this.step = undefined;
  }

  private read(): void {
    const atMs = performance.now();
    const wallMs = Date.now();
    const ranMs = atMs - this.readAtMs;
    const stepMs = wallMs - this.confirmedTimeMs - ranMs;
    this.readAtMs = atMs;
    this.wallReadMs = wallMs;
    if (stepMs > FORWARD_MAX_MS || stepMs < -BACKWARD_MAX_MS) return this.doubt(wallMs, atMs, ranMs);
    this.step = undefined;
    this.confirmedTimeMs = Math.max(wallMs, this.confirmedTimeMs + ranMs / 2);
  }

  private doubt(wallMs: number, atMs: number, ranMs: number): void {
    const offsetMs = wallMs - atMs;
    if (this.step === undefined || Math.abs(offsetMs - this.step.offsetMs) > FORWARD_MAX_MS)
      this.step = { offsetMs, sinceMs: atMs };
    const isConfirmed = atMs - this.step.sinceMs >= CONFIRMED_AFTER_MS;
    this.confirmedTimeMs = isConfirmed ? wallMs : this.confirmedTimeMs + ranMs;
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
    const nowMs = this.clock.confirmedMs();
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

interface Reading<T> {
  readonly answer: Promise<T>;
  /** Undefined while it is under way. */
  endedMs?: number;
  /** Something has changed since it began. */
  isStale?: true;
}

/**
 * Something that needs a query. All readers share one reading until `holdMs` milliseconds after its end, also one that
 * fails, and there is one at a time.
 */
export class SharedReading<T> {
  private last: Reading<T> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly holdMs: number,
    private readonly ask: () => Promise<T>,
  ) {}

  get(): Promise<T> {
    if (this.last === undefined || this.isOver(this.last)) this.last = this.after(this.last);
    return this.last.answer;
  }

  /** The next reader asks anew: at once, or after the reading that is under way. */
  forget(): void {
    if (this.last !== undefined) this.last.isStale = true;
  }

  private isOver({ endedMs, isStale }: Reading<T>): boolean {
    if (isStale === true) return true;
    return endedMs !== undefined && this.clock.monotonicMs() - endedMs >= this.holdMs;
  }

  private after(before: Reading<T> | undefined): Reading<T> {
    const isFree = before === undefined || before.endedMs !== undefined;
    const asked = isFree ? this.ask() : before.answer.then(this.ask, this.ask);
    const reading: Reading<T> = {
      answer: asked.finally(() => (reading.endedMs = this.clock.monotonicMs())),
    };
    return reading;
  }
}
