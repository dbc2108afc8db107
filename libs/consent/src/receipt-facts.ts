import { type BotFacts, findBot, type NoticeSettings, noticeSettingsOf } from '@app/bots';
import {
  type Category,
  countCategories,
  type DeclaredPurpose,
  declaredPurposes,
  purposeIn,
  purposesByLanguage,
} from '@app/categories';
import type { Tx } from '@app/database';
import { ERASED_IDS, type NamedSubject, type SubjectIds } from '@app/crypto';
import { grantedKeys } from './consent-changes';
import { decisionOf, type HistoryEntry } from './consent-history';
import { isInForce } from './consent-states';
import type { ConsentNotice } from './consent-texts';
import type { Decided } from './consent-writer';
import type { Consent, ShownText } from './consent.entity';
import { findConsent } from './consent.sql';

/** Most purposes in one receipt, which also states the number of the others. */
const PURPOSES_MAX = 100;
/** Most characters of the declarations and notices in one receipt. */
const PURPOSES_LENGTH_MAX = 256 * 1024;

/** The facts of a receipt, read in one unit. */
export interface ReceiptFacts {
  readonly consent: Consent;
  readonly ids: SubjectIds;
  /** The confirmed decision; undefined once its history entry is removed. */
  readonly decision: HistoryEntry | undefined;
  readonly notice: ConsentNotice | null;
  readonly bot: BotFacts | undefined;
  /** What the bot has said about itself. */
  readonly settings: NoticeSettings;
  readonly purposes: readonly DeclaredPurpose[];
  readonly purposesInAll: number;
}

/**
 * The payload of a consent receipt, with the names and sections of ISO/IEC TS 27560:2023: header, processing, parties,
 * event. A fact that the bot has not declared is null. Two receipts of one unchanged consent are equal, while the bot and the
 * installation say the same. `withdrawnDays`: after how many days a withdrawal ends in an erasure; undefined for never.
 */
export function receiptOf(facts: ReceiptFacts, withdrawnDays: number | undefined) {
  const { consent, ids, decision, notice, bot, settings } = facts;
  const texts = decision?.texts ?? [];
  const language = decision?.language ?? (texts.length === 1 ? (texts[0]?.language ?? null) : null);
  return {
    schema_version: 'lethe-consent-receipt/1; ISO/IEC TS 27560:2023',
    receipt_id: decision?.id ?? consent.id,
    record_id: consent.id,
    pii_principal_id: ids.user_id,
    pii_processing: {
      privacy_notice: { consent_version: consent.version, url: notice?.privacy_notice ?? null, texts },
      language,
      service: { bot_id: consent.botId, bot_name: bot?.name ?? '', guild_id: ids.guild_id },
      purposes: facts.purposes.map((purpose) => purposeOf(purpose, facts, { language, withdrawnDays })),
      purposes_omitted: facts.purposesInAll - facts.purposes.length,
    },
    party_identification: [
      {
        party_id: consent.botId,
        party_role: 'pii_controller',
        party_name: settings.controller_name ?? bot?.name ?? '',
        party_contact: settings.controller_email ?? bot?.privacy_contact ?? null,
        party_address: settings.controller_address ?? null,
      },
    ],
    event: {
      event_time: consent.acceptedAt,
      validity_duration: 'until_withdrawn',
      entity_id: ids.user_id,
      event_type: 'expressed',
      event_state: 'consent_given',
      source: decision?.source ?? null,
    },
  };
}

/** A declaration changed after the request is not what the user agreed to: the receipt states only its key. */
function purposeOf(
  purpose: DeclaredPurpose,
  { consent, notice }: ReceiptFacts,
  {
    language,
    withdrawnDays,
  }: { readonly language: string | null; readonly withdrawnDays: number | undefined },
) {
  const asked = purpose.updatedAt < consent.requestedAt ? purpose : null;
  return {
    purpose: purpose.key,
    declared_at: purpose.updatedAt,
    purpose_label: asked && { de: asked.labelDe, en: asked.labelEn, ...asked.labels },
    purpose_description: asked && purposeIn(language ?? 'en', { ...asked, ...asked.purposes }),
    ...(asked?.purposes != null && { purpose_descriptions: purposesByLanguage(asked.purposes) }),
    lawful_basis: asked && asked.legalBasis,
    pii_information:
      asked &&
      (JSON.parse(asked.fields) as Category['fields']).map(({ key, label_de, label_en, labels }) => ({
        pii_type: key,
        pii_type_label: { de: label_de, en: label_en, ...labels },
      })),
    pii_controllers: [consent.botId],
    retention_period: asked && retentionOf(asked, withdrawnDays),
    storage_locations: notice?.storage_locations ?? null,
    jurisdiction: notice?.jurisdiction ?? null,
    recipient_third_parties: notice?.recipient_third_parties ?? null,
    withdrawal_method: notice?.withdrawal_method ?? null,
  };
}

