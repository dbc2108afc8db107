import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { styleText } from 'node:util';
import { BOT_WIDE_GUILD_ID, printable } from '@lethe/sdk';
import { wrongUsage } from './failures';

type Style = Parameters<typeof styleText>[0];

/** A text of somebody else on one line. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ').trim();

/** A number of things: `1 call`, `2 calls`. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`;

/** A guild, or what is outside of guilds. */
export const scope = (guild: string): string =>
  guild === BOT_WIDE_GUILD_ID ? 'the bot-wide scope' : `guild ${guild}`;

/** Replaces ESC in the colours of this program until the text around them is printable. No service can know it. */
const OWN_ESCAPE = randomUUID();

const shown = (text: string): string => printable(text).replaceAll(OWN_ESCAPE, '\u001B');

/**
 * Where the output of a command is written: for people or, with `--json`, for programs. All of it passes here, so that no
 * text of a service or a bot reaches the terminal with a control character.
 */
export class Output {
  constructor(readonly isJson: boolean) {}

  /** The result of the command: one JSON value a line, or a text. */
  result(value: unknown, text: string): void {
    process.stdout.write(shown(`${this.isJson ? JSON.stringify(value) : text}\n`));
  }

  /** Resolves once the reader of the results takes more. */
  async drained(): Promise<void> {
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  }

  /** A line beside the result, for people. */
  note(text: string): void {
    if (!this.isJson) process.stderr.write(shown(`${text}\n`));
  }

  /** What the command failed with. */
  fault(value: object, text: string): void {
    process.stderr.write(shown(`${this.isJson ? JSON.stringify(value) : text}\n`));
  }

  /** A result of any length, which is JSON; on a terminal, which shows little of it, in lines. */
  async stream(json: Readable): Promise<void> {
    if (process.stdout.isTTY && !this.isJson) {
      process.stdout.write(shown(`${JSON.stringify(JSON.parse(await text(json)), null, 2)}\n`));
      return;
    }
    const printed = async function* (chunks: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const chunk of chunks) yield printable(chunk);
      yield '\n';
    };
    await pipeline(json.setEncoding('utf8'), printed, process.stdout, { end: false });
  }

  /** A colour, on a terminal alone and not where NO_COLOR is set. */
  paint(style: Style, text: string): string {
    if (!process.stdout.isTTY || process.env['NO_COLOR']) return text;
    return styleText(style, printable(text)).replaceAll('\u001B', OWN_ESCAPE);
  }

  /** Columns with their headings. */
  table(
    headings: readonly string[],
    rows: readonly (readonly (string | number | null | undefined)[])[],
  ): string {
    const cells = [headings, ...rows].map((row) => row.map((cell) => plain(String(cell ?? '-'))));
    const widths = headings.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
    const line = (row: readonly string[]): string =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd();
    const [head = [], ...others] = cells;
    return [this.paint('bold', line(head)), ...others.map(line)].join('\n');
  }

  /** What the user types; refused where there is no terminal to type at. */
  async ask(question: string, without: string): Promise<string> {
    if (!process.stdin.isTTY || this.isJson)
      throw wrongUsage('There is no terminal to ask at.', `Run it with ${without}.`);
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return (await lines.question(shown(question))).trim();
    } finally {
      lines.close();
    }
  }
}
