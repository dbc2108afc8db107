import { Logger } from '@nestjs/common';
import { AnswerStream, WebPage } from '@app/http';
import { describeFault } from '@app/kernel';
import { html, type Html } from './html';
import { framed, NAMES, PAGE_HEADERS } from './page-frame';
import { cut } from './page-parts';
import type { PageFacts } from './page-reading';
import { placeOf, storesIn } from './page-sections';
import type { OpenLink } from './privacy-links.service';
import { PAGE_LANGUAGES, PAGE_TEXTS, type PageLanguage } from './texts';
import type { PageTexts } from './texts.en';

/** An erasure that the page shows. */
export interface ShownErasure {
  readonly request_id: string;
  readonly certificate_salt: string;
  readonly guild_id: string;
  /** Undefined while it cannot be issued. */
  readonly certificate: string | undefined;
  /** The name of the bot, and the labels of the erased categories, {@link cut}: the certificate has their ids and keys alone. */
  readonly names: ErasedNames;
  /** What the bot has to erase itself, which the certificate says nothing about; left out of the file for a bot without holders. */
  readonly own_stores: Readonly<Record<PageLanguage, string>> | undefined;
}

/** What a form has erased. */
export interface Forgotten {
  /** Whose page it is. The link may have ended. */
  readonly of: Pick<OpenLink, 'botId' | 'userId'>;
  readonly erasures: readonly ShownErasure[];
  /** False while servers are left: the link is in force, and erases them. */
  readonly isWhole: boolean;
  readonly kept: PageFacts['kept'];
  /** The registered names of the servers by the id. */
  readonly servers: PageFacts['servers'];
}

/** Characters of the label of a category in the file of a certificate, as on a page. */
const NAME_MAX = 100;

interface ErasedNames {
  readonly bot: string;
  readonly categories: Readonly<Record<string, Readonly<Record<PageLanguage, string>>>>;
}

/** A text in every language, of which the style shows the one that is chosen. */
function inEach(text: (texts: PageTexts, tag: PageLanguage) => string | Html): Html {
  return html`${PAGE_LANGUAGES.map((tag) => html`<span class="in" lang="${tag}">${text(PAGE_TEXTS[tag], tag)}</span>`)}`;
}

/** The switch of a page that cannot be opened again: the link has ended, so the page has every language. */
function tongues(language: PageLanguage): Html {
  return html`<div class="tongues" role="radiogroup" aria-label="${PAGE_TEXTS[language].language}">
    ${PAGE_LANGUAGES.map(
      (tag) =>
        html`<label lang="${tag}"
          ><input
            type="radio"
            name="tongue"
            id="in-${tag}"
            ${tag === language && html` checked`}
          />${NAMES[tag]}</label
        >`,
    )}
  </div>`;
}

/** Marks the place of the certificates in the frame. */
const CERTIFICATES = html`<!--certificates-->`;

/**
 * The answer to an erasure: the certificates to keep, each made in a turn of its own. The salts are answered once. So a certificate that
 * cannot be made leaves its number and its salt, and an answer that cannot begin is a page of these alone.
 */
export function forgottenPage(done: Forgotten, language: PageLanguage, token: string): AnswerStream {
  const frame = frameOf(done, language, token);
  const [head = '', tail = ''] = frame.split(CERTIFICATES.text);
  const { erasures, of, servers } = done;
  return new AnswerStream(
    async (write) => {
      await write(head);
      for (const erasure of erasures) await write(sectionOf(erasure, servers));
      await write(tail);
    },
    'text/html; charset=utf-8',
    {
      botId: of.botId,
      person: of.userId,
      headers: PAGE_HEADERS,
      faultPage: () => {
        const sections = erasures.map((erasure) => withoutCertificate(erasure, servers));
        return new WebPage(head + sections.join('') + tail, PAGE_HEADERS);
      },
    },
  );
}

