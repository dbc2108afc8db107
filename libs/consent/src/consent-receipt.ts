import { type Category, type DeclaredPurpose, purposeIn, purposesByLanguage } from '@app/categories';
import type { SubjectIds } from '@app/subjects';
import type { Consent } from './consent.entity';
import type { HistoryEntry } from './consent-history';
import type { ConsentNotice } from './consent-texts';

/** Most purposes in one receipt, which also states the number of the others. */
export const PURPOSES_MAX = 100;
/** Most characters of the declarations and notices in one receipt. */
export const PURPOSES_LENGTH_MAX = 256 * 1024;

/** The facts of a receipt, read in one unit. */
export interface ReceiptFacts {
  readonly consent: Omit<Consent, 'bot'>;
  readonly ids: SubjectIds;
  /** The confirmed decision; undefined once its history entry is removed. */
  readonly decision: HistoryEntry | undefined;
  readonly notice: ConsentNotice | null;
  readonly bot: { readonly id: string; readonly name: string; readonly contact: string | null };
  readonly purposes: readonly DeclaredPurpose[];
  readonly purposesInAll: number;
}

const WITHDRAWAL = 'By telling the bot or its privacy contact, at any time, with effect for the future';

/**
 * The payload of a consent receipt, with the names and sections of ISO/IEC TS 27560:2023: header, processing, parties,
 * event. A fact that the bot has not declared is null. Two receipts of one unchanged consent are equal.
 */
export function receiptOf(facts: ReceiptFacts) {
  const { consent, ids, decision, notice, bot } = facts;
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
      service: { bot_id: bot.id, guild_id: ids.guild_id },
      purposes: facts.purposes.map((purpose) => purposeOf(purpose, facts, language)),
      purposes_omitted: facts.purposesInAll - facts.purposes.length,
    },
    party_identification: [
      {
        party_id: bot.id,
        party_role: 'pii_controller',
        party_name: bot.name,
        party_contact: bot.contact,
        party_address: null,
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

export type ConsentReceipt = ReturnType<typeof receiptOf>;

/** A declaration changed after the request is not what the user agreed to: the receipt states only its key. */
function purposeOf(
  purpose: DeclaredPurpose,
  { consent, notice, bot }: ReceiptFacts,
  language: string | null,
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
    pii_controllers: [bot.id],
    retention_period: asked && (asked.retentionDays === null ? 'until_erased' : `P${asked.retentionDays}D`),
    storage_locations: notice?.storage_locations ?? null,
    jurisdiction: notice?.jurisdiction ?? null,
    recipient_third_parties: notice?.recipient_third_parties ?? null,
    withdrawal_method: notice?.withdrawal_method ?? WITHDRAWAL,
  };
}
