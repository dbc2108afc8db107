import { createHash } from 'node:crypto';
import type { LetheRequest } from '@app/http';
import { ApiError, version } from '@app/kernel';
import type { Health } from '@app/runtime';
import { FRONT_PAGE_TEXTS, type FrontPageLanguage } from './front-page.texts';
import { KEY_SET_PATH } from './keys.controller';

const STYLE = `:root { color-scheme: light dark; --page: #f6f7f7; --card: #fff; --text: #1b2427; --line: #d5dbde; --accent: #1f5f6e;
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

export const FRONT_PAGE_HEADERS = {
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-cache',
  Vary: 'Accept, Accept-Language',
};

const VERSION = version();

const NAMES: Readonly<Record<FrontPageLanguage, string>> = { en: 'English', de: 'Deutsch' };

/** What the page shows beside its words. */
interface Shown {
  readonly state: { readonly isReady: boolean; readonly conditions: readonly string[] };
  readonly hasConsole: boolean;
}

/** The state of the service as its probe sees it. */
export async function stateOf(health: Health): Promise<Shown['state']> {
  try {
    const { conditions = [] } = await health.ready();
    return { isReady: true, conditions };
  } catch (error) {
    if (error instanceof ApiError) return { isReady: false, conditions: [] };
    throw error;
  }
}

/** `?lang` of the switch, else the language that the browser prefers, else English. */
export function languageOf(request: LetheRequest): FrontPageLanguage {
  const asked = request.query['lang'];
  if (asked === 'de' || asked === 'en') return asked;
  return request.acceptsLanguages('en', 'de') === 'de' ? 'de' : 'en';
}

/** The page at `/` for people: what this installation is, its state, and where to go. It has no script. */
export function frontPage(language: FrontPageLanguage, { state, hasConsole }: Shown): string {
  const texts = FRONT_PAGE_TEXTS[language];
  const targets: Readonly<Record<string, string>> = {
    docs: 'docs',
    ...(hasConsole && { console: 'console', verify: 'verify' }),
    document: 'docs-json',
    keys: KEY_SET_PATH,
  };
  // Relative addresses keep the links working behind a proxy that serves the page under another path.
  const links = Object.entries(targets).map(
    ([name, path]) => `<li><a href="${path}">${texts.links[name as keyof typeof texts.links]}</a></li>`,
  );
  const languages = Object.entries(NAMES).map(
    ([each, name]) =>
      `<a href="?lang=${each}" lang="${each}" hreflang="${each}"${each === language ? ' aria-current="true"' : ''}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Lethe</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header><h1>Lethe</h1><nav aria-label="Language, Sprache">${languages.join('\n')}</nav></header>
<p>${texts.about}</p>
<section><h2>${texts.state}</h2>
${stateSection(language, state)}
<p>${texts.version} ${VERSION}</p></section>
<section><h2>${texts.users}</h2>
<p>${texts.toUsers}</p></section>
<section><h2>${texts.developers}</h2>
<ul>${links.join('\n')}</ul></section>
</main>
</body>
</html>
`;
}

function stateSection(language: FrontPageLanguage, { isReady, conditions }: Shown['state']): string {
  const texts = FRONT_PAGE_TEXTS[language];
  if (!isReady) return `<p class="state worse">${texts.notReady}</p>`;
  if (conditions.length === 0) return `<p class="state">${texts.ok}</p>`;
  const words = conditions.map((name) => texts.conditions[name] ?? `${texts.otherCondition} ${name}`);
  return `<p class="state worse">${texts.degraded}</p>
<ul>${words.map((each) => `<li>${each}</li>`).join('\n')}</ul>`;
}
