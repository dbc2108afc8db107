import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');
const text = readFileSync(join(root, 'docs/privacy.md'), 'utf8');

/** The mark at the end of each line of a table. */
const marks = [...text.matchAll(/^\|.*\| ([A-Z]\d+) +\|$/gm)].map(([, mark]) => mark);
/** The test of each mark: `- K1: path, "title"`. */
const shown = [...text.matchAll(/^- ([A-Z]\d+): `([^`]+)`, "(.+)"$/gm)].map(([, mark, path, title]) => ({
  mark,
  path: String(path),
  title: String(title),
}));

describe('docs/privacy.md', () => {
  it('names a test for each line, and no test for a line that is not there', () => {
    expect(marks.length).toBeGreaterThan(20);
    expect(new Set(marks).size).toBe(marks.length);
    expect([...new Set(shown.map(({ mark }) => mark))].sort()).toStrictEqual([...marks].sort());
  });

  it.each(shown.map(({ path, title }) => [path, title]))('names a test of %s: %s', (path, title) => {
    const source = readFileSync(join(root, path), 'utf8');
    const titles = [
      ...source.matchAll(/\b(?:it|itInPart|describe)(?:\.each\([^)]*\))?\(\s*(['"`])(.+?)\1,/gs),
    ].map(([, , found]) => found);
    expect(titles).toContain(title);
  });
});
