import pino, { type DestinationStream } from 'pino';
import type { RequestLine } from './logger';
import { printable } from './printable';

/** Where lines are shown: `process.stdout` or `process.stderr`, of which only a terminal has columns and colours. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
}

/** Whether lines are written for a person: `LOG_FORMAT` says so, or leaves it to the screen. */
export function isForPeople(format: 'auto' | 'json' | 'text', { isTTY }: Screen): boolean {
  return format === 'text' || (format === 'auto' && isTTY === true);
}

/** The styles that are used, as what begins and what ends each. */
const STYLES = { red: [31, 39], green: [32, 39], yellow: [33, 39], dim: [2, 22] } as const;
type Style = keyof typeof STYLES;
/** A part of a line that is not broken, and its style. */
type Word = readonly [text: string, style?: Style];

/** The columns of the time and the level, below which a line is continued. */
const INDENT = ' '.repeat('12:00:00.000 ERROR '.length);
/** On a narrower screen the terminal breaks the lines. */
const COLUMNS_MIN = 60;

/** A line of the log: what each has, the fields that are shown in a form of their own, and others. */
interface Line {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly context?: string;
  readonly fault?: string;
  readonly reason?: string;
  readonly frames?: string;
  readonly [field: string]: unknown;
}

const isOfRequest = (line: Line): line is Line & RequestLine => line.msg === 'request' && 'method' in line;

/**
 * Writes the lines of a log, which are JSON, for a person: the time of this machine, the level, the message, then the
 * fields. A line that is too long is continued below its message, a stack trace has a line for each frame. Colours depend on
 * the terminal, `NO_COLOR` and `FORCE_COLOR`. What a terminal would obey is escaped.
 */
export function linesForPeople(destination: DestinationStream, screen: Screen): DestinationStream {
  let day: string | undefined;
  return {
    write: (text) => {
      const line = JSON.parse(text) as Line;
      const at = new Date(line.time);
      const before = day;
      day = at.toDateString();
      const paint = painting(screen.hasColors?.() ?? false);
      const next = before === undefined || before === day ? '' : `${paint([`– ${day} –`, 'dim'])}\n`;
      destination.write(`${next}${shown(line, at, screen.columns ?? 0, paint)}\n`);
    },
  };
}

type Paint = (word: Word) => string;

function painting(hasColours: boolean): Paint {
  return ([given, style]) => {
    const text = printable(given).replace(/\s/g, ' ');
    if (!hasColours || style === undefined) return text;
    const [begin, end] = STYLES[style];
    return `\u001b[${begin}m${text}\u001b[${end}m`;
  };
}

function shown(line: Line, at: Date, columns: number, paint: Paint): string {
  const { level } = line;
  const time = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  const label = (pino.levels.labels[level] ?? String(level)).toUpperCase().padEnd(5);
  const style = level >= 50 ? 'red' : level >= 40 ? 'yellow' : undefined;
  const head = `${paint([time, 'dim'])} ${paint([label, style])} `;
  const words = isOfRequest(line) ? ofRequest(line) : ofMessage(line);
  const frames = framesOf(line).map((frame) => paint([frame, 'dim']));
  return [head + broken(words, columns, paint), ...frames].join('\n');
}

/** A request in the order in which one asks. The id of an answer is shown where somebody may quote it. */
function ofRequest({ status, method, route, durationMs, botId, requestId }: RequestLine): Word[] {
  return [
    [String(status), status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'],
    [method],
    [route ?? 'unknown path'],
    [`${durationMs} ms`, 'dim'],
    // The last part of the id: the ids of bots that were registered in the same minute begin alike.
    ...(botId === undefined ? [] : [[`bot …${botId.slice(-12)}`, 'dim'] as const]),
    ...(status >= 400 ? [[`request ${requestId}`, 'dim'] as const] : []),
  ];
}

/** The fields that are not shown as `name=value`. */
const NAMED = ['level', 'time', 'msg', 'context', 'fault', 'reason', 'frames'];

function ofMessage(line: Line): Word[] {
  const { msg = '', context, fault, reason = '' } = line;
  // Most faults are plain errors, and some messages are the reason.
  const said = msg.includes(reason) ? msg : `${msg} – ${reason}`;
  const fields = Object.entries(line).filter(([name]) => !NAMED.includes(name));
  if (fault !== undefined && fault !== 'Error') fields.unshift(['fault', fault]);
  return [
    ...(context === undefined ? [] : [[`${context}:`, 'dim'] as const]),
    ...said
      .trim()
      .split(/\s+/)
      .map((word) => [word] as const),
    ...fields.map(([name, value]) => [`${name}=${valueOf(value)}`, 'dim'] as const),
  ];
}

/** A value as it is, or as JSON where it has blanks or parts. */
function valueOf(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}

/** Words with blanks between them, in lines that fit the screen where it has a width. */
function broken(words: readonly Word[], columns: number, paint: Paint): string {
  const width = columns < COLUMNS_MIN ? Infinity : columns - INDENT.length;
  let [text, used] = ['', 0];
  for (const word of words) {
    const { length } = printable(word[0]);
    const isFirst = text === '';
    const fits = isFirst || used + 1 + length <= width;
    text += `${isFirst ? '' : fits ? ' ' : `\n${INDENT}`}${paint(word)}`;
    used = fits && !isFirst ? used + 1 + length : length;
  }
  return text;
}

/** Each place of a stack trace, below the directory of the process without its name. */
function framesOf({ frames = '' }: Line): string[] {
  if (frames === '') return [];
  const own = `${process.cwd()}/`;
  return frames.split('\n').map((frame) => `    ${frame.trim().replace('file://', '').replace(own, '')}`);
}
