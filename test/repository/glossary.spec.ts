import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

// The words of libs/README.md, in the documentation, in the descriptions of the API and in the comments of the code.

const ROOT = join(__dirname, '../..');
const FOREIGN = new Set(['node_modules', 'dist', 'data', 'coverage', 'release', '.git']);
/** The folders of the source code. */
const SOURCES = ['apps', 'libs', 'packages', 'scripts', 'test'];

/** Documentation in other forms. */
const OTHER_FILES = ['.env.example', 'docs/operations/alerts.yaml', 'docs/operations/compose.yaml'];

const WORDS = [
  ...['encrypt, decrypt', 'seal', 'batch', 'checkpoint', 'proof', 'receipt', 'certificate', 'salt', 'ledger'],
  ...['audit log', 'history', 'retention', 'erase', 'revoke', 'API key', 'subject key', 'digest'],
  ...[
    'installation key',
    'master key',
    'signing key',
    'webhook key',
    'slug',
    'subject',
    'value',
    'scope',
    'holder',
    'act',
    'unit',
  ],
  'delivery',
];

/** What users do not read in German, and what they read instead. */
const GERMAN: readonly (readonly [RegExp, string])[] = [
  [/\bZertifikat\w*/g, 'Bescheinigung'],
  [/\bLöschnachweis\w*|\bNachweis(?=[^.]*Löschung)/g, 'Bescheinigung'],
  [/\bBeleg(?:e|s|en)?\b|\bBestätigung der Einwilligung|signierte Bestätigung/g, 'Quittung'],
  [/\bSalz\w*/g, 'Salt'],
  [/\b(?:Guild|Gilde)\w*/g, 'Server'],
  [/\bauslösch\w*|\bvernichte\w* (?:deine )?Daten/g, 'löschen'],
  [/\bzurücknehm\w*|\bzurückzieh\w*|\bzurückgezogen/g, 'widerrufen'],
  [/\bSie (?=[a-zäöü]+en\b)|\b[A-ZÄÖÜ]?[a-zäöü]+en Sie\b|\bIhnen\b|\bIhre[mnrs]?\b|\bIhr\b/g, 'du'],
  [/nichts zugestimmt/g, 'nicht zugestimmt'],
];

