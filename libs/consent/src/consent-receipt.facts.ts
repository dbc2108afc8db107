import { declaredPurposes } from '@app/categories';
import type { Tx } from '@app/database';
import type { Consent } from './consent.entity';
import { latestOf } from './consent-history';
import { PURPOSES_MAX, type ReceiptFacts } from './consent-receipt';
import type { ConsentNotice } from './consent-texts';

interface NoticeRow {
  readonly digest: string;
  readonly notice: string | null;
}

/** Gathers what a receipt of a consent in force states; within the unit that accepts, what that unit has written. */
export async function receiptFacts(tx: Tx, consent: Omit<Consent, 'bot'>): Promise<ReceiptFacts> {
  const { botId, version, categories } = consent;
  const granted = categories && Object.keys(categories).filter((key) => categories[key] === 'accepted');
  const [decision, notices, bot, found] = await Promise.all([
    latestOf(tx, consent, consent.id),
    tx.all<NoticeRow>(
      'SELECT digest, notice FROM consent_texts WHERE bot_id = ? AND consent_version = ? ORDER BY language',
      botId,
      version,
    ),
    tx.get<{ name: string; privacy_contact: string | null }>(
      'SELECT name, privacy_contact FROM bots WHERE id = ?',
      botId,
    ),
    declaredPurposes(tx, botId, granted, PURPOSES_MAX + 1),
  ]);
  const shown = decision?.texts?.[0]?.digest;
  const notice = notices.find(({ digest }) => digest === shown)?.notice ?? null;
  return {
    consent,
    decision,
    notice: notice === null ? null : (JSON.parse(notice) as ConsentNotice),
    bot: { id: botId, name: bot?.name ?? '', contact: bot?.privacy_contact ?? null },
    purposes: found.slice(0, PURPOSES_MAX),
    purposesInAll: found.length > PURPOSES_MAX ? await countCategories(tx, botId) : found.length,
  };
}

async function countCategories(tx: Tx, botId: string): Promise<number> {
  const row = await tx.get<{ total: number }>(
    'SELECT COUNT(*) AS total FROM categories WHERE bot_id = ?',
    botId,
  );
  return Number(row?.total ?? 0);
}
