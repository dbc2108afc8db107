import { once } from 'node:events';
import { Writable } from 'node:stream';
import { type Config, many, printable } from '@app/kernel';
import { aboutOf, type Amount, secondsLeft } from './estimate';

/** The settings of a command, and its output. */
export interface Terminal {
  /** @throws ConfigError */
  readonly config: () => Config;
  readonly stdout: Stream;
  readonly stderr: Stream;
}

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The flag of every command that asks for JSON. */
export const JSON_FLAG = {
  type: 'boolean',
  description: 'Writes the result as one JSON object, or as one for each row, and errors as JSON too',
} as const;

/**
 * Where a command writes. Only this interface knows whether the reader is a person or a program. Names and texts of bots
 * are in what it writes, and no control character of them.
 */
export interface Output {
  readonly progress: Progress;
  /** Writes rows, each a line of JSON, to standard output. Resolves when the text is taken. */
  readonly data: (text: string) => Promise<void>;
  /** Writes a line for readers. */
  readonly tell: (line: string) => void;
  /** Writes the result: `words` for readers, `value` for programs. A command has one result at most. */
  readonly result: (value: object, words?: string) => Promise<void>;
  /** Notes that the result is rows, so that no row means no line. */
  readonly expectRows: () => void;
  /** Ends the output of a command, with the message of its error if it failed. */
  readonly end: (error?: string) => Promise<void>;
}

/** Data on standard output, messages and errors in readable lines on standard error. */
export function inWords({ stdout, stderr }: Terminal): Output {
  const progress = new Progress(stderr);
  const data = writerOf(stdout);
  const tell = (line: string): void => {
    progress.end();
    stderr.write(printable(`${line}\n`));
  };
  return {
    progress,
    data,
    tell,
    expectRows: () => undefined,
    result: async (_, words) => {
      if (words !== undefined) await data(words);
    },
    end: async (error) => {
      if (error !== undefined) tell(error);
    },
  };
}

/**
 * One JSON object on standard output, with the lines for readers as `messages`; after rows only the rows. An error is
 * the object `{"error":{"message":…}}` on standard error. No progress is shown.
 */
export function inJson({ stdout, stderr }: Terminal): Output {
  const messages: string[] = [];
  const write = writerOf(stdout);
  let hasRows = false;
  let found: object | undefined;
  return {
    progress: new Progress(new Writable({ write: (_chunk, _encoding, done) => done() })),
    data: write,
    expectRows: () => void (hasRows = true),
    tell: (line) => void messages.push(line),
    result: async (value) => void (found = value),
    end: async (error) => {
      const isWanted = found !== undefined || (error === undefined && !hasRows);
      if (isWanted) await write(`${JSON.stringify({ ...found, messages })}\n`);
      if (error !== undefined) stderr.write(printable(`${JSON.stringify({ error: { message: error } })}\n`));
    },
  };
}

/** Says on standard error that the output does not arrive. */
export function tellUnwritten(stderr: Writable, code = 'unknown', isJson: boolean): void {
  const message = `The output cannot be written (${code}). What the command did stays in effect.`;
  stderr.write(printable(`${isJson ? JSON.stringify({ error: { message } }) : message}\n`));
}

/** Waits for a slow reader, so that millions of lines never accumulate in memory. */
function writerOf(stdout: Terminal['stdout']): (text: string) => Promise<void> {
  return async (text) => {
    if (!stdout.write(printable(text))) await once(stdout, 'drain');
  };
}

/** The interval between two drawings of the line on a terminal. */
const DRAWN_EVERY_MS = 100;
/** The interval between two lines elsewhere. */
const WRITTEN_EVERY_MS = 1_000;
const BAR = 24;

/** The interval between two lines about a part elsewhere. */
const PART_WRITTEN_EVERY_MS = 10_000;

/** Several steps of a command, of whose end the time is estimated. */
interface Part extends Amount {
  /** `part 1 of 3` */
  readonly name: string;
}

/** A part of a command with a known end. */
interface Step {
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** The unit of the count. */
  readonly unit: string;
  readonly part?: Part;
}

/**
 * Shows the progress of a command on standard error: one line that is redrawn on a terminal, single lines elsewhere.
 */
export class Progress {
  private shownMs = -Infinity;
  private isDrawn = false;
  private current: { readonly what: string; readonly done: number; readonly sinceMs: number } | undefined;
  private part: { readonly begun: Part; readonly sinceMs: number; shownMs: number } | undefined;

  constructor(
    private readonly out: Terminal['stderr'],
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Shows the present work: redrawn on a terminal, at most one line a second elsewhere. */
  show(line: string): void {
    const nowMs = this.nowMs();
    const { isTTY } = this.out;
    if (nowMs - this.shownMs < (isTTY ? DRAWN_EVERY_MS : WRITTEN_EVERY_MS)) return;
    this.shownMs = nowMs;
    if (isTTY) this.draw(line);
    else this.out.write(printable(`${line}\n`));
  }

  /**
   * Shows the progress of a step: a bar on a terminal; elsewhere one line for each finished step, and one every ten
   * seconds about its part, with the time that is left of it.
   */
  step(step: Step): void {
    const { what, done, total, unit, part } = step;
    if (this.current?.what !== what) {
      this.end();
      this.current = { what, done, sinceMs: this.nowMs() };
    }
    if (part !== undefined && this.part?.begun.name !== part.name) {
      const nowMs = this.nowMs();
      this.part = { begun: part, sinceMs: nowMs, shownMs: nowMs };
    }
    const isDone = done >= total;
    if (!this.out.isTTY) {
      if (isDone) this.out.write(printable(`${what}: ${many(done, unit.replace(/s$/, ''), unit)}\n`));
      else if (part !== undefined) this.writePart(part, unit);
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

  private writePart(part: Part, unit: string): void {
    const { name, done, total } = part;
    const nowMs = this.nowMs();
    if (this.part === undefined || nowMs - this.part.shownMs < PART_WRITTEN_EVERY_MS) return;
    this.part.shownMs = nowMs;
    const percent = Math.floor((done / total) * 100);
    this.out.write(printable(`${name}: ${done} of ${total} ${unit}, ${percent} %${this.leftOf(part)}\n`));
  }

  /** Nothing while no estimate means something. */
  private leftOf(part: Part | undefined): string {
    if (part === undefined || this.part === undefined) return '';
    const seconds = secondsLeft(this.part.begun, part, this.nowMs() - this.part.sinceMs);
    return seconds === undefined ? '' : `, ${aboutOf(seconds)} left of this part`;
  }

  /** A line that wraps could not be drawn again. */
  private draw(line: string): void {
    this.isDrawn = true;
    const { columns = Infinity } = this.out;
    this.out.write(`\r\u001b[2K${printable(line).slice(0, columns - 1)}`);
  }

  private barOf({ what, done, total, unit, part: whole }: Step): string {
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(part * BAR);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
    const { done: before = 0, sinceMs = 0 } = this.current ?? {};
    const perSecond = Math.round((done - before) / Math.max(0.001, (this.nowMs() - sinceMs) / 1000));
    const percent = String(Math.floor(part * 100)).padStart(3);
    return `${what.padEnd(30)} ${bar} ${percent} %  ${done} of ${total} ${unit}  ${perSecond}/s${this.leftOf(whole)}`;
  }
}
