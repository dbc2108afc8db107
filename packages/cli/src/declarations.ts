import { parse, stringify } from 'yaml';
import type { Lethe, Schemas } from '@lethe/sdk';
import { refused } from './failures';

/** What a bot declares, as its file holds it: without ids, digests and times. */
export interface Declarations {
  readonly categories: readonly Category[];
  readonly texts: readonly Text[];
}

export type Category = Omit<Schemas['CategoryView'], 'id' | 'created_at'>;
type Text = Omit<Schemas['ConsentTextView'], 'digest' | 'created_at'>;

/** The order of names in the file. A name of a newer service is kept behind them. */
const WORDS = [
  ...['label_de', 'label_en', 'labels'],
  ...['description', 'description_de', 'description_en', 'descriptions'],
];
const WITHOUT_CONSENT = ['requires_consent', 'reason_de', 'reason_en'];
const CATEGORY_NAMES = ['key', ...WORDS, 'retention_days', 'legal_basis', ...WITHOUT_CONSENT, 'fields'];
const FIELD_NAMES = ['key', 'type', ...WORDS, 'editable'];
const TEXT_NAMES = [
  ...['consent_version', 'language', 'title', 'body', 'accept_label', 'decline_label', 'categories'],
  ...['privacy_notice', 'jurisdiction', 'storage_locations', 'recipient_third_parties', 'withdrawal_method'],
];
const TEXT_CATEGORY_NAMES = ['key', 'label', 'text'];
/** What the service says about a declaration, and the bot does not declare. */
const OF_THE_SERVICE = ['id', 'digest', 'created_at', 'updated_at'];
const DEFAULTS: Readonly<Record<string, unknown>> = {
  ...{ legal_basis: 'consent', requires_consent: true },
  editable: false,
};