/** How long values are kept, by the rule of the texts that Lethe makes; an erasure ends each of these earlier. */
function retentionOf(
  { retentionDays, legalBasis }: DeclaredPurpose,
  withdrawnDays: number | undefined,
): string {
  if (retentionDays !== null) return `P${retentionDays}D`;
  if (withdrawnDays === undefined || legalBasis !== 'consent') return 'until_erased';
  return withdrawnDays === 0 ? 'until_withdrawn' : `until_P${withdrawnDays}D_after_withdrawal`;
}

/** What the receipts of a unit have in common is read once in it. */
const READ = {};

const NOT_DECIDED: Decided = { entry: undefined, ids: ERASED_IDS };

function once<T>(tx: Tx, name: string, read: () => Promise<T>): Promise<T> {
  const known = tx.kept(READ, () => new Map<string, Promise<unknown>>());
  const reading = (known.get(name) as Promise<T> | undefined) ?? read();
  known.set(name, reading);
  return reading;
}

/**
 * Reads the facts that a receipt of a consent in force states. In the unit that accepts, `decision` is written at the
 * same time, and the other reads do not wait for it.
 */
export async function receiptFacts(
  tx: Tx,
  consent: Consent,
  decision: Promise<Decided | undefined>,
): Promise<ReceiptFacts> {
  const { botId, categories } = consent;
  const granted = grantedKeys(categories);
  const [{ entry, ids } = NOT_DECIDED, bot, { settings }, found] = await Promise.all([
    decision,
    once(tx, `bot ${botId}`, () => findBot(tx, botId)),
    once(tx, `notice ${botId}`, () => noticeSettingsOf(tx, botId)),
    once(tx, `purposes ${botId} ${JSON.stringify(granted)}`, () =>
      granted === null
        ? declaredPurposes(tx, botId, null, PURPOSES_MAX + 1, 'asked')
        : declaredPurposes(tx, botId, granted.slice(0, PURPOSES_MAX), PURPOSES_MAX),
    ),
  ]);
  const notice = await noticeOf(tx, consent, entry?.texts?.[0]);
  return {
    consent,
    ids,
    decision: entry,
    notice,
    bot,
    settings,
    purposes: fitting(found, JSON.stringify(notice).length),
    purposesInAll:
      granted?.length ??
      (found.length > PURPOSES_MAX
        ? await once(tx, `count ${botId}`, () => countCategories(tx, botId, 'asked'))
        : found.length),
  };
}

/** {@link receiptFacts} of the present consent; undefined unless one is in force that grants something. */
export async function factsInForce(tx: Tx, subject: NamedSubject): Promise<ReceiptFacts | undefined> {
  const consent = await findConsent(tx, subject);
  if (consent === null || !isInForce(consent) || grantedKeys(consent.categories)?.length === 0)
    return undefined;
  const decided = decisionOf(tx, consent, consent.id).then((entry) => ({ entry, ids: subject.ids }));
  return receiptFacts(tx, consent, decided);
}

/** The notice of the text that was shown; null for a text that was not registered. */
async function noticeOf(
  tx: Tx,
  { botId, version }: Pick<Consent, 'botId' | 'version'>,
  shown: ShownText | undefined,
): Promise<ConsentNotice | null> {
  if (shown === undefined) return null;
  const text = [botId, version, shown.language];
  const found = await once(tx, `text ${JSON.stringify(text)}`, () =>
    tx.get<{ digest: string; notice: string | null }>(
      'SELECT digest, notice FROM consent_texts WHERE bot_id = ? AND consent_version = ? AND language = ?',
      ...text,
    ),
  );
  if (found?.digest !== shown.digest || found.notice === null) return null;
  return JSON.parse(found.notice) as ConsentNotice;
}

/** As many purposes as a receipt lists, which repeats the notice for each. */
function fitting(found: readonly DeclaredPurpose[], noticeLength: number): DeclaredPurpose[] {
  let length = 0;
  return found
    .slice(0, PURPOSES_MAX)
    .filter(({ labelDe, labelEn, labels, description, purposes, fields }) => {
      length +=
        JSON.stringify(labels ?? '').length + (purposes === null ? 0 : JSON.stringify(purposes).length);
      length += labelDe.length + labelEn.length + (description?.length ?? 0) + fields.length + noticeLength;
      return length <= PURPOSES_LENGTH_MAX;
    });
}
