import { type Clock, Random } from '@app/kernel';

/** Random numbers that are equal for equal seeds (mulberry32). */
export class SeededRandom extends Random {
  private sequence = 0;

  constructor(
    private state: number,
    private readonly clock: Clock,
  ) {
    super();
  }

  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  nonce(): Buffer {
    return this.bytes(12);
  }

  uuid(): string {
    const time = this.clock.nowMs().toString(16).padStart(12, '0');
    const tail = (++this.sequence).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail}`;
  }
}