const HEAD = `# What the bot stores, and the words with which it asks. lethe categories push brings changes to the service.
# Labels of categories and fields are in German and English, and so are purposes: description_de, description_en.
# Texts never change: new words have a new consent_version.
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

/**
 * The declarations of a file. A name is known where it is of this version, or where the service `there` has it.
 * @throws Failure that names the wrong place
 */
export function declarationsIn(text: string, file: string, there: Declarations): Declarations {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw refused(`${file} is no YAML: ${(error as Error).message.split('\n')[0]}`, 'Nothing was changed.');
  }
  const given = (content ?? {}) as Plain;
  const unknown = Object.keys(given).filter((name) => !['categories', 'texts', 'holders'].includes(name));
  const lists = [given['categories'] ?? [], given['texts'] ?? []];
  if (unknown.length > 0 || !lists.every((list) => Array.isArray(list) && list.every(isObject)))
    throw refused(
      `${file} must hold the lists categories and texts${unknown.length > 0 ? `, not ${unknown.join(', ')}` : ''}.`,
      'lethe categories pull writes such a file.',
    );
  const [categories = [], texts = []] = lists;
  const ofCategories = namesOf(CATEGORY_NAMES, there.categories);
  const ofFields = namesOf(FIELD_NAMES, there.categories.flatMap(fieldsOf));
  const ofTexts = namesOf(TEXT_NAMES, there.texts);
  const ofTextCategories = namesOf(TEXT_CATEGORY_NAMES, there.texts.flatMap(categoriesOf));
  for (const [at, one] of categories.entries()) {
    requireNames(one, ofCategories, `categories[${at}]${keyed(one)}`, file);
    requireList(one, 'fields', `categories[${at}]${keyed(one)}`, file);
    for (const [n, field] of fieldsOf(one).entries())
      requireNames(field, ofFields, `fields[${n}]${keyed(field)} of categories[${at}]${keyed(one)}`, file);
  }
  for (const [at, one] of texts.entries()) {
    requireNames(one, ofTexts, `texts[${at}]`, file);
    requireList(one, 'categories', `texts[${at}]`, file);
    for (const [n, category] of categoriesOf(one).entries())
      requireNames(category, ofTextCategories, `categories[${n}]${keyed(category)} of texts[${at}]`, file);
    if (typeof one['consent_version'] !== 'string')
      throw refused(
        `${file}: consent_version of texts[${at}] is no text.`,
        `Write it in quotes: '${String(one['consent_version'])}'.`,
      );
  }
  return normal({ categories, texts } as unknown as Declarations);
}

/** @throws Failure for a file without a list of categories, such as an empty one: nothing that it lacks is to be erased */
export function requireCategories(text: string, file: string): void {
  if (Array.isArray((parse(text) as Plain | null)?.['categories'])) return;
  throw refused(
    `${file} has no list categories, and --prune erases all values of the categories that are not there.`,
    'Nothing was changed. Where the bot is to have no category, write categories: [].',
  );
}

/** `wanted` as a change of `there`: what it leaves out is cleared, in the category and in each field. */
export function changeOf(there: Category, wanted: Category): Category {
  const before = new Map(fieldsOf(there).map((one) => [one['key'], one]));
  const fields = fieldsOf(wanted).map((one) => ({
    ...clearedFrom(before.get(one['key']) ?? {}, one),
    ...one,
  }));
  // A category without declared fields takes no list of them.
  const all = { ...clearedFrom(there, wanted), ...wanted, fields: fields.length > 0 ? fields : undefined };
  return all as unknown as Category;
}

const clearedFrom = (there: Plain, wanted: Plain): Plain =>
  Object.fromEntries(
    Object.keys(there)
      .filter((name) => !(name in wanted))
      .map((name) => [name, DEFAULTS[name] ?? null]),
  );

/**
 * The categories and fields whose purpose is declared, and not in both German and English: some users are asked in words
 * that they do not understand (GDPR Art. 12(1)).
 */
export function inOneLanguage({ categories }: Pick<Declarations, 'categories'>): string[] {
  const isPartial = (one: Plain): boolean =>
    ['description', 'description_de', 'description_en', 'descriptions'].some((name) => one[name]) &&
    !(one['description_de'] && one['description_en']);
  return categories.flatMap((category) => [
    ...(isPartial(category) ? [category.key] : []),
    ...fieldsOf(category)
      .filter(isPartial)
      .map(({ key }) => `${category.key}.${String(key)}`),
  ]);
}

const isObject = (value: unknown): value is Plain => typeof value === 'object' && value !== null;

const listIn = (one: Plain, name: string): Plain[] =>
  Array.isArray(one[name]) ? (one[name] as unknown[]).filter(isObject) : [];
const fieldsOf = (one: Plain): Plain[] => listIn(one, 'fields');
/** What a text says of each category. */
const categoriesOf = (one: Plain): Plain[] => listIn(one, 'categories');

const namesOf = (known: readonly string[], there: readonly Plain[]): string[] => [
  ...new Set([...known, ...there.flatMap((one) => Object.keys(one))]),
];

/** The key of a declaration behind its place. */
const keyed = ({ key }: Plain): string => (typeof key === 'string' ? ` (${key})` : '');

/** An unknown name is a slip of the pen that the service would ignore. */
function requireNames(one: Plain, names: readonly string[], place: string, file: string): void {
  const wrong = Object.keys(one).filter((name) => !names.includes(name));
  if (wrong.length === 0) return;
  throw refused(`${file}: ${place} has ${wrong.join(', ')}.`, `Known are ${names.join(', ')}.`);
}

/** What is no entry would be left out. */
function requireList(one: Plain, name: string, place: string, file: string): void {
  const list = one[name] ?? [];
  if (Array.isArray(list) && list.every((entry) => isObject(entry) && !Array.isArray(entry))) return;
  throw refused(
    `${file}: ${name} of ${place} must be a list of entries with names and values.`,
    'lethe categories pull writes such a file.',
  );
}

/** One form for equal declarations: sorted, in a fixed order of names, without what is absent or the default. */
function normal({ categories, texts }: Declarations): Declarations {
  return {
    categories: categories
      .map((one) => ({ ...one, fields: fieldsOf(one).map((field) => inOrder(field, FIELD_NAMES)) }))
      .map((one) => inOrder(one, CATEGORY_NAMES) as Category)
      .sort((one, other) => compare(one.key, other.key)),
    texts: texts
      .map((one) => ({
        ...one,
        categories: categoriesOf(one).map((each) => inOrder(each, TEXT_CATEGORY_NAMES)),
      }))
      .map((one) => inOrder(one, TEXT_NAMES) as Text)
      .sort((one, other) => compare(textKey(one), textKey(other))),
  };
}

function inOrder(one: Plain, names: readonly string[]): Plain {
  const others = Object.keys(one).filter((name) => !names.includes(name) && !OF_THE_SERVICE.includes(name));
  return Object.fromEntries(
    [...names, ...others.sort(compare)]
      .map((name): [string, unknown] => [name, sorted(one[name])])
      .filter(([name, value]) => value !== undefined && value !== null && value !== DEFAULTS[name]),
  );
}

/** A map, as of labels by language, has no order. */
const sorted = (value: unknown): unknown =>
  isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => compare(one, other)))
    : value;

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
