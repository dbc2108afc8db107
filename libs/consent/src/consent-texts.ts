import { hash } from 'node:crypto';
import { type Category, type DeclaredPurpose, purposeIn } from '@app/categories';
import { type Labels, languageFor } from '@app/http';
import type { RegisterConsentText } from './consent-texts.dto';
import type { ConsentTextsView } from './consent.dto';

/** The texts that a bot shows to the user. */
export type ConsentTexts = Readonly<ConsentTextsView>;

/** The further facts about the processing (GDPR Art. 13), with the names of ISO/IEC TS 27560. */
export const NOTICE = [
  ...(['privacy_notice', 'jurisdiction', 'storage_locations'] as const),
  ...(['recipient_third_parties', 'withdrawal_method'] as const),
];

export type ConsentNotice = {
  readonly [Fact in (typeof NOTICE)[number]]?: NonNullable<RegisterConsentText[Fact]>;
};

const WORDINGS = {
  en: {
    title: 'May we store data about you?',
    body: (bot: string) =>
      `${bot} would like to store the data listed below. You decide freely, you can withdraw your consent at any time with effect for the future, and you can ask for a copy or the erasure of your data.`,
    accept_label: 'I agree',
    decline_label: 'No, thank you',
    fields: (labels: string) => `Data: ${labels}.`,
    kept: (days: number) => `Kept for ${days} day${days === 1 ? '' : 's'} after the last change.`,
    keptUntilErased: 'Kept until you have it erased.',
    keptUntilWithdrawn: (days: number) =>
      days === 0
        ? 'Kept until you withdraw your consent or have it erased.'
        : `Kept until you have it erased, or until ${days === 1 ? 'one day' : `${days} days`} after you withdraw your consent.`,
  },
  de: {
    title: 'Dürfen wir Daten über dich speichern?',
    body: (bot: string) =>
      `${bot} möchte die unten genannten Daten speichern. Deine Entscheidung ist frei, du kannst deine Einwilligung jederzeit mit Wirkung für die Zukunft widerrufen und Auskunft oder Löschung deiner Daten verlangen.`,
    accept_label: 'Ich stimme zu',
    decline_label: 'Nein, danke',
    fields: (labels: string) => `Daten: ${labels}.`,
    kept: (days: number) =>
      `Wird nach der letzten Änderung noch ${days === 1 ? 'einen Tag' : `${days} Tage`} gespeichert.`,
    keptUntilErased: 'Wird gespeichert, bis du die Löschung verlangst.',
    keptUntilWithdrawn: (days: number) =>
      days === 0
        ? 'Wird gespeichert, bis du deine Einwilligung widerrufst oder die Löschung verlangst.'
        : `Wird gespeichert, bis du die Löschung verlangst oder bis ${days === 1 ? 'einen Tag' : `${days} Tage`} nach deinem Widerruf.`,
  },
};

const LANGUAGES = Object.keys(WORDINGS);

/** Whether a request can be made in a language: its sentences are, or a category has a label or its purpose in it. */
export function speaks(language: string, categories: readonly DeclaredPurpose[]): boolean {
  if (LANGUAGES.includes(language)) return true;
  return categories.some(({ labels, purposes }) => {
    const tags = Object.keys({ ...labels, ...purposes?.descriptions });
    return languageFor(language, tags) !== undefined;
  });
}

/**
 * The request in words (GDPR Art. 7(2): intelligible, in clear and plain language). What the language lacks is in English.
 * `withdrawnDays` says after how many days a withdrawal ends in an erasure; undefined for never.
 */
export function consentTexts(
  language: string,
  botName: string,
  categories: readonly DeclaredPurpose[],
  withdrawnDays: number | undefined,
): ConsentTexts {
  const wording = WORDINGS[(languageFor(language, LANGUAGES) ?? 'en') as keyof typeof WORDINGS];
  return {
    title: wording.title,
    body: wording.body(botName),
    categories: categories.map((category) => {
      const { key, labelDe: de, labelEn: en, labels, purposes, retentionDays: days, legalBasis } = category;
      const purpose = purposeIn(language, { ...category, ...purposes });
      const isErased = withdrawnDays !== undefined && legalBasis === 'consent';
      const until = isErased ? wording.keptUntilWithdrawn(withdrawnDays) : wording.keptUntilErased;
      const kept = days === null ? until : wording.kept(days);
      const fields = (JSON.parse(category.fields) as Category['fields']).map((field) =>
        labelIn(language, { ...field.labels, de: field.label_de, en: field.label_en }),
      );
      const data = fields.length === 0 ? [] : [wording.fields(fields.join(', '))];
      const text = [...(purpose === null ? [] : [sentence(purpose)]), ...data, kept].join(' ');
      return { key, label: labelIn(language, { ...labels, de, en }), text };
    }),
    accept_label: wording.accept_label,
    decline_label: wording.decline_label,
  };
}

/** A description with its end, since sentences follow it. */
const sentence = (text: string): string => (/[\p{L}\p{N})]$/u.test(text) ? `${text}.` : text);

function labelIn(language: string, labels: Labels & { readonly en: string }): string {
  return labels[languageFor(language, Object.keys(labels)) ?? 'en'] ?? labels.en;
}

/** As the categories store it. No text of JSON has quotes without a backslash. */
const EDITABLE = ',"editable":true}';

/**
 * The version of a request without one: a digest of the declarations, so that changed ones need a new consent. The
 * stored JSON of the fields is digested as it is, but for `editable`: a user who may correct a value is not asked again.
 */
export function declaredVersion(categories: readonly DeclaredPurpose[]): string {
  const declarations = [...categories]
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map((category) => {
      const { key, labelDe, labelEn, labels, description, purposes, fields } = category;
      const named = [labelDe, labelEn, ...(labels === null ? [] : [labels])];
      const words = [...named, description, ...(purposes === null ? [] : [purposes])];
      const declared = JSON.stringify([...words, category.retentionDays, category.legalBasis]);
      return `[${JSON.stringify(key)},${declared.slice(0, -1)},${fields.replaceAll(EDITABLE, '}')}]]`;
    });
  return `sha256:${hash('sha256', `[${declarations.join(',')}]`, 'hex').slice(0, 32)}`;
}

/** Canonical JSON (RFC 8785) for objects of texts: sorted keys, no white space. */
const canonical = (content: object): string =>
  JSON.stringify(content, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );

/** SHA-256 over the canonical JSON (RFC 8785, UTF-8) of the shown text, which a bot can recompute. */
export function textDigest(content: ConsentTexts, notice: ConsentNotice | null = null): string {
  return digestOf({ ...content, ...notice });
}

/** {@link textDigest} of a part of a text. */
export function digestOf(part: object): string {
  return `sha256:${hash('sha256', canonical(part), 'hex')}`;
}
