import type { SubjectIds } from '@app/subjects';
import type { AnnouncedErasures } from './announced-erasures';
import { categoryStates, pendingRequest } from './consent-changes';
import type { ConsentTexts } from './consent-texts';
import type {
  CategoryConsentView,
  ConsentRequestedView,
  ConsentStatusView,
  ConsentView,
} from './consent.dto';
import type { Consent } from './consent.entity';
import type { FoundStatus } from './consent-status.sql';

type Stored = Omit<Consent, 'bot'>;

/** The answer to a request: the request that waits, or the accepted consent that it repeats. */
export function requestedView(
  consent: Stored,
  state: 'pending' | 'accepted',
  keys: readonly string[] | null,
  texts: ConsentTexts | null,
): ConsentRequestedView {
  const waiting = state === 'pending' ? pendingRequest(consent) : undefined;
  const view = {
    id: waiting?.id ?? consent.id,
    status: state,
    version: waiting?.version ?? consent.version,
    requested_at: waiting?.at ?? consent.requestedAt,
  };
  return keys === null || texts === null ? view : { ...view, consent_id: view.id, categories: keys, texts };
}

export function consentView(
  consent: Stored,
  { user_id, guild_id }: SubjectIds,
  announced?: AnnouncedErasures,
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

/** `listed`: the answer always has `categories`, as in the guide, also when empty. */
export function statusView(
  { consent: stored, declinedAt }: FoundStatus,
  { user_id, guild_id }: SubjectIds,
  listed: boolean,
  announced?: AnnouncedErasures,
): ConsentStatusView {
  const consent = stored?.status === 'none' ? null : stored;
  const categories = consent === null ? undefined : categoryViews(consent, announced);
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
    ...((categories !== undefined || listed) && { categories: categories ?? [] }),
  };
}

/** With a consent in force, only for categories that it does not name: named ones have a time of their own. */
function erasedAt(
  { status, categories }: Pick<Stored, 'status' | 'categories'>,
  announced: AnnouncedErasures | undefined,
): { data_erased_at?: string } {
  const last = announced?.lastBut(status === 'accepted' ? Object.keys(categories ?? {}) : []);
  return last === undefined ? {} : { data_erased_at: last };
}

function categoryViews(
  consent: Pick<Stored, 'categories' | 'pendingCategories'>,
  announced: AnnouncedErasures | undefined,
): CategoryConsentView[] | undefined {
  return categoryStates(consent)?.map((category) => {
    const at = announced?.of(category.key);
    return at === undefined ? category : { ...category, data_erased_at: at };
  });
}
