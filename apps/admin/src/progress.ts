import { printable } from '@app/kernel';
import type { Terminal } from '@app/runtime';

/** The intervals, in milliseconds, between two drawings of the line on a terminal, and between two lines elsewhere. */
const DRAWN_EVERY_MS = 100;
const WRITTEN_EVERY_MS = 1_000;
const BAR = 24;

/** A part of a command with a known end. */
export interface Step {
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** The unit of the count. */
  readonly unit: string;
}

/**
 * Shows the progress of a command on standard error: one line that is redrawn on a terminal, single lines elsewhere.
 */
export class Progress {
  private shownMs = -Infinity;
  private isDrawn = false;
  private current: { readonly what: string; readonly done: number; readonly sinceMs: number } | undefined;

  constructor(private readonly out: Terminal['stderr']) {}

  /** Shows the present work: redrawn on a terminal, at most one line a second elsewhere. */
  show(line: string): void {
    const nowMs = performance.now();
    const { isTTY } = this.out;
    if (nowMs - this.shownMs < (isTTY ? DRAWN_EVERY_MS : WRITTEN_EVERY_MS)) return;
    this.shownMs = nowMs;
    if (isTTY) this.draw(line);
    else this.out.write(printable(`${line}\n`));
  }

  /** Shows the progress of a step: a bar on a terminal, one line for each finished step elsewhere. */
  step(step: Step): void {
    const { what, done, total, unit } = step;
    if (this.current?.what !== what) {
      this.end();
      this.current = { what, done, sinceMs: performance.now() };
    }
    const isDone = done >= total;
    if (!this.out.isTTY) {
      if (isDone) this.out.write(printable(`${what}: ${done} ${unit}\n`));
    } else if (isDone) this.draw(this.barOf(step));
    else this.show(this.barOf(step));
    if (isDone) this.end();
  }

  /** Ends the redrawn line. */
  end(): void {
    if (this.isDrawn) this.out.write('\n');
    this.isDrawn = false;
    this.current = undefined;
    this.shownMs = -Infinity;
  }

  private draw(line: string): void {
    this.isDrawn = true;
    this.out.write(`\r\u001b[2K${printable(line)}`);
  }

  private barOf({ what, done, total, unit }: Step): string {
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(part * BAR);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
    const { done: before = 0, sinceMs = 0 } = this.current ?? {};
    const perSecond = Math.round((done - before) / Math.max(0.001, (performance.now() - sinceMs) / 1000));
    const percent = String(Math.floor(part * 100)).padStart(3);
    return `${what.padEnd(30)} ${bar} ${percent} %  ${done} of ${total} ${unit}  ${perSecond}/s`;
  }
}
