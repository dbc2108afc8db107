import { sameSubject } from '@app/crypto';
import type { Tx } from '@app/database';
import { DECISIVE, PUTTING_IN_FORCE, STORING } from './consent-states';

/** Consents that one statement looks at. On SQLite every request waits meanwhile, so they are few milliseconds. */
const SLICE = 1_000;

/** Where a walk over the consents of a bot is: behind this guild and user. */
type Place = readonly [guild: string, user: string];

/** A part of a walk: how many of the consents looked at were in force, and the place of the next part; undefined at the end. */
interface Part {
  readonly subjects: number;
  readonly after: Place | undefined;
}

const BEHIND = 'FROM consents WHERE bot_id = ? AND (guild_id, user_id) > (?, ?)';

/** The time is an expression, so that no engine reads all old entries to find those of one subject. */
const DECIDED_BEFORE = `SELECT action FROM consent_history entry
  WHERE ${sameSubject('entry', 'consents')} AND entry.action IN (${DECISIVE}) AND entry.created_at || '' < ? ORDER BY entry.id DESC LIMIT 1`;

const IN_FORCE_SINCE = `status IN (${STORING}) AND accepted_at < ?`;
const CHANGED_SINCE = 'accepted_at >= ? OR revoked_at >= ? OR requested_at >= ?';
/**
 * The last action that decided before the moment is one that puts a consent in force. The row itself says so of a consent that is in
 * force since: 'accepted' takes the place of the action. Of one that has changed since, the history says it.
 */
const IN_FORCE = `erasing = 0 AND CASE WHEN ${IN_FORCE_SINCE} THEN 'accepted'
    WHEN ${CHANGED_SINCE} THEN (${DECIDED_BEFORE}) END IN (${PUTTING_IN_FORCE})`;
/** How often {@link IN_FORCE} names the moment. */
const MOMENTS = IN_FORCE.split('?').length - 1;

/**
 * Counts the subjects of a bot whose consent was in force just before a moment that has passed: of at most 1,000, those behind
 * `after`. Who was erased since, or is being erased, is not counted.
 */
export async function consentsInForce(
  tx: Tx,
  botId: string,
  before: string,
  after: Place = ['', ''],
): Promise<Part> {
  const last = await tx.get<Record<'guild_id' | 'user_id', string>>(
    `SELECT guild_id, user_id ${BEHIND} ORDER BY guild_id, user_id LIMIT 1 OFFSET ${SLICE - 1}`,
    ...[botId, ...after],
  );
  const end: Place | undefined = last && [last.guild_id, last.user_id];
  const found = await tx.get<{ subjects: number }>(
    `SELECT COUNT(*) AS subjects ${BEHIND} ${end === undefined ? '' : 'AND (guild_id, user_id) <= (?, ?)'} AND ${IN_FORCE}`,
    ...[botId, ...after, ...(end ?? []), ...Array<string>(MOMENTS).fill(before)],
  );
  return { subjects: found?.subjects ?? 0, after: end };
}
