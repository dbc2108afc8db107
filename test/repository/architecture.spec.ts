import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** A library imports only from lower levels. Consent is above the categories. */
const LEVELS: Readonly<Record<string, number>> = {
  kernel: 0,
  database: 1,
  http: 1,
  crypto: 2,
  acts: 3,
  audit: 4,
  bots: 4,
  servers: 4,
  categories: 5,
  sealing: 5,
  consent: 6,
  'user-data': 7,
  gdpr: 7,
  pages: 8,
  webhooks: 8,
  operations: 9,
  reports: 9,
  runtime: 10,
  apps: 11,
};

interface Import {
  readonly from: string;
  readonly what: string;
}

interface Source {
  /** Relative to the project. */
  readonly path: string;
  /** The library, `apps`, or `packages/` and the package. */
  readonly room: string;
  readonly text: string;
}

function sourcesOf(top: string): Source[] {
  return readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\/dist\b/.test(entry.parentPath))
    .map((entry) => {
      const path = relative(ROOT, join(entry.parentPath, entry.name));
      const [, inner = ''] = path.split('/');
      const room = { apps: 'apps', packages: `packages/${inner}` }[top] ?? inner;
      return { path, room, text: readFileSync(join(ROOT, path), 'utf8') };
    });
}

const ALL = [...sourcesOf('libs'), ...sourcesOf('apps'), ...sourcesOf('packages')];
const TESTS = sourcesOf('test');
const SOURCES = ALL.filter(({ path }) => !path.endsWith('.spec.ts'));
const PUBLISHED = SOURCES.filter(({ room }) => room.startsWith('packages/'));
const LAUNCHER = 'apps/server/src/launcher.ts';
/** The page of a browser, which reaches the service through its published client alone. */
const CONSOLE = 'apps/console/';
/** Written by `npm run openapi`. */
const GENERATED = ['packages/sdk/src/openapi.ts'];

function importsOf({ path, text }: Source): Import[] {
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|\brequire\(\s*)['"]([^'"]+)['"]/g);
  return [...found].map(([, what = '']) => ({ from: path, what }));
}

/** The library that an alias names: `@app/user-data` and, against the rule, `@app/user-data/src/x`. */
const aliased = (what: string) => /^@app\/([^/]+)/.exec(what)?.[1];

const text = ({ from, what }: Import) => `${from} imports ${what}`;

/** Whether an import reaches into a library past its index. */
function isDeep({ from, what }: Import): boolean {
  if (what.startsWith('@app/')) return what.split('/').length > 2;
  return /^(libs|packages)\//.test(relative(ROOT, join(dirname(from), what)));
}

/** The imports of a source that break the order of the levels. */
function upward(source: Source): string[] {
  const own = LEVELS[source.room] ?? -1;
  return importsOf(source)
    .filter(({ what }) => {
      const library = aliased(what);
      return library !== undefined && (LEVELS[library] ?? 99) >= own;
    })
    .map(text);
}

