import { createHash } from 'node:crypto';
import { ApiError, version } from '@app/kernel';
import { languageSwitch, type PageLanguage } from '@app/pages';
import type { Health } from '@app/runtime';
import { FRONT_PAGE_TEXTS } from './front-page.texts';
import { KEY_SET_PATH } from './keys.controller';
import { document, STYLE } from './docs-page';

export const FRONT_PAGE_HEADERS = {
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-cache',
  Vary: 'Accept, Accept-Language',
};

const VERSION = version();

/** What the page shows beside its words. */
interface Shown {
  readonly state: { readonly isReady: boolean; readonly conditions: readonly string[] };
  readonly hasConsole: boolean;
  readonly hasGuides: boolean;
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

/** The page at `/` for people: what this installation is, its state, and where to go. It has no script. */
export function frontPage(language: PageLanguage, { state, hasConsole, hasGuides }: Shown): string {
  const texts = FRONT_PAGE_TEXTS[language];
  const targets: Readonly<Record<string, string>> = {
    ...(hasGuides && { guides: 'docs/guides/' }),
    docs: 'docs',
    ...(hasConsole && { console: 'console', verify: 'verify' }),
    document: 'docs-json',
    keys: KEY_SET_PATH,
  };
  // Relative addresses keep the links working behind a proxy that serves the page under another path.
  const links = Object.entries(targets).map(
    ([name, path]) => `<li><a href="${path}">${texts.links[name as keyof typeof texts.links]}</a></li>`,
  );
  return document(
    { language, title: 'Lethe' },
    `<style>${STYLE}</style>`,
    `<main>
<header><h1>Lethe</h1>${languageSwitch(language, '?lang=').text}</header>
<p>${texts.about}</p>
<section><h2>${texts.state}</h2>
${stateSection(language, state)}
<p>${texts.version} ${VERSION}</p></section>
<section><h2>${texts.users}</h2>
<p>${texts.toUsers}</p></section>
<section><h2>${texts.developers}</h2>
<ul>${links.join('\n')}</ul></section>
</main>`,
  );
}

function stateSection(language: PageLanguage, { isReady, conditions }: Shown['state']): string {
  const texts = FRONT_PAGE_TEXTS[language];
  if (!isReady) return `<p class="state worse">${texts.notReady}</p>`;
  if (conditions.length === 0) return `<p class="state">${texts.ok}</p>`;
  const known: Readonly<Record<string, string>> = texts.conditions;
  const words = conditions.map((name) => known[name] ?? `${texts.otherCondition} ${name}`);
  return `<p class="state worse">${texts.degraded}</p>
<ul>${words.map((each) => `<li>${each}</li>`).join('\n')}</ul>`;
}
