import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

// The scenarios of `npm run soak`, which no test runs.

const SOAK = join(__dirname, '../../soak');
const FILES = readdirSync(join(SOAK, 'scenarios'));
const read = (path: string): string => readFileSync(join(SOAK, path), 'utf8');
/** What a scenario exports as `const`, without its quotation marks. */
const constant = (source: string, name: string): string | undefined =>
  new RegExp(`^export const ${name} =\\s+(?:'([^']+)'|\\[([^\\]]+)\\]);$`, 'm')
    .exec(source)
    ?.slice(1)
    .find((text) => text !== undefined);

describe('a scenario of the soak', () => {
  it.each(FILES)('%s has the name of its file, says what it shows and where, and can be run', (file) => {
    const source = read(join('scenarios', file));
    expect(constant(source, 'name')).toBe(basename(file, '.mjs'));
    expect(constant(source, 'shows')).toMatch(/^\S.{20,}/);
    expect(constant(source, 'engines')).toMatch(/^('sqlite'|'postgres')(, 'postgres')?$/);
    expect(source).toMatch(/^export async function run\(/m);
  });

  it('is listed in soak/README.md with what it shows, like every other', () => {
    const listed = [...read('README.md').matchAll(/^\| `([^`]+)` +\| (.+?) +\| [^|]+ \|$/gm)];
    const all = FILES.map((file) => read(join('scenarios', file)));
    expect(listed.map(([, name, shows]) => [name, shows])).toEqual(
      all.map((source) => [constant(source, 'name'), constant(source, 'shows')]).sort(),
    );
  });
});
