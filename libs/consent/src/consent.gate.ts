import { ApiError } from '@app/common';
import type { Subject, Tx } from '@app/database';
import { isGranted } from './consent-changes';
import type { CategoryStates, Consent } from './consent.entity';

const SELECT =
  'SELECT status, erasing, categories FROM consents WHERE bot_id = ? AND guild_id = ? AND user_id = ?';

type Decision = Pick<Consent, 'status' | 'erasing'> & { categories: string | null };

/**
 * What stands between a user and anything that is stored about them: inside the storing unit it throws 403 unless a
 * consent is in force. It answers which categories it covers, since whether a category exists is asked in between.
 * @throws ApiError 403 `consent_required`
 */
export async function requireConsent(tx: Tx, { botId, guildId, userId }: Subject): Promise<ConsentScope> {
  const found = await tx.get<Decision>(SELECT, botId, guildId, userId);
  if (found?.status !== 'accepted' || found.erasing !== 0) {
    throw new ApiError(
      'consent_required',
      'The user has not accepted: request a consent and store data once it is accepted',
      {
        current_status: found?.status ?? 'none',
      },
    );
  }
  return new ConsentScope(found);
}

/** The categories that a consent in force covers. */
export class ConsentScope {
  constructor(private readonly decision: Decision) {}

  /** @throws ApiError 403 `consent_required` for a category that the user did not grant. */
  require(category: string): void {
    const { status, erasing, categories } = this.decision;
    if (categories === null) return;
    if (!isGranted({ status, erasing, categories: JSON.parse(categories) as CategoryStates }, category)) {
      throw new ApiError('consent_required', 'The user has not consented to this category', {
        current_status: status,
      });
    }
  }
}