const SEALED = String.raw`(?:un)?seal(?:s|ed|ing)?`;
const SECRET = String.raw`(?:keys?|texts?|values?|secrets?|details|payloads?)`;
/** What is not written, and what is written instead. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(String.raw`\b${SEALED} (?:the |its |their |a |an |all |every |two )?(?:\w+ )?${SECRET}\b`),
    'encrypt',
  ],
  [new RegExp(String.raw`\b${SECRET} (?:is|are|was|were) ${SEALED}\b`), 'encrypted'],
  [
    new RegExp(String.raw`\bsealed (?:with|under|by) (?:a |the |its |their )?(?:\w+ )?key\b`),
    'encrypted with',
  ],
  [/\bsealing keys?\b/, 'signing key'],
  [/\bevidence keys?\b|\bkeys? of (?:the )?(?:evidence|service)\b|\bservice keys?\b/, 'installation key'],
  [/\bevidence (?:period|retention)\b/, 'retention'],
  [/\b(?:erasure|deletion) receipts?\b/, 'certificate'],
  [/\bconsent certificates?\b/, 'receipt'],
  [/\b(?:API|access|bearer) tokens?\b/, 'API key'],
  [/\b(?:user|data) keys?\b/, 'subject key'],
  [/\broot keys?\b/, 'master key'],
  [/\bany chat platform\b|\bchat-platform bots?\b/, 'bots with snowflake ids'],
  [/\bnobody\b/, 'no one, or the passive voice'],
  [/\bwhoever\b|\bwhomever\b|\bof whom\b/, 'a user who, a caller who, anyone who'],
  [/\btold\b/, 'sent, shown, published'],
  [/\bstands?\b/, 'is, is stored, is listed'],
  [/\bgoes\b(?! to\b)|\b(?:is|are) gone\b/, 'is removed, is erased'],
  [/\bis at it\b|\bare at it\b/, 'is running'],
  [/\bwhat is left of\b/, 'the rest of, the remains of'],
];

/** Every file below a folder with this ending, by its path from the root. */
function filesOf(ending: string, folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return FOREIGN.has(entry.name) ? [] : filesOf(ending, path);
    return entry.name.endsWith(ending) ? [relative(ROOT, path)] : [];
  });
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The prose of a page: without code, without the addresses of links, without the titles of tests that it quotes. */
function prose(markdown: string): string {
  return markdown
    .replace(/```[\s\S]*?```/g, '')
    .replace(/^- [A-Z]\d+: .*$/gm, '')
    .replace(/`[^`\n]*`/g, '`…`')
    .replace(/\]\([^)]*\)/g, ']');
}

/** The comments of a source file that begin a line, each as one text without its marks. */
function comments(source: string): string[] {
  return [...source.matchAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*)/gm)].map(([comment]) =>
    comment.replace(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)/gm, '').replace(/\*\/$/, ''),
  );
}

/** Every summary and description of an OpenAPI document. */
function descriptions(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' && ['summary', 'description'].includes(key) ? [inner] : descriptions(inner),
  );
}

/** Each banned phrase of a text, with what to write instead. */
function banned(text: string): string[] {
  const oneLine = text.replace(/\s+/g, ' ');
  return BANNED.flatMap(([pattern, instead]) =>
    [...oneLine.matchAll(new RegExp(pattern, 'gi'))].map(
      (found) =>
        `"…${oneLine.slice(Math.max(0, found.index - 30), found.index + found[0].length + 20)}…": ${instead}`,
    ),
  );
}

describe('the words of libs/README.md', () => {
  it('are in the table once each, with what they are not called', () => {
    const section = read('libs/README.md').split('\n## Words\n')[1] ?? '';
    const rows = [...section.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].slice(1);
    const words = rows.map(([, word]) => word).filter((word) => !/^-+$/.test(word ?? ''));
    expect(words).toEqual(WORDS);
  });
});

describe('the documentation', () => {
  const checked = [...filesOf('.md'), ...OTHER_FILES];

  it.each(checked)('%s has no phrase with a second meaning', (path) => {
    // The table of the words names these phrases.
    const [text = ''] = read(path).split('\n## Words\n');
    expect(banned(prose(text))).toEqual([]);
  });

  it('has no phrase with a second meaning in the words of the glossary', () => {
    const columns = (read('libs/README.md').split('\n## Words\n')[1] ?? '').matchAll(
      /^\| [^|]+\| ([^|]+)\|/gm,
    );
    expect(banned([...columns].map(([, meaning]) => meaning).join('\n'))).toEqual([]);
  });

  it('openapi.json has no phrase with a second meaning', () => {
    expect(descriptions(JSON.parse(read('openapi.json'))).flatMap(banned)).toEqual([]);
  });

  it('finds what it looks for', () => {
    expect(
      banned('The value is sealed; the sealed\ntext stands in a row that nobody was told of.'),
    ).toHaveLength(5);
    expect(banned('The audit log is sealed in batches, and each key is encrypted.')).toEqual([]);
  });
});

describe('the comments of the source code', () => {
  it.each(SOURCES)('in %s have no phrase with a second meaning', (folder) => {
    const files = [...filesOf('.ts', join(ROOT, folder)), ...filesOf('.mjs', join(ROOT, folder))];
    expect(files).not.toEqual([]);
    const found = files.flatMap((path) =>
      comments(read(path)).flatMap((comment) => banned(prose(comment)).map((phrase) => `${path}: ${phrase}`)),
    );
    expect(found).toEqual([]);
  });

  it('are found in every form, and nothing else is', () => {
    const source = [
      ...['/** A row that nobody', ' * was told of. */', "const url = 'http://nobody'; // of whom"],
      ...['  // It stands', '  // there.', 'const nobody = `told`;', '/* whoever */'],
    ].join('\n');
    expect(comments(source).map((comment) => banned(comment).length)).toEqual([2, 1, 1]);
  });
});

/** The files with German texts that users read, each from where they begin. */
const GERMAN_TEXTS: readonly (readonly [file: string, begin: string])[] = [
  ['libs/pages/src/texts.de.ts', ''],
  ['libs/consent/src/consent-texts.ts', '  de: {'],
  ['packages/discord/src/texts/de.ts', ''],
  ['clients/python/src/lethe_discord/texts.json', '"de": {'],
  ['apps/api/src/front-page.texts.ts', 'const de'],
  ['apps/console/src/verify/texts.ts', '  de: {'],
];

/** What teams do not read in German, and what they read instead. */
const CONSOLE: readonly (readonly [RegExp, string])[] = [
  [/\b[Dd]as Salt\b/g, 'der Salt'],
  [/\bAuskunft\b|\bAuskünfte\b/g, 'Export'],
  [/\bZertifikat\b(?! für diesen Namen)/g, 'Bescheinigung'],
  [
    /(?<!(?:Daten|Verlauf) (?:der|dieser|einer|jeder|aller) )\bPerson(?:en)?\b(?: \{id\})?(?: \w+){0,4} (?:gelöscht|löschen)\b/g,
    'Daten der Person',
  ],
  [/\b(?:Eine|eine|der) Löschung der Person\b/g, 'Daten der Person'],
];

describe('the German that teams read', () => {
  const folder = 'apps/console/src/texts';
  it.each(readdirSync(join(ROOT, folder)))(
    'has one word for one thing, and erases data, not people: %s',
    (name) => {
      const text = read(`${folder}/${name}`);
      const german = text.slice(text.indexOf('  de: {'));
      const found = CONSOLE.flatMap(([word, instead]) =>
        [...german.matchAll(word)].map(([given]) => `${given}: ${instead}`),
      );
      expect(found).toEqual([]);
    },
  );
});

describe('the German that users read', () => {
  it.each(GERMAN_TEXTS)('has one word for one thing, and says du: %s', (file, begin) => {
    const text = read(file);
    const at = text.indexOf(begin);
    expect(at).toBeGreaterThanOrEqual(0);
    const found = GERMAN.flatMap(([word, instead]) =>
      [...text.slice(at).matchAll(word)].map(([given]) => `${given}: ${instead}`),
    );
    expect(found).toEqual([]);
  });
});
