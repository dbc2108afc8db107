import { hash } from 'node:crypto';
import { escaped } from '@app/pages';

/** A page or file as it is sent: made once, with the digest by which a browser knows that it has it. */
export interface MadeFile {
  readonly type: 'html' | 'css' | 'js' | 'json' | 'txt';
  readonly body: Buffer;
  readonly etag: string;
}

/** The pages load files of this service only, call nothing, and run no script in their text. */
export const DOCS_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

export function made(type: MadeFile['type'], text: string): MadeFile {
  return { type, body: Buffer.from(text), etag: `"${hash('sha256', text, 'base64url')}"` };
}

interface Content {
  readonly title: string;
  readonly language?: 'en' | 'de';
  /** The way to `/`: relative addresses keep a page working behind a proxy that serves it under another path. */
  readonly root: string;
  readonly links: Readonly<Record<string, string>>;
  /** What follows the header, as HTML. */
  readonly main: string;
  readonly kind: 'guide' | 'wide';
  readonly script?: string;
}

/** A page of the reference or the guides, with the same header as the others. */
export function docsPage(content: Content): MadeFile {
  const { title, language = 'en', root, links, main, kind, script } = content;
  const navigation = Object.entries(links).map(([words, path]) => `<a href="${root}${path}">${words}</a>`);
  return made(
    'html',
    document(
      { language, title: `Lethe: ${escaped(title)}` },
      `<link rel="stylesheet" href="${root}docs/page.css" />${script === undefined ? '' : `\n<script src="${root}${script}" defer></script>`}`,
      `<main class="${kind}">
<header><nav aria-label="${language === 'de' ? 'Seiten' : 'Pages'}">${navigation.join('\n')}</nav></header>
${main}
</main>`,
    ),
  );
}

/** A whole page, of parts that are HTML. */
export function document(
  { language, title }: { readonly language: string; readonly title: string },
  head: string,
  body: string,
): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

/** The style of the pages that this service serves to everybody: `/`, the reference and the guides. */
export const STYLE = `:root { color-scheme: light dark; --page: #f6f7f7; --card: #fff; --text: #1b2427; --line: #d5dbde; --accent: #1f5f6e;
  --good: #e3f2e8; --good-text: #14532d; --warn: #fdf1d4; --warn-text: #6b4400; font: 16px/1.5 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --page: #14191b; --card: #1d2427; --text: #e6ecee; --line: #374247;
  --accent: #7cc4d4; --good: #163323; --good-text: #a9e2bf; --warn: #3a2d0d; --warn-text: #f3d38a; } }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; }
main { max-width: 44rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0.5rem 1rem; }
nav { display: flex; gap: 1rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.25rem 1rem 0.75rem; margin: 1rem 0; }
h1 { margin: 0; } h2 { font-size: 1.1rem; margin: 0.75rem 0 0.5rem; } p, ul { margin: 0.5rem 0; }
li { margin: 0.5rem 0; }
a { color: var(--accent); } a[aria-current] { color: inherit; text-decoration: none; font-weight: 600; }
.state { padding: 0.5rem 0.75rem; border-radius: 6px; background: var(--good); color: var(--good-text); }
.state.worse { background: var(--warn); color: var(--warn-text); }
`;

/** The style sheet of the reference and the guides. What can be wider than a phone scrolls in itself. */
export const PAGE_CSS = `${STYLE}main.wide { max-width: 60rem; }
header { margin-bottom: 1rem; } header nav { flex-wrap: wrap; }
h3 { font-size: 1rem; margin: 1.25rem 0 0.5rem; } h4 { font-size: 1rem; margin: 1rem 0 0.25rem; }
.guide h2, .guide h3 { margin-top: 1.75rem; } .guide p, .guide ul { margin: 0.75rem 0; }
code { font: 0.875em/1.5 ui-monospace, monospace; }
pre { background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem 0.75rem; overflow: auto;
  max-height: 32rem; overflow-wrap: normal; }
.guide pre { background: var(--card); max-height: none; }
.table { overflow-x: auto; margin: 0.75rem 0; } table { border-collapse: collapse; min-width: 100%; overflow-wrap: break-word; }
th, td { border: 1px solid var(--line); padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
td p { margin: 0; } td ul { margin: 0.25rem 0; padding-left: 1.25rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
summary { cursor: pointer; padding: 0.375rem 0; } summary b { display: inline-block; min-width: 4.5rem; color: var(--accent); }
section > details + details { border-top: 1px solid var(--line); } details details { margin: 0.25rem 0; }
.search { display: block; font-weight: 600; } .search input { display: block; width: 100%; box-sizing: border-box; font: inherit; margin: 0.25rem 0;
  padding: 0.5rem; color: inherit; background: var(--card); border: 1px solid var(--text); border-radius: 6px; }
[hidden] { display: none; }
@media (max-width: 30rem) { h1 { font-size: 1.25rem; } }
`;