function frameOf({ erasures, isWhole, kept }: Forgotten, language: PageLanguage, token: string): string {
  const isNothing = erasures.length === 0;
  const title = isWhole ? 'forgotten' : 'forgottenPart';
  const path = `/p/${token}/forget?lang=${language}`;
  // The same for each server.
  const own = erasures[0]?.own_stores;
  return framed(
    {
      language,
      title: PAGE_TEXTS[language][title],
      heading: inEach((texts) => texts[title]),
      tongues: tongues(language),
    },
    html`${
      isWhole
        ? html`<section class="good" role="status">
            <p>${inEach((texts) => (isNothing ? texts.forgottenNothing : texts.forgottenText))}</p>
            ${!isNothing && html`<p>${inEach((texts) => texts.forgottenKept(kept.evidence, kept.backups))}</p>`}
          </section>`
        : html`<section class="warn" role="alert">
            <p>${inEach((texts) => texts.forgottenPartText)}</p>
          </section>`
    }
    ${own !== undefined && html`<section><p>${inEach((_, tag) => own[tag])}</p></section>`} ${CERTIFICATES}
    ${!isWhole && html`<p class="row"><a class="button red" href="${path}">${inEach((texts) => texts.forgetRest)}</a></p>`}`,
  ).content;
}

function sectionOf(erasure: ShownErasure, servers: Forgotten['servers']): string {
  try {
    return certificateOf(erasure, servers).text;
  } catch (error) {
    new Logger('Pages').warn('A certificate could not be shown on a page', describeFault(error));
    return withoutCertificate(erasure, servers);
  }
}

/** What is answered once. */
function withoutCertificate(erasure: ShownErasure, servers: Forgotten['servers']): string {
  return certificateOf({ ...erasure, certificate: undefined }, servers).text;
}

function certificateOf(erasure: ShownErasure, servers: Forgotten['servers']): Html {
  const { request_id, certificate_salt, certificate, guild_id } = erasure;
  const place = inEach((texts) => placeOf({ parts: { texts }, facts: { servers } }, { guild_id }));
  return html`<section>
    <h2>${inEach((texts) => texts.keep)}</h2>
    <p>${inEach((texts) => texts.last.keepWhy)}</p>
    ${
      certificate === undefined
        ? html`<p>${inEach((texts) => texts.last.noCertificate)}</p>`
        : html`<p>${inEach((texts) => texts.last.keepFile)}</p>
            <div class="row">
              <a
                class="button"
                download="lethe-certificate-${request_id}.json"
                href="data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(erasure, null, 2))}"
                >${inEach((texts) => texts.downloadCertificate)}</a
              >
              ${inEach((texts, tag) => html`<a class="button plain" href="/verify?lang=${tag}" target="_blank" rel="noopener">${texts.verify}</a>`)}
            </div>`
    }
    <dl>
      <dt>${inEach((texts) => texts.last.place)}</dt>
      <dd><bdi>${place}</bdi>${!place.text.includes(guild_id) && html` (${guild_id})`}</dd>
      <dt>${inEach((texts) => texts.request)}</dt>
      <dd>${request_id}</dd>
      <dt>${inEach((texts) => texts.salt)}</dt>
      <dd>${certificate_salt}</dd>
    </dl>
    ${certificate !== undefined && html`<label>${inEach((texts) => texts.certificate)}<textarea readonly>${certificate}</textarea></label>`}
  </section>`;
}

/** What the bot has to erase itself, in each language; undefined without holders. */
export function ownStores({ holders }: Pick<PageFacts, 'holders'>): ShownErasure['own_stores'] {
  if (holders.length === 0) return undefined;
  const later = (tag: PageLanguage): string => PAGE_TEXTS[tag].holders.later(storesIn(tag, holders));
  return { de: later('de'), en: later('en') };
}

/** The keys of the categories that a certificate states as erased. */
export function erasedIn(certificate = ''): readonly string[] {
  const [, payload = ''] = certificate.split('.');
  const stated = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as {
    readonly deleted_categories?: readonly string[];
  };
  return stated.deleted_categories ?? [];
}

/** The names of the bot and of the erased categories, for the file of a certificate, which repeats them for each guild. */
export function namesFor(
  { bot, purposes }: Pick<PageFacts, 'bot' | 'purposes'>,
  keys: readonly string[],
): ErasedNames {
  const erased = purposes.filter(({ key }) => keys.includes(key));
  const categories = Object.fromEntries(
    erased.map(({ key, labelDe, labelEn }) => [
      key,
      { de: cut(labelDe, NAME_MAX), en: cut(labelEn, NAME_MAX) },
    ]),
  );
  // A part of a text keeps all of it in memory until it is written anew.
  return JSON.parse(JSON.stringify({ bot: bot.name, categories })) as ErasedNames;
}
