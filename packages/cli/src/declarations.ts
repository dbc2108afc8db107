import { parse, stringify } from 'yaml';
import type { Lethe, Schemas } from '@lethe/sdk';
import { refused } from './failures';

/** What a bot declares, as its file holds it: without ids, digests and times. */
export interface Declarations {
  readonly categories: readonly Category[];
  readonly texts: readonly Text[];
}

type Category = Omit<Schemas['CategoryView'], 'id' | 'created_at'>;
type Text = Omit<Schemas['ConsentTextView'], 'digest' | 'created_at'>;

const CATEGORY_NAMES = [
  'key',
  'label_de',
  'label_en',
  'description',
  'retention_days',
  'legal_basis',
  'fields',
];
const FIELD_NAMES = ['key', 'type', 'label_de', 'label_en', 'description'];
const TEXT_NAMES = [
  ...['consent_version', 'language', 'title', 'body', 'accept_label', 'decline_label', 'categories'],
  ...['privacy_notice', 'jurisdiction', 'storage_locations', 'recipient_third_parties', 'withdrawal_method'],
];
const DEFAULTS: Readonly<Record<string, unknown>> = { legal_basis: 'consent' };

const HEAD = `# What the bot stores, and the words with which it asks. lethe categories push brings changes to the service.
# Labels of categories and fields are in German and English. Texts never change: new words have a new consent_version.
# README.md of @lethe/cli shows an example.
`;

type Plain = Readonly<Record<string, unknown>>;

export async function declarationsOf(lethe: Lethe): Promise<Declarations> {
  const [categories, texts] = [
    await lethe.categories.list().toArray(),
    await lethe.consents.texts().toArray(),
  ];
  return normal({ categories, texts });
}

export const fileOf = (given: Declarations): string => HEAD + textOf(given);

export const textOf = (given: Declarations): string => stringify(given, { lineWidth: 110 });

export const textKey = ({ consent_version: version, language }: Text): string => `${language} of ${version}`;

/** The declarations of a file. @throws Failure that names the wrong place */
export function declarationsIn(text: string, file: string): Declarations {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw refused(`${file} is no YAML: ${(error as Error).message.split('\n')[0]}`, 'Nothing was changed.');
  }
  const given = (content ?? {}) as Plain;
  const unknown = Object.keys(given).filter((name) => !['categories', 'texts'].includes(name));
  const lists = [given['categories'] ?? [], given['texts'] ?? []];
  if (unknown.length > 0 || !lists.every((list) => Array.isArray(list) && list.every(isObject)))
    throw refused(
      `${file} must hold the lists categories and texts${unknown.length > 0 ? `, not ${unknown.join(', ')}` : ''}.`,
      'lethe categories pull writes such a file.',
    );
  const [categories = [], texts = []] = lists as Plain[][];
  for (const [at, one] of categories.entries()) requireNames(one, CATEGORY_NAMES, `categories[${at}]`, file);
  for (const [at, one] of texts.entries()) {
    requireNames(one, TEXT_NAMES, `texts[${at}]`, file);
    if (typeof one['consent_version'] !== 'string')
      throw refused(
        `${file}: consent_version of texts[${at}] is no text.`,
        `Write it in quotes: '${String(one['consent_version'])}'.`,
      );
  }
  return normal({ categories, texts } as unknown as Declarations);
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** An unknown name is a slip of the pen that the service would ignore. */
function requireNames(one: Plain, names: readonly string[], place: string, file: string): void {
  const wrong = Object.keys(one).filter((name) => !names.includes(name));
  if (wrong.length === 0) return;
  throw refused(`${file}: ${place} has ${wrong.join(', ')}.`, `Known are ${names.join(', ')}.`);
}

/** One form for equal declarations: sorted, in a fixed order of names, without what is absent or the default. */
function normal({ categories, texts }: Declarations): Declarations {
  const picked = <T extends object>(one: T, names: readonly string[]): T =>
    Object.fromEntries(
      names
        .map((name): [string, unknown] => [name, (one as Plain)[name]])
        .filter(([name, value]) => value !== undefined && value !== null && value !== DEFAULTS[name]),
    ) as T;
  return {
    categories: categories
      .map((one) =>
        picked({ ...one, fields: (one.fields ?? []).map((f) => picked(f, FIELD_NAMES)) }, CATEGORY_NAMES),
      )
      .sort((one, other) => compare(one.key, other.key)),
    texts: texts
      .map((one) => picked({ ...one, categories: one.categories ?? [] }, TEXT_NAMES))
      .sort((one, other) => compare(textKey(one), textKey(other))),
  };
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
