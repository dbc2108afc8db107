import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { CONFLICT_REASONS, ERRORS, readConfig, SETTINGS } from '@app/kernel';
import { ownPaths } from '../support/further-modules';

const ROOT = join(__dirname, '../..');
/** Folders whose files are not the project's own. */
const FOREIGN = new Set(['node_modules', 'dist', 'data', 'coverage', 'release', '.git']);

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

/** Links to files of the project, outside of code. */
function linkedFiles(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target));
}

/** Links to headings, as [file, heading]; the file is empty for the page itself. */
function linkedHeadings(markdown: string): [string, string][] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)/gi)].map(([, file = '', heading = '']) => [
    file,
    heading,
  ]);
}

/** The anchors of the headings of a page, in the form of GitHub. */
function headings(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The first cells of the table between the markers of `name` in docs/reference.md, without their code marks. */
function firstCells(name: string): string[] {
  const block = new RegExp(`<!-- generated:${name} -->([\\s\\S]*?)<!-- /generated -->`).exec(
    read('docs/reference.md'),
  );
  return [...(block?.[1] ?? '').matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell);
}

/** The routes with a mark below `@Post` or `@Put`, as `POST /path/{parameter}`. */
function routesWith(mark: RegExp): string[] {
  const controllers = readdirSync(join(ROOT, 'libs'), { recursive: true, encoding: 'utf8' });
  return controllers
    .filter((name) => name.endsWith('.controller.ts'))
    .flatMap((name) => routesIn(name, read(join('libs', name)), mark));
}

/** @throws where a mark is not between `@Post` or `@Put` and the end of the method. */
function routesIn(name: string, source: string, mark: RegExp): string[] {
  return [...source.matchAll(mark)].map(({ index }) => {
    const before = source.slice(0, index);
    const last = (decorator: RegExp): RegExpExecArray | undefined => [...before.matchAll(decorator)].at(-1);
    const [, prefix = ''] = last(/@Controller\((?:'([^']*)')?/g) ?? [];
    const route = last(/^ {2}@(Post|Put)\((?:'([^']*)')?\)$/gm);
    if (route === undefined || /^ {2}(\S.*)?\}$/m.test(before.slice(route.index)))
      throw new Error(`${name}: ${mark.source} is not below @Post or @Put`);
    const [, method = '', path = ''] = route;
    return `${method.toUpperCase()} /${join(prefix, path)}`.replace(/:(\w+)/g, '{$1}');
  });
}

describe('what is generated', () => {
  it('is what the code says now (else: npm run docs)', () => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/docs.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect({ status, stale: stdout }).toEqual({ status: 0, stale: '' });
  });

  it('names every setting and every error code in docs/reference.md', () => {
    expect(firstCells('settings')).toEqual(Object.values(SETTINGS).map(({ name }) => name));
    expect(firstCells('errors')).toEqual(Object.keys(ERRORS));
  });

  it('has an entry for every error code and every conflict reason in docs/errors.md', () => {
    const entries = [...read('docs/errors.md').matchAll(/^### (?:\d{3} )?`([a-z_]+)`$/gm)].map(
      ([, name]) => name,
    );
    expect(entries).toEqual([...Object.keys(ERRORS), ...Object.keys(CONFLICT_REASONS)]);
  });

  it('says in docs/existing-bot.md what to do after each error that an item of a batch can have', () => {
    const { paths } = JSON.parse(read('openapi.json')) as {
      paths: Readonly<
        Record<string, { readonly post: { readonly responses: Readonly<Record<string, object>> } }>
      >;
    };
    const codesOf = (path: string): string[] => {
      const { '200': _, ...errors } = paths[path]?.post.responses ?? {};
      return [...JSON.stringify(errors).matchAll(/"code":"(\w+)"/g)].map(([, code = '']) => code);
    };
    const ofRequests = codesOf('/api/v1/data/submit/batch');
    const ofItems = codesOf('/api/v1/data/submit').filter((code) => !ofRequests.includes(code));
    expect(ofItems).toContain('processing_refused');
    // What a request and an item can both have.
    const ofBoth = [
      'invalid_request',
      'payload_too_large',
      'conflict',
      'service_unavailable',
      'internal_error',
    ];
    const [, table = ''] = read('docs/existing-bot.md').split('What to do with the row');
    const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
    expect(rows.sort()).toEqual([...new Set([...ofItems, ...ofBoth])].sort());
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
  it('changes nothing in the present files', () => {
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

  it('is at most 9 KB long', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(9000);
  });

  it('names no npm script that is not there', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = markdownFiles().flatMap((path) =>
      [...read(path).matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, script = '']) => script),
    );
    expect([...new Set(named)].filter((script) => scripts[script] === undefined)).toEqual([]);
  });
});

describe('docs/webhooks.md', () => {
  it('shows the receiver of docs/receiver.mjs, which the README starts', () => {
    expect(read('docs/webhooks.md')).toContain(`\`\`\`js\n${read('docs/receiver.mjs')}\`\`\``);
    expect(read('README.md')).toContain('\nnode docs/receiver.mjs &\n');
  });
});

describe('the documented access', () => {
  interface Operation {
    readonly security?: readonly { readonly apiKey?: readonly [string] }[];
    readonly responses: Readonly<Record<string, { readonly description?: string }>>;
  }
  /** The routes of bots that are no GET, with their scopes. */
  const routes = () => {
    const { paths } = JSON.parse(read('openapi.json')) as {
      paths: Record<string, Record<string, Operation>>;
    };
    return Object.entries(ownPaths(paths)).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security = [], responses }]) => {
        const scopes = security.flatMap(({ apiKey = [] }) => apiKey);
        const name = `${method.toUpperCase()} ${path.replace('/api/v1', '')}`;
        const isOpen = !(responses['403']?.description ?? '').includes('`suspended`');
        return method === 'get' || scopes.length === 0 ? [] : [{ name, scopes, isOpen }];
      }),
    );
  };
  const namedIn = (text: string): string[] =>
    [...text.matchAll(/`((?:POST|PUT|DELETE) \/[^`?]+)`/g)].map(([, route = '']) => route).toSorted();

  it('of each scope is that of openapi.json', () => {
    const page = read('docs/reference.md');
    for (const scope of ['read', 'write', 'erase', 'admin']) {
      const [row = ''] = new RegExp(`^\\| \`${scope}\` .*$`, 'm').exec(page) ?? [];
      const opened = routes().filter(({ scopes }) => scopes.length === 1 && scopes[0] === scope);
      expect([scope, namedIn(row)]).toEqual([scope, opened.map(({ name }) => name).toSorted()]);
    }
  });

  it('of a suspended bot is that of openapi.json', () => {
    const [line = ''] =
      /bots:suspend --bot ID`\*\*[\s\S]*?Everything else/.exec(read('docs/operate.md')) ?? [];
    const open = routes().filter(({ isOpen }) => isOpen);
    expect(namedIn(line)).toEqual(open.map(({ name }) => name).toSorted());
  });
});

describe('the reading of the controllers', () => {
  const source = (...lines: string[]): string =>
    ["@Controller('things')", 'class Things {', ...lines.map((line) => `  ${line}`), '}'].join('\n');
  const routesOf = (...lines: string[]) => routesIn('things.controller.ts', source(...lines), /@Mark\(\)/g);

  it('finds a mark among the decorators and the parameters of a route', () => {
    const first = ["@Post(':id')", '@Describes({', "  summary: 'One',", '})', '@Mark()', 'one() {}'];
    const second = ['@Put()', 'two(', '  @Mark() claim: Claim,', ') {', '}'];
    expect(routesOf(...first, ...second)).toEqual(['POST /things/{id}', 'PUT /things']);
  });

  it.each([
    ['above @Post', ['@Mark()', "@Post('y')"]],
    ['of @Get', ["@Get('y')", '@Mark()']],
    ['of @Delete', ["@Delete('y')", '@Mark()']],
    ['of a list of paths', ["@Post(['y', 'z'])", '@Mark()']],
  ])('refuses a mark %s, with the name of the file', (_, lines) => {
    const route = ["@Post('x')", 'one() {', '}'];
    expect(() => routesOf(...route, ...lines, 'two() {}')).toThrow('things.controller.ts');
    expect(() => routesOf(...lines, 'two() {}')).toThrow('things.controller.ts');
  });
});

describe('docs/operate.md', () => {
  it('names the routes that a low disk leaves open, and no other', () => {
    const [section = ''] = /^## Full disk$[\s\S]*?(?=^## )/m.exec(read('docs/operate.md')) ?? [];
    const named = [...section.matchAll(/`((?:POST|PUT) \/\S+)`/g)].map(([, route]) => route);
    expect(named.toSorted()).toEqual(routesWith(/@EvenWhile\([^)]*'low disk'\)/g).toSorted());
  });
});

describe('docs/reference.md', () => {
  it('names the routes on which an Idempotency-Key counts for one API key, and no other', () => {
    const [line = ''] = /^- A key counts for one bot.*(?:\n {2}.*)*/m.exec(read('docs/reference.md')) ?? [];
    const named = [...line.matchAll(/`(POST [^`]+)`/g)].map(([, route = '']) => route);
    expect(named.toSorted()).toEqual(routesWith(/@Claimed\('key'\)/g).toSorted());
  });
});

