import type { Schemas } from '@lethe/sdk';
import type { Category } from './facts';
import { PATIENT } from './patient';
import { bestTag, type Words } from './texts';
import { SOURCE, type Turn } from './turn';

export interface ConsentAsked {
  readonly status: Schemas['ConsentRequestedView']['status'];
  /** Of the request, by which a second press is answered like the first. */
  readonly id: string;
  readonly version: string;
  /** The digest of the text that was shown, as the history of the consent has it. */
  readonly digest: string;
  /** Ties the buttons of a message to its text, version and categories. */
  readonly binding: string;
  readonly texts: Schemas['ConsentTextsView'];
  readonly noticeUrl: string | undefined;
  readonly categories: readonly Category[];
}

/** Where the bot has registered no text, the service makes one in these languages and in those of labels and purposes. */
const GENERATED = ['en', 'de'];
const BINDING_LENGTH = 24;

/** Records that the user is shown the text, and answers it. A repeat changes nothing. */
export async function request(turn: Turn): Promise<ConsentAsked> {
  const { lethe, facts, asked, who, consentVersion } = turn;
  const [categories, registered] = await Promise.all([facts.asked(), facts.texts(consentVersion)]);
  const made = [
    ...GENERATED,
    ...categories.flatMap(({ labels, descriptions }) => Object.keys({ ...labels, ...descriptions })),
  ];
  const tags = registered.length === 0 ? made : registered.map(({ language }) => language);
  const language = bestTag(asked.locale, tags) ?? 'en';
  const keys = categories.map(({ key }) => key);
  const { id, status, version, texts } = await lethe.consents.request(
    {
      ...{ ...who, categories: keys, language, source: SOURCE },
      ...(consentVersion !== undefined && { consent_version: consentVersion }),
    },
    PATIENT,
  );
  if (texts === undefined) throw new Error('The service answered a request for consent without a text.');
  const known = registered.find((text) => text.language === language);
  const digest = known?.digest ?? `sha256:${await sha256(canonical(texts))}`;
  const binding = (await sha256(canonical([version, digest, keys]))).slice(0, BINDING_LENGTH);
  return { status, id, version, digest, binding, texts, noticeUrl: known?.privacy_notice, categories };
}

/** The whole text, as the user reads it. */
export function textOf({ texts, noticeUrl }: ConsentAsked, say: Words['say']): string {
  return [
    `**${texts.title}**`,
    texts.body,
    ...texts.categories.map(({ label, text }) => `**${label}**\n${text}`),
    ...(noticeUrl === undefined ? [] : [say('consent_notice', { url: noticeUrl })]),
  ].join('\n\n');
}

/** Canonical JSON (RFC 8785) of texts, lists and objects: sorted keys, no white space. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}

/** As hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
