import type { Schemas } from '@lethe/sdk';
import type { TextName } from '../texts';

export type Notice = Schemas['NoticeSettingsView'];

/** The settings that are one text each, by the words for them. */
export const TEXTS = {
  controller_name: 'noticeController',
  controller_email: 'noticeControllerEmail',
  controller_address: 'noticeControllerAddress',
  officer_name: 'noticeOfficer',
  officer_email: 'noticeOfficerEmail',
  interests_de: 'noticeInterestsDe',
  interests_en: 'noticeInterestsEn',
  source_de: 'noticeSourceDe',
  source_en: 'noticeSourceEn',
  automated_decisions_de: 'noticeAutomatedDe',
  automated_decisions_en: 'noticeAutomatedEn',
  authority_name: 'noticeAuthority',
  authority_url: 'noticeAuthorityUrl',
  notice_url: 'noticeOwnPolicy',
} as const satisfies Partial<Record<keyof Notice, TextName>>;

export type NoticeText = keyof typeof TEXTS;
export const TEXT_NAMES = Object.keys(TEXTS) as readonly NoticeText[];

export const RECIPIENT_TEXTS = {
  name: 'noticeRecipientName',
  country: 'noticeCountry',
  purpose_de: 'noticePurposeDe',
  purpose_en: 'noticePurposeEn',
  safeguards_de: 'noticeSafeguardsDe',
  safeguards_en: 'noticeSafeguardsEn',
} as const satisfies Record<keyof Schemas['NoticeRecipient'], TextName>;

export type RecipientText = keyof typeof RECIPIENT_TEXTS;
const RECIPIENT_NAMES = Object.keys(RECIPIENT_TEXTS) as readonly RecipientText[];
/** A recipient in the form; an empty text is none. */
export type DraftRecipient = Readonly<Record<RecipientText, string>>;

export const AUTOMATED = ['', 'none', 'exist'] as const;

interface NoticeDraft extends Readonly<Record<NoticeText, string>> {
  readonly public: boolean;
  readonly automated_decisions: (typeof AUTOMATED)[number];
  readonly recipients: readonly DraftRecipient[];
}

function textsOf<Name extends string>(
  names: readonly Name[],
  from: { readonly [Each in Name]?: string | null },
): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? ''])) as Record<Name, string>;
}

export const NO_RECIPIENT: DraftRecipient = textsOf(RECIPIENT_NAMES, {});

export function draftOf(notice: Notice): NoticeDraft {
  return {
    ...textsOf(TEXT_NAMES, notice),
    public: notice.public ?? false,
    automated_decisions: notice.automated_decisions ?? '',
    recipients: notice.recipients?.map((each) => textsOf(RECIPIENT_NAMES, each)) ?? [],
  };
}

/** The recipients as one text, to compare them. */
export const recipientsOf = (notice: Notice): string => JSON.stringify(draftOf(notice).recipients);

const orNone = (text: string): string | null => (text.trim() === '' ? null : text.trim());

const EXPLANATIONS = ['automated_decisions_de', 'automated_decisions_en'] as const;

/** The changed fields as the interface takes them. An empty text clears its field. */
export function changeOf(
  { recipients, automated_decisions: automated, public: isPublic, ...texts }: Partial<NoticeDraft>,
  values: NoticeDraft,
): Schemas['ChangeNoticeSettings'] {
  // Without automated decisions the form hides their explanation, so the explanation is cleared.
  const hidden =
    values.automated_decisions === 'exist'
      ? []
      : EXPLANATIONS.filter((name) => automated !== undefined || values[name] !== '');
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, orNone(text)])),
    ...(isPublic !== undefined && { public: isPublic }),
    ...(automated !== undefined && { automated_decisions: automated === '' ? null : automated }),
    ...Object.fromEntries(hidden.map((name) => [name, null])),
    ...(recipients !== undefined && { recipients: recipients.map(recipientOf) }),
  };
}

/** A recipient without a name is refused beside its field. */
function recipientOf({ name, ...rest }: DraftRecipient): Schemas['NoticeRecipient'] {
  const given = Object.entries(rest).map(([each, text]) => [each, orNone(text)] as const);
  return { name: name.trim(), ...Object.fromEntries(given.filter(([, text]) => text !== null)) };
}

/** The name of a country by its two letters; undefined where they are none. */
export function countryName(language: string, code: string): string | undefined {
  if (!/^[A-Z]{2}$/.test(code)) return undefined;
  const name = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }).of(code);
  return name === code ? undefined : name;
}

/** The address of the page of everybody, which others can open: that of the settings of the service, or of this page. */
export const addressOf = (botId: string, publicUrl: string | null | undefined): string =>
  new URL(`/notice/${botId}`, publicUrl ?? location.origin).href;
