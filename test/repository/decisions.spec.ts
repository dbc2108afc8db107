import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../docs/decisions');
const INDEX = 'README.md';
const HEADINGS = ['Status', 'Context', 'Decision', 'Consequences'];
const FILES = readdirSync(FOLDER).filter((name) => name !== INDEX);

const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, it = '']) => it);
const numberOf = (file: string): number => Number(file.slice(0, 4));
const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number > (numbers[at - 1] as number));

/** Numbers that the index declares unused: single ones and ranges, such as "55, 74 to 79". */
function unusedNumbers(): number[] {
  const [list = ''] = matches(read(INDEX), /^[^#]*?\bNot used: ([^.]+)\./gm);
  return list.split(',').flatMap((part) => {
    const [from = NaN, to = from] = part.split('to').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

describe('the decisions in docs/decisions', () => {
  it('are files whose names are a number and words', () => {
    expect(FILES.length).toBeGreaterThan(0);
    expect(FILES.filter((name) => !/^\d{4}(-[a-z0-9]+)+\.md$/.test(name))).toEqual([]);
  });

  it('have each number once, without a gap that the index does not declare', () => {
    const numbers = FILES.map(numberOf);
    const all = [...numbers, ...unusedNumbers()].sort((one, other) => one - other);
    expect(all).toEqual(Array.from({ length: Math.max(...numbers) }, (_, at) => at + 1));
  });

  it.each(FILES)('%s has its number, a title, the four headings in order, and text below each', (name) => {
    const text = read(name);
    expect(matches(text, /^# (\d+)\. \S/gm)).toEqual([String(numberOf(name))]);
    expect(matches(text, /^## (.+)$/gm)).toEqual(HEADINGS);
    const [, ...sections] = text.split(/^## .+$/m);
    expect(sections.map((section) => section.trim()).filter((section) => section === '')).toEqual([]);
    expect(sections[0]?.trim()).toMatch(/^(Accepted|Superseded)\b/);
  });

  it('are in the index exactly once, under their title and with one sentence', () => {
    const lines = matches(read(INDEX), /^- (.+)$/gm);
    expect(lines.filter((line) => !/^\[\d+\. .+\]\(\d{4}-[a-z0-9-]+\.md\)\. \S.+\.$/.test(line))).toEqual([]);
    const entries = lines.map((line) => line.slice(0, line.indexOf('.md). ') + '.md)'.length));
    const expected = FILES.map((name) => `[${/^# (.+)$/m.exec(read(name))?.[1]}](${name})`);
    expect(entries.sort()).toEqual(expected.sort());
  });

  it('are in the order of their numbers within each topic of the index', () => {
    const [, ...topics] = read(INDEX).split(/^## /m);
    expect(topics.length).toBeGreaterThan(1);
    for (const topic of topics) {
      expect({ topic, ascends: isAscending(matches(topic, /^- \[(\d+)\./gm).map(Number)) }).toEqual({
        topic,
        ascends: true,
      });
    }
  });

  it('link to each other by the right number', () => {
    for (const name of FILES) {
      const links = [...read(name).matchAll(/\[decision (\d+)\]\(([^)]*)\)/g)];
      const wrong = links.filter(
        ([, number, file = '']) => !FILES.includes(file) || numberOf(file) !== Number(number),
      );
      expect({ name, wrong: wrong.map(([link]) => link) }).toEqual({ name, wrong: [] });
    }
  });

  it('mention no other decision without a link to it', () => {
    for (const name of FILES) {
      const prose = read(name).replace(/\[decision \d+\]\([^)]*\)/g, '');
      expect({ name, bare: prose.match(/\bdecisions? \d+/gi) ?? [] }).toEqual({ name, bare: [] });
    }
  });
});
