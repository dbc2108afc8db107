import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { escaped } from '@app/pages';
import { ownPaths } from '../support/further-modules';
import { canRun } from '../support/programs';
import { useServiceInProcess } from '../support/service';

// The samples of openapi.json: they compile against the client, and each language says the same.

const ROOT = join(__dirname, '../..');
const LABELS = ['curl', 'TypeScript', 'Python'];

interface Sample {
  readonly label: string;
  readonly source: string;
}
interface Operation {
  readonly 'x-codeSamples'?: readonly Sample[];
  readonly requestBody?: { content: Record<string, { examples?: { canonical?: { value: unknown } } }> };
}

const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const OPERATIONS = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const samples = operation['x-codeSamples'] ?? [];
    const [curl = '', typescript = '', python = ''] = samples.map(({ source }) => source);
    const body = operation.requestBody?.content['application/json']?.examples?.canonical?.value;
    const labels = samples.map(({ label }) => label);
    return { method: method.toUpperCase(), path, labels, curl, typescript, python, body };
  }),
);

const directory = mkdtempSync(join(tmpdir(), 'lethe-samples-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('the samples of openapi.json', () => {
  it('are there for every operation in each language, with a method of the clients', () => {
    // The clients have no method for the route of a module.
    const own = ownPaths(document.paths);
    const lacking = OPERATIONS.filter(
      ({ path, labels, typescript }) =>
        labels.join() !== LABELS.join() || (path in own && typescript.includes('lethe.request(')),
    );
    expect(lacking.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(OPERATIONS.length).toBeGreaterThan(40);
  });

  it('in TypeScript compile against @lethe/sdk', () => {
    const files = OPERATIONS.map(({ typescript }, at) => {
      const file = join(directory, `sample${at}.mts`);
      writeFileSync(file, typescript);
      return file;
    });
    const options: ts.CompilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022 },
      ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      paths: { '@lethe/sdk': [join(ROOT, 'packages/sdk/src/index.ts')] },
    };
    // The comments of the libraries are nine tenths of their text.
    const host = ts.createCompilerHost(options);
    host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
    const program = ts.createProgram(files, options, host);
    const faults = files.flatMap((file) => {
      const source = program.getSourceFile(file);
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    });
    expect(
      faults.map(({ file, messageText }) => [file?.text, ts.flattenDiagnosticMessageText(messageText, ' ')]),
    ).toEqual([]);
  });

  it('in Python call the same methods in snake case, with the same names of arguments', () => {
    const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const called = (source: string): string | undefined => /\b[lL]ethe\.([\w.]+)\(/.exec(source)?.[1];
    const namesIn = (source: string): string[] =>
      [...source.matchAll(/\b([a-z][a-z_]+?)_?(?:: |=|": )/g)].map(([, name = '']) => name);
    for (const { typescript, python } of OPERATIONS) {
      expect(called(python)).toBe(snake(called(typescript) ?? ''));
      const own = new Set(['url', 'key', 'bot', 'lethe']);
      const names = (source: string) => new Set(namesIn(source).filter((name) => !own.has(name)));
      expect([python, names(python)]).toEqual([python, names(typescript)]);
    }
  });

  (canRun('python3') ? it : it.skip)('in Python are Python', () => {
    const check = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)';
    const input = JSON.stringify(OPERATIONS.map(({ python }) => python));
    execFileSync('python3', ['-c', check], { input });
  });

  it('with curl send the example of the operation', () => {
    const shell = `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }\n${OPERATIONS.map(({ curl }) => curl).join('\n')}`;
    const output = execFileSync('bash', ['-c', shell], {
      encoding: 'utf8',
      env: { ...process.env, LETHE_KEY: 'sk_live_x', OPERATOR_TOKEN: 'x' },
    });
    const sent = output
      .split('\n\0')
      .slice(0, -1)
      .map((call) => call.split('\0').slice(0, -1));
    expect(sent).toHaveLength(OPERATIONS.length);
    for (const [at, { method, path, body }] of OPERATIONS.entries()) {
      const given = sent[at] ?? [];
      const after = (option: string): string | undefined =>
        given.includes(option) ? given[given.indexOf(option) + 1] : undefined;
      expect(after('-X') ?? 'GET').toBe(method);
      const { pathname } = new URL(given.find((one) => one.startsWith('https://lethe.example/')) ?? '');
      expect(pathname).toMatch(new RegExp(`^${path.replace(/\{\w+\}/g, '[\\w:-]+')}$`));
      expect(JSON.parse(after('-d') ?? 'null')).toEqual(body ?? null);
      const ofOperator = path.startsWith('/api/v1/operator/');
      expect(given.includes('Authorization: Bearer x')).toBe(ofOperator);
      expect(given.includes('Authorization: Bearer sk_live_x')).toBe(
        !ofOperator && path !== '/api/v1/bots/register',
      );
    }
  });
});

describe('the page of the documentation', () => {
  const service = useServiceInProcess();

  it('shows the samples of each operation above its answers', async () => {
    const page = await (await fetch(`${service.url}/docs`)).text();
    const operations = page.split(/<details><summary><b>/).filter((text) => !text.includes('<div id="on'));
    const shown = operations
      .slice(1)
      .map((text) =>
        [...text.matchAll(/<summary>(curl|TypeScript|Python)<|<h3>(Answers)</g)].map(
          ([, label, answers]) => label ?? answers,
        ),
      );
    expect(shown).toEqual(OPERATIONS.map(() => [...LABELS, 'Answers']));
    expect(page).toContain(escaped(OPERATIONS[0]?.curl ?? ''));
  });
});
