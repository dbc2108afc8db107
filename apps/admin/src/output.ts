import { once } from 'node:events';
import { Writable } from 'node:stream';
import { printable } from '@app/kernel';
import type { Terminal } from '@app/runtime';
import { Progress } from './progress';

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
  /** Ends the output of a command, with the message of its error where it failed. */
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
    end: (error) => {
      if (error !== undefined) tell(error);
      return Promise.resolve();
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
    expectRows: () => {
      hasRows = true;
    },
    tell: (line) => void messages.push(line),
    result: (value) => {
      found = value;
      return Promise.resolve();
    },
    end: async (error) => {
      const isWanted = found !== undefined || (error === undefined && !hasRows);
      if (isWanted) await write(`${JSON.stringify({ ...found, messages })}\n`);
      if (error !== undefined) stderr.write(printable(`${JSON.stringify({ error: { message: error } })}\n`));
    },
  };
}

/** Waits for a slow reader, so that millions of lines never accumulate in memory. */
function writerOf(stdout: Terminal['stdout']): (text: string) => Promise<void> {
  return async (text) => {
    if (!stdout.write(printable(text))) await once(stdout, 'drain');
  };
}