describe('docs/README.md', () => {
  it('leads to every page', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    const linked = linkedFiles(read('docs/README.md'));
    expect(pages.filter((name) => !linked.includes(name))).toEqual([]);
  });
});

describe('every markdown file', () => {
  it.each(markdownFiles())('%s links only to files that are there', (path) => {
    const missing = linkedFiles(read(path)).filter(
      (target) => !existsSync(join(ROOT, dirname(path), target)),
    );
    expect(missing).toEqual([]);
  });

  it.each(markdownFiles())('%s has each heading once', (path) => {
    const all = headings(read(path));
    expect(all.filter((heading, at) => all.indexOf(heading) !== at)).toEqual([]);
  });

  it('shows every picture that it has', () => {
    const shown = new Set(
      markdownFiles().flatMap((file) => linkedFiles(read(file)).map((target) => join(dirname(file), target))),
    );
    const kept = readdirSync(join(ROOT, 'docs/pictures')).map((name) => join('docs/pictures', name));
    expect(kept.filter((path) => !shown.has(path))).toEqual([]);
  });

  it('has a blank line before each function in a function of its Python', () => {
    const found = markdownFiles().flatMap((path) =>
      [...read(path).matchAll(/^```python\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
        [...block.matchAll(/^ *[^\s@#].*[^:\n]\n(?= )(.*\bdef .*)$/gm)].map(([, line]) => [path, line]),
      ),
    );
    expect(found).toEqual([]);
  });

  it.each(markdownFiles())('%s links only to headings that are there', (path) => {
    const missing = linkedHeadings(read(path)).filter(([target, heading]) => {
      const file = target === '' ? path : join(dirname(path), target);
      return file.endsWith('.md') && existsSync(join(ROOT, file)) && !headings(read(file)).includes(heading);
    });
    expect(missing).toEqual([]);
  });
});
