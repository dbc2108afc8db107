import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { wrongUsage } from './failures';

type Style = Parameters<typeof styleText>[0];

/** Takes the characters out of a text that a terminal would obey. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ').trim();

/** Where the output of a command is written: for people or, with `--json`, for programs. */
export class Output {
  constructor(readonly isJson: boolean) {}

  /** The result of the command: one JSON value a line, or a text. */
  result(value: unknown, text: string): void {
    process.stdout.write(`${this.isJson ? JSON.stringify(value) : text}\n`);
  }

  /** A line beside the result, for people. */
  note(text: string): void {
    if (!this.isJson) process.stderr.write(`${text}\n`);
  }

  /** A line that the next one replaces, on a terminal alone. */
  progress(text: string): void {
    if (process.stderr.isTTY && !this.isJson) process.stderr.write(`\r\u001B[K${text}`);
  }

  /** A colour, on a terminal alone and not where NO_COLOR is set. */
  paint(style: Style, text: string): string {
    return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText(style, text) : text;
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
      return (await lines.question(question)).trim();
    } finally {
      lines.close();
    }
  }
}
