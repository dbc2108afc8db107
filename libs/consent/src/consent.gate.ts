import { isDeclared } from '@app/categories';
import type { Engine, Tx } from '@app/database';
import { ApiError, notFound } from '@app/kernel';
import { SUBJECT_WHERE, type Subject } from '@app/subjects';
import { isGranted } from './consent-changes';
import type { CategoryStates, Consent } from './consent.entity';

const READ = `SELECT status, erasing, categories FROM consents WHERE ${SUBJECT_WHERE}`;

/**
 * Locks the consent until the unit ends. The lock is exclusive: PostgreSQL grants shared locks to new units even while a
 * withdrawal waits.
 */
const SELECT = `${READ} FOR UPDATE`;

type Decision = Pick<Consent, 'status' | 'erasing'> & { categories: string | null };

/**
 * Requires a consent in force inside the unit that stores. The answer names the covered categories; the caller first
 * checks that the category exists, and says by `isDeclared` whether it does.
 * @throws ApiError 403 `consent_required`
 */
export async function requireConsent(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  isDeclared = true,
): Promise<ConsentScope> {
  return scopeOf(await tx.get<Decision>(SELECT, botId, guildId, userId), isDeclared);
}

/** {@link requireConsent} without a lock, for a unit that reads. @throws ApiError 403 `consent_required` */
export async function consentShown(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  isDeclared = true,
): Promise<ConsentScope> {
  return scopeOf(await tx.get<Decision>(READ, botId, guildId, userId), isDeclared);
}

/**
 * For a statement over rows with `category_key`, named `rows` there: the join with the consents, and the condition that a
 * consent in force covers the category.
 */
export const consentCovering = (engine: Engine, rows: string) => {
  const categories = engine === 'sqlite' ? 'consent.categories' : 'consent.categories::json';
  return {
    join: `JOIN consents consent ON consent.bot_id = ${rows}.bot_id AND consent.guild_id = ${rows}.guild_id
      AND consent.user_id = ${rows}.user_id`,
    condition: `consent.status = 'accepted' AND consent.erasing = 0
      AND (consent.categories IS NULL OR ${categories} ->> ${rows}.category_key = 'accepted')`,
  };
};

function scopeOf(found: Decision | undefined, isDeclared: boolean): ConsentScope {
  if (found?.status !== 'accepted' || found.erasing !== 0) {
    throw new ApiError(
      'consent_required',
      // The 404 comes after this 403, and a user would be asked for a category that there is not.
      isDeclared
        ? 'The user has not accepted: request a consent and store data once it is accepted'
        : 'The user has not accepted, and the category is not found: look at its key before you ask',
      {
        current_status: found?.status ?? 'none',
      },
    );
  }
  return new ConsentScope(found);
}

/**
 * {@link requireConsent} for data under one category: the gate of a module. The category and the consent are held until
 * the unit ends, in the order in which a deletion of the category locks them.
 * @throws ApiError 403 `consent_required`, then 404 for a category that the bot has not declared
 */
export async function requireConsentTo(tx: Tx, subject: Subject, category: string): Promise<void> {
  const declared = await isDeclared(tx, subject.botId, category);
  const scope = await requireConsent(tx, subject, declared);
  if (!declared) throw notFound('Category');
  scope.require(category);
}

/**
 * What a consent covers now, locked until the unit ends, for what erases by it. undefined where another unit has it locked
 * or an erasure of the subject is running.
 */
export async function consentHeld(
  tx: Tx,
  { botId, guildId, userId }: Subject,
): Promise<Pick<ConsentScope, 'covers'> | undefined> {
  const found = await tx.get<Decision>(`${SELECT} SKIP LOCKED`, botId, guildId, userId);
  if (found === undefined || found.erasing !== 0) return undefined;
  const scope = new ConsentScope(found);
  return { covers: (category) => found.status === 'accepted' && scope.covers(category) };
}

const SELECT_ALL = `SELECT given.place, consents.status, consents.erasing, consents.categories
  FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS given (bot_id, guild_id, user_id, place)
  JOIN consents ON consents.bot_id = given.bot_id AND consents.guild_id = given.guild_id
    AND consents.user_id = given.user_id
  ORDER BY consents.bot_id, consents.guild_id, consents.user_id FOR UPDATE OF consents SKIP LOCKED`;

/** {@link requireConsent} for several subjects: undefined where it would throw or would have to wait. */
export async function consentsInForce(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(ConsentScope | undefined)[]> {
  const found = new Array<ConsentScope | undefined>(subjects.length).fill(undefined);
  for (const row of await decisions(tx, subjects)) {
    if (row.status === 'accepted' && row.erasing === 0) found[row.place - 1] = new ConsentScope(row);
  }
  return found;
}

type PlacedDecision = Decision & { readonly place: number };

async function decisions(tx: Tx, subjects: readonly Subject[]): Promise<PlacedDecision[]> {
  if (tx.engine === 'postgres')
    return tx.all(
      SELECT_ALL,
      subjects.map(({ botId }) => botId),
      subjects.map(({ guildId }) => guildId),
      subjects.map(({ userId }) => userId),
    );
  const rows: PlacedDecision[] = [];
  for (const [at, { botId, guildId, userId }] of subjects.entries()) {
    const row = await tx.get<Decision>(SELECT, botId, guildId, userId);
    if (row !== undefined) rows.push({ ...row, place: at + 1 });
  }
  return rows;
}

/** The categories that a consent in force covers. */
export class ConsentScope {
  constructor(private readonly decision: Omit<Decision, 'erasing'>) {}

  /** @throws ApiError 403 `consent_required` for a category that the user did not grant. */
  require(category: string): void {
    if (!this.covers(category)) {
      throw new ApiError('consent_required', 'The user has not consented to this category', {
        current_status: this.decision.status,
      });
    }
  }

  covers(category: string): boolean {
    const { status, categories } = this.decision;
    if (categories === null) return true;
    return isGranted({ status, categories: JSON.parse(categories) as CategoryStates }, category);
  }
}
