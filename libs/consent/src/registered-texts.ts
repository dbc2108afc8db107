import { attempt, itemOf, JsonText } from '@app/http';
import { ApiError, type FieldFault, invalidRequest } from '@app/kernel';
import type { ConsentNotice, ConsentTexts } from './consent-texts';
import { type ConsentTextView, RegisterConsentText } from './consent-texts.dto';
import type { ConsentText } from './consent.entity';
import { textDigest } from './text-digest';

/** A text in one language, as it is stored. */
export type StorableText = Pick<ConsentText, 'language' | 'digest' | 'content' | 'notice'>;

/** The texts of a registration in further languages. @throws ApiError 400 that names each bad field by its path */
export function furtherTexts({
  consent_version,
  language,
  texts,
}: RegisterConsentText): RegisterConsentText[] {
  const faults: FieldFault[] = [];
  const found = Object.entries(texts ?? {}).flatMap(([tag, text]) => {
    const at = `texts.${tag}`;
    if (tag === language) faults.push({ field: at, message: 'is the language of the text itself' });
    else if (typeof text !== 'object' || text === null || Array.isArray(text))
      faults.push({ field: at, message: 'must be a JSON object' });
    else {
      const given = { ...text, consent_version, language: tag, texts: undefined };
      const read = attempt(() => itemOf(RegisterConsentText, given));
      if (!(read instanceof ApiError)) return [read];
      for (const { field, message } of read.details?.['fields'] as readonly FieldFault[])
        faults.push({ field: field === 'language' ? at : `${at}.${field}`, message });
    }
    return [];
  });
  if (faults.length > 0) throw invalidRequest(faults);
  return found;
}

export function storable(input: RegisterConsentText): StorableText {
  const [content, notice] = [contentOf(input), noticeOf(input)];
  return { language: input.language, digest: textDigest(content, notice), content, notice };
}

/** The answer to a registration: the first text, with the others by their language. */
export function inLanguages([first, ...others]: readonly ConsentTextView[]): ConsentTextView {
  const texts = Object.fromEntries(others.map((each) => [each.language, each]));
  return { ...(first as ConsentTextView), ...(others.length > 0 && { texts }) };
}

function contentOf(input: RegisterConsentText): ConsentTexts {
  const { title, body, categories, accept_label, decline_label } = input;
  return {
    title,
    body,
    categories: (categories ?? []).map(({ key, label, text }) => ({ key, label, text })),
    ...(accept_label != null && { accept_label }),
    ...(decline_label != null && { decline_label }),
  };
}

function noticeOf(input: RegisterConsentText): ConsentNotice | null {
  const { privacy_notice, jurisdiction, storage_locations, recipient_third_parties, withdrawal_method } =
    input;
  const notice: ConsentNotice = {
    ...(privacy_notice != null && { privacy_notice }),
    ...(jurisdiction != null && { jurisdiction }),
    ...(storage_locations != null && { storage_locations }),
    ...(recipient_third_parties != null && { recipient_third_parties }),
    ...(withdrawal_method != null && { withdrawal_method }),
  };
  return Object.keys(notice).length === 0 ? null : notice;
}

export function viewOf({
  consentVersion,
  language,
  digest,
  content,
  notice,
  createdAt,
}: ConsentText): ConsentTextView {
  return {
    consent_version: consentVersion,
    language,
    digest,
    ...content,
    ...notice,
    created_at: createdAt,
  };
}

export type TextRow = Record<'consent_version' | 'language' | 'digest' | 'content' | 'created_at', string> & {
  readonly notice: string | null;
};

/** {@link viewOf} a row, from its stored JSON as it is. */
export function textOf({
  consent_version,
  language,
  digest,
  content,
  notice,
  created_at,
}: TextRow): JsonText {
  const parts = [{ consent_version, language, digest }, content, notice, { created_at }].flatMap((part) =>
    part === null ? [] : [typeof part === 'string' ? part : JSON.stringify(part)],
  );
  return new JsonText(`{${parts.map((part) => part.slice(1, -1)).join(',')}}`);
}
