import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { ERRORS, readConfig, SETTINGS } from '@app/kernel';

const ROOT = join(__dirname, '../..');
/** Folders whose files are not the project's own. */
const FOREIGN = new Set(['node_modules', 'dist', 'data', 'coverage', '.git']);

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every markdown file of the project, relative to it. */
function markdownFiles(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return FOREIGN.has(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}

/** Links to files, without those to other sites, and without code, which only looks like them. */
function linkedFiles(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target));
}

/** The first cells of the table between the markers of `name`, without their code marks. */
function firstCells(name: string): string[] {
  const block = new RegExp(`<!-- generated:${name} -->([\\s\\S]*?)<!-- /generated -->`).exec(
    read('README.md'),
  );
  return [...(block?.[1] ?? '').matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell);
}

describe('what is generated', () => {
  it('is what the code says now (else: npm run docs)', () => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/docs.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect({ status, stale: stdout }).toEqual({ status: 0, stale: '' });
  });

  it('names every setting and every error code in the README', () => {
    expect(firstCells('settings')).toEqual(Object.values(SETTINGS).map(({ name }) => name));
    expect(firstCells('errors')).toEqual(Object.keys(ERRORS));
  });

  it('lists the same error codes in openapi.json', () => {
    const { components } = JSON.parse(read('openapi.json')) as {
      components: {
        schemas: { Error: { properties: { error: { properties: { code: { enum: string[] } } } } } };
      };
    };
    expect(components.schemas.Error.properties.error.properties.code.enum).toEqual(Object.keys(ERRORS));
  });
});

describe('.env.example', () => {
  it('changes nothing as it stands', () => {
    expect(parseDotenv(read('.env.example'))).toEqual({});
  });

  it('gives the defaults once its lines are taken into use', () => {
    const inUse = parseDotenv(read('.env.example').replace(/^#(?=[A-Z_]+=)/gm, ''));
    expect(Object.keys(inUse)).toEqual(Object.values(SETTINGS).map(({ name }) => name));
    expect(readConfig(inUse)).toEqual(readConfig({}));
  });
});

describe('README.md', () => {
  it.each(['npm ci && npm start', 'npm ci && npm test'])('names the command %s', (command) => {
    expect(read('README.md').split('\n')).toContain(command);
  });

  it('names no npm script that is not there', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = markdownFiles().flatMap((path) =>
      [...read(path).matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, script = '']) => script),
    );
    expect([...new Set(named)].filter((script) => scripts[script] === undefined)).toEqual([]);
  });
});

describe('every markdown file', () => {
  it.each(markdownFiles())('%s links only to files that are there', (path) => {
    const missing = linkedFiles(read(path)).filter(
      (target) => !existsSync(join(ROOT, dirname(path), target)),
    );
    expect(missing).toEqual([]);
  });
});
