import { BOT_WIDE_GUILD_ID } from '@app/kernel';
import type { ErasureTime, SubjectIds } from '@app/crypto';
import { categoryStates } from './consent-changes';
import { CONSENT_STATES } from './consent-states';
import type { CategoryConsentView, ConsentStatusView, ConsentView } from './consent.dto';
import type { Consent } from './consent.entity';

/** What the status of a subject shows. */
export interface FoundStatus {
  /** null for the status `none`. */
  readonly consent: Pick<
    Consent,
    'status' | 'version' | 'categories' | 'acceptedAt' | 'revokedAt' | 'pendingVersion' | 'pendingCategories'
  > | null;
  /** The time of the last refusal, unless the user was asked or has accepted since. */
  readonly declinedAt: string | null;
}

export function consentView(
  consent: Consent,
  { user_id, guild_id }: SubjectIds,
  announced: readonly ErasureTime[] = [],
): ConsentView {
  const categories = categoryViews(consent, announced);
  return {
    id: consent.id,
    status: consent.status,
    version: consent.version,
    user_id,
    guild_id,
    requested_at: consent.requestedAt,
    accepted_at: consent.acceptedAt,
    revoked_at: consent.revokedAt,
    ...erasedAt(consent, announced),
    ...(categories !== undefined && { categories }),
  };
}

export function statusView(
  { consent: stored, declinedAt }: FoundStatus,
  { user_id, guild_id }: SubjectIds,
  announced: readonly ErasureTime[] = [],
): ConsentStatusView {
  const consent = stored?.status === 'none' ? null : stored;
  // As in the guide, an answer about the whole bot has `categories` also where nothing was asked for.
  const unasked = guild_id === BOT_WIDE_GUILD_ID ? [] : undefined;
  const categories = consent === null ? unasked : categoryViews(consent, announced);
  return {
    status: consent?.status ?? 'none',
    version: consent?.version ?? null,
    user_id,
    guild_id,
    accepted_at: consent?.acceptedAt ?? null,
    revoked_at: consent?.revokedAt ?? null,
    declined_at: declinedAt,
    ...(consent?.pendingVersion != null && { pending_version: consent.pendingVersion }),
    ...(consent !== null && erasedAt(consent, announced)),
    ...(categories !== undefined && { categories }),
  };
}

/** With a consent in force, only for categories that it does not name: named ones have a time of their own. */
function erasedAt(
  { status, categories }: Pick<Consent, 'status' | 'categories'>,
  announced: readonly ErasureTime[],
): { data_erased_at?: string } {
  const named = (CONSENT_STATES[status].leavesData === 'in those it does not name' && categories) || {};
  const last = lastErasure(announced, (category) => !Object.hasOwn(named, category));
  return last === undefined ? {} : { data_erased_at: last };
}

function categoryViews(
  consent: Pick<Consent, 'categories' | 'pendingCategories'>,
  announced: readonly ErasureTime[],
): CategoryConsentView[] | undefined {
  return categoryStates(consent)?.map((state) => {
    const at = lastErasure(announced, (category) => category === state.key);
    return at === undefined ? state : { ...state, data_erased_at: at };
  });
}

/** When all that is held under some categories is erased; undefined if nothing is held, or nothing is erased by itself. */
function lastErasure(
  announced: readonly ErasureTime[],
  isMeant: (category: string) => boolean,
): string | undefined {
  const times = announced.filter(([category]) => isMeant(category)).map(([, at]) => at);
  return times.sort().at(-1);
}