describe('the libraries', () => {
  it('all have a level', () => {
    const libraries = new Set(sourcesOf('libs').map(({ room }) => room));
    expect([...libraries].filter((library) => LEVELS[library] === undefined)).toStrictEqual([]);
  });

  it('are listed with their levels in the module map of libs/README.md, but for those of a team', () => {
    const map = readFileSync(join(ROOT, 'libs/README.md'), 'utf8').matchAll(/^\| (\d+) +\| `([a-z-]+)/gm);
    const listed = Object.fromEntries([...map].map(([, level, library = '']) => [library, Number(level)]));
    expect(LEVELS).toMatchObject(listed);
    const team = readFileSync(join(ROOT, 'modules.ts'), 'utf8');
    const missing = Object.keys(LEVELS).filter((library) => listed[library] === undefined);
    expect(missing.filter((library) => !team.includes(`'@app/${library}'`))).toStrictEqual([]);
  });

  it('import only what stands on a lower level', () => {
    expect(SOURCES.flatMap(upward)).toStrictEqual([]);
  });

  it('would be caught importing upwards', () => {
    const bad = { path: 'libs/consent/src/x.ts', room: 'consent', text: `import { G } from '@app/gdpr';` };
    expect(upward(bad)).toStrictEqual(['libs/consent/src/x.ts imports @app/gdpr']);
  });

  it('reach each other through the alias alone, never deep', () => {
    const deep = SOURCES.flatMap(importsOf).filter(({ from, what }) => {
      if (what.startsWith('@app/')) return what.split('/').length > 2;
      if (!what.startsWith('.')) return what.startsWith('libs/') || what.startsWith('apps/');
      const target = relative(ROOT, join(dirname(from), what));
      // How TypeORM connects, and the modules of a team, are above all libraries.
      if (['ormconfig', 'modules'].includes(target)) return !from.startsWith('apps/');
      // The launcher starts the other programs, and looks a command that it does not know up in those of the operator.
      if (from === LAUNCHER && /^apps\/(\w+\/src\/main|admin\/src\/admin)\.js$/.test(target)) return false;
      return target.split('/').slice(0, 2).join() !== from.split('/').slice(0, 2).join();
    });
    expect(deep.map(text)).toStrictEqual([]);
  });

  it('do not import their own barrel', () => {
    const own = SOURCES.flatMap((source) =>
      importsOf(source).filter(
        ({ what }) => aliased(what) === source.room || /^\.{1,2}(\/index)?\/?$/.test(what),
      ),
    );
    expect(own.map(text)).toStrictEqual([]);
  });

  it('never use forwardRef', () => {
    expect(
      SOURCES.filter((source) => /\bforwardRef\b/.test(source.text)).map(({ path }) => path),
    ).toStrictEqual([]);
  });

  it('are imported only by the composition root where they only listen, and by the operator who reads: webhooks and reports', () => {
    const importers = SOURCES.filter(
      (source) =>
        !['apps', 'runtime'].includes(source.room) &&
        importsOf(source)
          .map(({ what }) => aliased(what))
          .some(
            (room) =>
              room === 'reports' || (room === 'webhooks' && !['reports', 'operations'].includes(source.room)),
          ),
    );
    expect(importers.map(({ path }) => path)).toStrictEqual([]);
  });

  it('load nothing but Node.js and the driver of SQLite into a thread', () => {
    const loaded = new Map<string, string[]>();
    const load = (path: string): void => {
      const source = SOURCES.find((each) => each.path === path);
      if (source === undefined || loaded.has(path)) return;
      const values = source.text.replace(/\bimport type\b[^;]*;/g, '');
      const found = importsOf({ ...source, text: values }).map(({ what }) => what);
      loaded.set(path, found);
      for (const what of found) if (what.startsWith('.')) load(`${join(dirname(path), what)}.ts`);
    };
    const threads = SOURCES.filter(({ path }) => path.endsWith('.thread.ts')).map(({ path }) => path);
    expect(threads).toStrictEqual(['libs/database/src/checkpoint.thread.ts']);
    threads.forEach(load);
    const others = [...loaded].flatMap(([from, found]) => found.map((what) => ({ from, what })));
    expect(others.filter(({ what }) => !/^(node:|\.|better-sqlite3)/.test(what)).map(text)).toStrictEqual([]);
  });

  it('export by name, listed in index.ts', () => {
    expect(
      SOURCES.filter((source) => /^export default\b/m.test(source.text)).map(({ path }) => path),
    ).toStrictEqual([]);
  });
});

describe('the published packages', () => {
  it('are imported by no library, and by no application but the launcher and the console', () => {
    const imports = SOURCES.filter(
      (source) => !PUBLISHED.includes(source) && !source.path.startsWith(CONSOLE),
    ).flatMap(importsOf);
    const published = imports.filter(({ what }) => what.startsWith('@lethe/')).map(text);
    // The launcher runs lethe-verify.
    expect(published).toStrictEqual(['apps/server/src/verify.ts imports @lethe/sdk/evidence/lethe-verify']);
  });

  /** What each folder may import besides its own files. */
  const BESIDE: Readonly<Record<string, RegExp>> = {
    'packages/sdk/src/evidence/': /^node:/,
    'packages/sdk/src/holders/': /^node:/,
    'packages/discord/src/': /^@lethe\/sdk$/,
    'packages/discord/src/discord-js/': /^discord\.js$/,
    'packages/cli/src/': /^(node:.+|@lethe\/sdk(\/evidence|\/testing)?|commander|yaml)$/,
  };

  it('import nothing but their own files and the few that are listed', () => {
    const foreign = PUBLISHED.flatMap(importsOf).filter(
      ({ from, what }) =>
        !what.startsWith('.') &&
        !Object.entries(BESIDE).some(([folder, pattern]) => from.startsWith(folder) && pattern.test(what)),
    );
    expect(foreign.map(text)).toStrictEqual([]);
  });

  it('are the only way of the console to the service', () => {
    const own = SOURCES.filter(({ path }) => path.startsWith(CONSOLE)).flatMap(importsOf);
    expect(own.filter(({ what }) => /^@app\/|^node:|\/libs\//.test(what)).map(text)).toStrictEqual([]);
  });

  it('load nothing of discord.js: it is named for its types alone', () => {
    const values = PUBLISHED.map((source) => ({
      ...source,
      text: source.text.replace(/\bimport type\b[^;]*;/g, ''),
    }));
    expect(
      values
        .flatMap(importsOf)
        .filter(({ what }) => what === 'discord.js')
        .map(text),
    ).toStrictEqual([]);
  });
});

/** The fake service of the SDK is one object whose parts have files of their own. */
const ONE_OBJECT = 'packages/sdk/src/testing/';

/** The files that import each other in a circle, and those on a way between two circles. */
function circles(sources: readonly Source[]): string[] {
  const files = new Set(sources.map(({ path }) => path));
  const fileOf = (from: string, what: string): string | undefined =>
    ['.ts', '.tsx']
      .map((end) => `${join(dirname(from), what).replace(/\.js$/, '')}${end}`)
      .find((path) => files.has(path));
  const arrows = sources.flatMap(importsOf).flatMap(({ from, what }) => {
    const to = what.startsWith('.') ? fileOf(from, what) : undefined;
    return to === undefined ? [] : [{ from, to }];
  });
  // An arrow from or to a file without another on that side is in no circle.
  for (let left = arrows; ;) {
    const [importers, imported] = [new Set(left.map(({ from }) => from)), new Set(left.map(({ to }) => to))];
    const next = left.filter(({ from, to }) => imported.has(from) && importers.has(to));
    if (next.length === left.length) return [...importers].sort();
    left = next;
  }
}

describe('the files of libs, apps and packages', () => {
  it('import no other in a circle, by a type either', () => {
    expect(circles(SOURCES).filter((path) => !path.startsWith(ONE_OBJECT))).toStrictEqual([]);
  });

  it('would be caught importing each other', () => {
    const files = [
      ['libs/a/src/x.ts', "import type { Y } from './y';"],
      ['libs/a/src/y.ts', "import { z } from './z';"],
      ['libs/a/src/z.ts', "import type { X } from './x';"],
      ['libs/a/src/w.ts', "import type { X } from './x';"],
    ] as const;
    const found = circles(files.map(([path, content]) => ({ path, room: 'a', text: content })));
    expect(found).toStrictEqual(files.slice(0, 3).map(([path]) => path));
  });

  it('throw no error whose words the log would drop', () => {
    // The faults of settings are shown before there is a log.
    const thrown = SOURCES.filter(
      (source) => !/^libs\/kernel\/src\/setting[s-]/.test(source.path) && !PUBLISHED.includes(source),
    ).flatMap(({ path, text }) =>
      [...text.matchAll(/new Error\(\s*['"`].*/g)].map(([found]) => `${path}: ${found}`),
    );
    expect(thrown).toStrictEqual([]);
  });

  it('write what a stranger may have named to a terminal in one place of each program', () => {
    const writers = SOURCES.filter(
      ({ path, text: content }) =>
        /^(apps\/admin|packages\/cli)\//.test(path) &&
        /\b(stdout|stderr|out)\.write\(|console\.|process\.stdout(,|\))/.test(content),
    );
    expect(writers.map(({ path }) => path)).toStrictEqual([
      'apps/admin/src/admin.context.ts',
      'apps/admin/src/output.ts',
      'packages/cli/src/output.ts',
    ]);
    // Each write of these files is of a text that is printable; drawing and line ends are their own.
    const raw = writers.flatMap(({ path, text: content }) =>
      [...content.matchAll(/\.write\((?!printable\(|shown\(|'|`\\r\\u001b\[2K\$\{printable\().*/g)].map(
        ([found]) => `${path}: ${found}`,
      ),
    );
    expect(raw).toStrictEqual([]);
  });

  it('have at most 250 lines', () => {
    const long = SOURCES.map(({ path, text: content }) => ({ path, lines: content.split('\n').length - 1 }));
    const exceeding = long.filter(({ path, lines }) => lines > 250 && !GENERATED.includes(path));
    expect(exceeding).toStrictEqual([]);
  });

  it('are named <thing>.<role>.ts in kebab case', () => {
    const names = SOURCES.map(({ path }) => path).filter(
      (path) =>
        !/\/[a-z0-9]+([.-][a-z0-9]+)*\.ts$/.test(path.startsWith(CONSOLE) ? path.replace(/x$/, '') : path),
    );
    expect(names).toStrictEqual([]);
  });

  it('reach the database only through UnitOfWork', () => {
    const bare = SOURCES.filter(
      ({ room, text: content }) =>
        !['database', 'operations'].includes(room) &&
        /@InjectRepository|@InjectDataSource|\.transaction\(/.test(content),
    );
    expect(bare.map(({ path }) => path)).toStrictEqual([]);
  });

  it('switch no rule off', () => {
    const marks = /(es|ox)lint-disable|@ts-ignore|@ts-nocheck|prettier-ignore|istanbul ignore/;
    expect(ALL.filter((source) => marks.test(source.text)).map(({ path }) => path)).toStrictEqual([]);
  });
});

describe('the files of the tests', () => {
  it('reach the libraries through the alias alone, never deep', () => {
    expect(TESTS.flatMap(importsOf).filter(isDeep).map(text)).toStrictEqual([]);
  });

  it('would be caught importing deep', () => {
    const from = 'test/contract/x.spec.ts';
    const deep = ['../../libs/audit/src/audit-sealer', '@app/audit/src/audit-sealer'];
    expect(deep.map((what) => isDeep({ from, what }))).toStrictEqual([true, true]);
  });

  it('are in the folder of what they protect, with a name that says on which engines they run', () => {
    const suites = TESTS.map(({ path }) => path).filter((path) => /spec\.ts$/.test(path));
    const known =
      /^test\/(browser|contract|engines|faults|packages|properties|operations|repository)\/[a-z-]+(\.deep)?(\.postgres\.spec|\.spec|(\.engines)?\.e2e-spec)\.ts$/;
    expect(suites.filter((path) => !known.test(path))).toStrictEqual([]);
    expect(suites.length).toBeGreaterThan(90);
  });
});
