import { hash } from 'node:crypto';
import { escaped } from '@app/privacy-page';

/** A page or file as it is sent: made once, with the digest by which a browser knows that it has it. */
export interface MadeFile {
  readonly type: 'html' | 'css' | 'js' | 'json';
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
  /** The way to `/`: relative addresses keep a page working behind a proxy that serves it under another path. */
  readonly root: string;
  readonly links: Readonly<Record<string, string>>;
  /** What follows the header, as HTML. */
  readonly main: string;
  readonly kind: 'guide' | 'wide';
  readonly script?: string;
}

/** A page of the reference or the guides, with the same header as the others. */
export function docsPage({ title, root, links, main, kind, script }: Content): MadeFile {
  const navigation = Object.entries(links).map(([words, path]) => `<a href="${root}${path}">${words}</a>`);
  return made(
    'html',
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Lethe: ${escaped(title)}</title>
<link rel="stylesheet" href="${root}docs/page.css" />${script === undefined ? '' : `\n<script src="${root}${script}" defer></script>`}
</head>
<body>
<main class="${kind}">
<header><nav aria-label="Pages">${navigation.join('\n')}</nav></header>
${main}
</main>
</body>
</html>
`,
  );
}
