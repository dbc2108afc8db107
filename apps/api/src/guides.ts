import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { homeFolder, isThere } from '@app/kernel';
import { docsPage, made, type MadeFile } from './docs-page';
import { llmsText } from './llms';
import { renderer, type Target } from './markdown';

/** The path of the index. */
const GUIDES_PATH = '/docs/guides/';
const INDEX = 'README.md';
/** The folder of the guides in German. */
const GERMAN = 'de/';

/**
 * The guides of the folder `docs` beside the manifest and `llms.txt`, by their paths; none where an installation lacks it. Each is made when
 * it is first asked for.
 */
export function guidePages(home = homeFolder()): Map<string, () => MadeFile> {
  const folder = home === undefined ? undefined : join(home, 'docs');
  if (folder === undefined || !isThere(join(folder, INDEX))) return new Map();
  const files = ['', ...(isThere(join(folder, GERMAN)) ? [GERMAN] : [])].flatMap((within) =>
    readdirSync(join(folder, within))
      .filter((name) => /^[\w-]+\.md$/.test(name))
      .map((name) => `${within}${name}`),
  );
  return new Map([
    ...files.map((file) => [`${GUIDES_PATH}${pathOf(file)}`, () => guidePage(folder, file, files)] as const),
    ['/llms.txt', () => llmsFile(folder, files)],
  ]);
}

/** The same guides for programs: paths relative to the service. */
function llmsFile(folder: string, files: readonly string[]): MadeFile {
  const api = [
    '- [OpenAPI document](docs-json): every operation, with examples.',
    '- [Reference](docs): the same for people.',
  ];
  const index = readFileSync(join(folder, INDEX), 'utf8');
  const served = (file: string): string | undefined =>
    files.includes(file) ? `${GUIDES_PATH.slice(1)}${pathOf(file)}` : undefined;
  return made('txt', llmsText(index, api, served));
}

/** The path of a guide below that of the index. */
const pathOf = (file: string): string => (file === INDEX ? '' : file.replace(/\.md$/, ''));

function guidePage(folder: string, file: string, files: readonly string[]): MadeFile {
  const isGerman = file.startsWith(GERMAN);
  const target = (address: string): string | undefined => {
    if (/^(https:|#)/.test(address)) return address;
    const [path = '', heading] = address.split('#');
    const other = posix.join(posix.dirname(file), path);
    if (!files.includes(other)) return undefined;
    const way = posix.relative(posix.dirname(file), pathOf(other) || '.');
    return `${way || './'}${heading === undefined ? '' : `#${heading}`}`;
  };
  const text = readFileSync(join(folder, file), 'utf8');
  const [, title = 'Documentation'] = /^# (.+)$/m.exec(text) ?? [];
  return docsPage({
    title,
    language: isGerman ? 'de' : 'en',
    root: isGerman ? '../../../' : '../../',
    links: isGerman
      ? { 'Dieser Dienst': '', 'Alle Anleitungen (englisch)': 'docs/guides/', 'API-Referenz': 'docs' }
      : { 'This service': '', 'All guides': 'docs/guides/', 'API reference': 'docs' },
    main: renderer(target)(file === INDEX ? entriesServed(text, target) : text),
    kind: 'guide',
  });
}

/** The list of the guides without the entries that lead to what is not served. */
function entriesServed(text: string, target: Target): string {
  const isServed = (line: string): boolean => {
    const [, address] = /^- \[[^\]]+\]\(([^)]+)\)/.exec(line) ?? [];
    return address === undefined || target(address) !== undefined;
  };
  return text.split('\n').filter(isServed).join('\n');
}
