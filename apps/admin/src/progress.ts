import type { Terminal } from '@app/runtime';

/** How often a line is written at most, in milliseconds. */
const EVERY_MS = 1_000;

/** Tells how far something is: one line that is drawn anew on a terminal, a line a second at most elsewhere. */
export class Progress {
  private shownMs = -Infinity;
  private drawn = false;

  constructor(private readonly out: Terminal['stderr']) {}

  show(line: string): void {
    const now = performance.now();
    if (now - this.shownMs < EVERY_MS) return;
    this.shownMs = now;
    this.drawn = this.out.isTTY === true;
    this.out.write(this.drawn ? `\r\u001b[2K${line}` : `${line}\n`);
  }

  /** Leaves the line that was drawn last. */
  end(): void {
    if (this.drawn) this.out.write('\n');
    this.drawn = false;
  }
}
