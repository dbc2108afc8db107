import type { Terminal } from '@app/runtime';

/** The intervals, in milliseconds, between two drawings of the line on a terminal, and between two lines elsewhere. */
const DRAWN_EVERY_MS = 100;
const WRITTEN_EVERY_MS = 1_000;
const BAR = 24;
/** From when on a step says how long the rest takes, in milliseconds. */
const ESTIMATED_AFTER_MS = 1_000;

/** A part of a command with a known end. */
export interface Step {
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** The unit of the count. */
  readonly unit: string;
  /** The work of all steps together, from which the rest of the time is estimated. */
  readonly whole?: Part;
}

interface Part {
  readonly done: number;
  readonly total: number;
}

/**
 * Shows the progress of a command on standard error: one line that is redrawn on a terminal, single lines elsewhere.
 */
export class Progress {
  private shownMs = -Infinity;
  private isDrawn = false;
  private begun: (Part & { readonly sinceMs: number }) | undefined;
  private current: { readonly what: string; readonly done: number; readonly sinceMs: number } | undefined;

  constructor(private readonly out: Terminal['stderr']) {}

  /** Shows the present work: redrawn on a terminal, at most one line a second elsewhere. */
  show(line: string): void {
    const nowMs = performance.now();
    const { isTTY } = this.out;
    if (nowMs - this.shownMs < (isTTY ? DRAWN_EVERY_MS : WRITTEN_EVERY_MS)) return;
    this.shownMs = nowMs;
    if (isTTY) this.draw(line);
    else this.out.write(`${line}\n`);
  }

  /** Shows the progress of a step: a bar on a terminal, one line for each finished step elsewhere. */
  step(step: Step): void {
    const { what, done, total, unit } = step;
    if (this.current?.what !== what) {
      this.end();
      this.current = { what, done, sinceMs: performance.now() };
    }
    if (step.whole !== undefined) this.begun ??= { ...step.whole, sinceMs: performance.now() };
    const isDone = done >= total;
    if (!this.out.isTTY) {
      if (isDone) this.out.write(`${what}: ${done} ${unit}\n`);
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
    this.out.write(`\r\u001b[2K${line}`);
  }

  /** How long the rest takes at the speed so far, after a second. What an earlier run has done is not counted. */
  private restOf({ whole }: Step): string {
    const { begun } = this;
    if (begun === undefined || whole === undefined) return '';
    const ranMs = performance.now() - begun.sinceMs;
    const done = whole.done - begun.done;
    if (ranMs < ESTIMATED_AFTER_MS || done <= 0) return '';
    return `  about ${durationOf(((whole.total - whole.done) / done) * ranMs)} left`;
  }

  private barOf(step: Step): string {
    const { what, done, total, unit } = step;
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(part * BAR);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
    const { done: before = 0, sinceMs = 0 } = this.current ?? {};
    const perSecond = Math.round((done - before) / Math.max(0.001, (performance.now() - sinceMs) / 1000));
    const percent = String(Math.floor(part * 100)).padStart(3);
    return `${what.padEnd(30)} ${bar} ${percent} %  ${done} of ${total} ${unit}  ${perSecond}/s${this.restOf(step)}`;
  }
}

function durationOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
