import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder, isThere } from '@app/kernel';
import { docsPage, made, type MadeFile } from './docs-page';
import { llmsText } from './llms';
import { renderer } from './markdown';

/** The path of the index. */
const GUIDES_PATH = '/docs/guides/';

/**
 * The guides of the folder `docs` beside the manifest and `llms.txt`, by their paths; none where an installation lacks it. Each is made when
 * it is first asked for.
 */
export function guidePages(home = homeFolder()): Map<string, () => MadeFile> {
  const folder = home === undefined ? undefined : join(home, 'docs');
  if (folder === undefined || !isThere(join(folder, 'README.md'))) return new Map();
  const files = readdirSync(folder).filter((name) => /^[\w-]+\.md$/.test(name));
  return new Map([
    ...files.map(
      (file) => [`${GUIDES_PATH}${pathOf(file)}`, () => guidePage(join(folder, file), files)] as const,
    ),
    ['/llms.txt', () => llmsFile(folder, files)],
  ]);
}

/** The same guides for programs: paths relative to the service. */
function llmsFile(folder: string, files: readonly string[]): MadeFile {
  const api = [
    '- [OpenAPI document](docs-json): every operation, with examples.',
    '- [Reference](docs): the same for people.',
  ];
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const served = (file: string): string | undefined =>
    files.includes(file) ? `${GUIDES_PATH.slice(1)}${pathOf(file)}` : undefined;
  return made('txt', llmsText(index, api, served));
}

/** The last part of the path of a guide. */
const pathOf = (file: string): string => (file === 'README.md' ? '' : file.replace(/\.md$/, ''));

function guidePage(path: string, files: readonly string[]): MadeFile {
  const text = readFileSync(path, 'utf8');
  const [, title = 'Documentation'] = /^# (.+)$/m.exec(text) ?? [];
  const render = renderer((address) => {
    if (/^(https:|#)/.test(address)) return address;
    const [file = '', heading] = address.split('#');
    if (!files.includes(file)) return undefined;
    return `${pathOf(file) || './'}${heading === undefined ? '' : `#${heading}`}`;
  });
  return docsPage({
    title,
    root: '../../',
    links: { 'This service': '', 'All guides': 'docs/guides/', 'API reference': 'docs' },
    main: render(text),
    kind: 'guide',
  });
}
