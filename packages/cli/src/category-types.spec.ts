import { join } from 'node:path';
import ts from 'typescript';
import { typesOf } from './category-types';
import type { Category } from './declarations';

// What `lethe categories types` writes, compiled with the client of this repository.

const FOLDER = __dirname;
const ROOT = join(FOLDER, '../../..');
const field = (key: string, type: 'string' | 'number' | 'boolean' | 'date' | 'json') => ({
  ...{ key, type, label_de: key, label_en: `The ${key} */ of it` },
});
const category = (key: string, fields: Category['fields']): Category => ({
  ...{
    key,
    label_de: key,
    label_en: key,
    description: null,
    retention_days: null,
    legal_basis: 'consent',
    fields,
  },
});
const CATEGORIES = [
  category('profile', [field('nickname', 'string'), field('born', 'date'), field('a-b', 'number')]),
  category('game-stats', [field('wins', 'number'), field('is_new', 'boolean'), field('extra', 'json')]),
  ...['game_stats', 'categories', '1st'].map((key) => category(key, [field('x', 'string')])),
  category('anything', []),
];

const HEAD = `import { Lethe } from '@lethe/sdk';
import type { Categories } from './types';
declare const lethe: Lethe<Categories>;
declare const who: { user_id: string; guild_id: string };
`;

/** The lines of `program` with which the compiler finds fault. */
function faultsOf(program: string): string[] {
  const files: Readonly<Record<string, string>> = {
    [join(FOLDER, 'types.ts')]: typesOf(CATEGORIES),
    [join(FOLDER, 'program.ts')]: HEAD + program,
  };
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  // Without looking for the files of the repository, and without the types of Jest.
  const { options } = ts.parseJsonConfigFileContent(
    {
      compilerOptions: { ...config.compilerOptions, types: ['node'], noEmit: true },
      files: Object.keys(files),
    },
    ts.sys,
    ROOT,
  );
  const host = ts.createCompilerHost(options);
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (name) => files[name] ?? readFile(name);
  host.fileExists = (name) => name in files || fileExists(name);
  host.getSourceFile = (name, target, ...rest) => {
    const text = files[name];
    return text === undefined
      ? getSourceFile(name, target, ...rest)
      : ts.createSourceFile(name, text, target);
  };
  const compiled = ts.createProgram(Object.keys(files), options, host);
  return Object.keys(files)
    .flatMap((name) => {
      const source = compiled.getSourceFile(name);
      return [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)];
    })
    .map(({ file, start = 0 }) => {
      const text = file?.text.slice(start) ?? '';
      return text.split('\n')[0] ?? '';
    });
}

describe('the types of the categories', () => {
  it('let through what the service takes, and find a misspelt category, field or type', () => {
    const faults = faultsOf(`
export async function use(): Promise<unknown[]> {
  await lethe.data.submit({ ...who, category: 'profile', data: { nickname: 'Robin', born: null, 'a-b': 1 } });
  await lethe.data.merge({ ...who, category: 'game-stats', data: { is_new: true, extra: [{}] } });
  await lethe.data.submit({ ...who, category: 'anything', data: { whatever: 1 } });
  for await (const { ok } of lethe.data.submitMany([{ ...who, category: '1st', data: { x: 'y' } }])) void ok;
  const { values } = await lethe.data.values(who);
  const [first] = await lethe.data.valuesOfGuild({ guild_id: '1', category: 'game-stats' }).toArray();
  const name: string | undefined = values.profile?.nickname;
  const wins: number | undefined = first?.data?.wins;
  await lethe.withConsent(who, 'profile', () => undefined);
  const untyped: Lethe = lethe;
  return [name, wins, untyped];
}
export const wrong = [
  lethe.data.submit({ ...who, category: 'profile', data: {
    nicknam: 'Robin' } }),
  lethe.data.merge({ ...who, category: 'game-stats', data: {
    wins: '3' } }),
  lethe.data.submit({ ...who,
    category: 'profil', data: {} }),
  lethe.withConsent(who,
    'profil', () => undefined),
  lethe.data.values(who).then(({ values }) => values.profile?.
    nicknam),
];
`);
    expect(faults).toEqual([
      "nicknam: 'Robin' } }),",
      "wins: '3' } }),",
      "category: 'profil', data: {} }),",
      "'profil', () => undefined),",
      'nicknam),',
    ]);
  });

  it('are one interface for each category by its name, with the label as its comment', () => {
    const text = typesOf(CATEGORIES);
    expect([...text.matchAll(/^export interface (\w+)/gm)].map(([, name]) => name)).toEqual([
      ...['Categories', 'Profile', 'GameStats', 'GameStats2', 'Categories2', 'Category1st', 'Anything'],
    ]);
    expect(text).toContain('/** The born * / of it */\n  readonly born?: string;');
  });
});
