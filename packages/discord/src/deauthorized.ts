import { type Lethe, momentMs, NotFoundError } from '@lethe/sdk';
import { DIRECT_MESSAGES } from './scope';

/** Where the consents were withdrawn, in their history. */
const SOURCE = 'discord_deauthorized';
/** As for guilds: the limiter of the service begins anew each minute. */
const PATIENT_MS = 150_000;
/** How far the clock of the service may be ahead of this one, as a receiver of signed events allows. */
const AHEAD_MAX_MS = 300_000;
const ZONE = /(Z|[+-]\d\d:\d\d)$/i;

export interface Deauthorization {
  /**
   * When it happened (ISO 8601; UTC without a zone, as Discord writes it). A consent that is newer stays; none does without a
   * time that can be read: a user who has come back is asked again, but a lost withdrawal is never made. The time of a consent
   * that is more than five minutes ahead of this clock cannot be read either.
   */
  readonly at?: string | undefined;
  /** How long each of the two calls of the service may take in ms; 150,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A user has removed the app from their account: the consent in the bot-wide scope is withdrawn. From then on nothing is
 * stored under it, and the service erases what was after its days of grace. Guilds are not touched. A repeat changes nothing.
 * Answers whether a consent was withdrawn. @throws LetheError where the service did not do it: call it again
 */
export async function userDeauthorized(
  { lethe }: { readonly lethe: Lethe },
  userId: string,
  { at, timeoutMs = PATIENT_MS }: Deauthorization = {},
): Promise<boolean> {
  const who = { user_id: userId, guild_id: DIRECT_MESSAGES };
  const options = { timeoutMs };
  const { status, accepted_at: acceptedAt } = await lethe.consents.status(who, options);
  if (status !== 'accepted' || isLater(acceptedAt, at)) return false;
  try {
    await lethe.consents.revoke({ ...who, source: SOURCE }, options);
    return true;
  } catch (error) {
    // Another delivery of the event was there first.
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/** Whether the user has consented after the event, which arrives late or once more. */
function isLater(acceptedAt: string | null | undefined, at: string | undefined): boolean {
  const happened = momentMs(at === undefined || ZONE.test(at) ? at : `${at}Z`);
  const accepted = Date.parse(acceptedAt ?? '');
  // That of the service was ahead, or this one is behind: every event would be earlier.
  if (accepted - Date.now() > AHEAD_MAX_MS) return false;
  return happened !== undefined && accepted > happened;
}
