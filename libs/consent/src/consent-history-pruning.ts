import { Injectable } from '@nestjs/common';
import { type Batches, type Tx, UnitOfWork } from '@app/database';
import { type Digest, SUBJECT_WHERE } from '@app/crypto';
import { DECISIVE } from './consent-states';
import { removeUnnamedWords } from './unnamed-words';

/** Entries read by one statement and removed by one unit. */
const PAGE = 500;

const AGED = `SELECT guild_id, user_id, id, consent_id, created_at FROM consent_history
  WHERE bot_id = ? AND created_at >= ? AND created_at < ? AND (created_at > ? OR id > ?)
  ORDER BY created_at, id LIMIT ${PAGE}`;

/**
 * The latest entry that ends all consents before it; an acceptance does not end its own consent. The time is an
 * expression, so that no engine reads all old entries to find those of one subject.
 */
const ENDING = `SELECT id, consent_id, action FROM consent_history
  WHERE ${SUBJECT_WHERE} AND action IN (${DECISIVE}) AND created_at || '' < ? ORDER BY id DESC LIMIT 1`;

/** The requests of one subject that were declined, which ends their entries alone; in an order whose index no engine misses. */
const DECLINED = `SELECT consent_id FROM consent_history
  WHERE ${SUBJECT_WHERE} AND action = 'declined' AND created_at || '' < ? ORDER BY id`;

interface Aged {
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly id: string;
  readonly consent_id: string;
  readonly created_at: string;
}

/** What ends the entries of one subject. */
interface Ends {
  readonly decisive: (Pick<Aged, 'id' | 'consent_id'> & { readonly action: string }) | undefined;
  readonly declined: ReadonlySet<string>;
}

/**
 * Removes history entries about consents that ended before their retention (GDPR Art. 5(1)(e)), by a revocation, a later
 * acceptance or a refusal. The history of a consent in force, or of a request that waits, is kept at any age.
 */
@Injectable()
export class ConsentHistoryPruning {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Removes the entries of a bot about consents that ended before `beforeIso`, then the words that no entry names any more. */
  async *pruneBefore(botId: string, beforeIso: string): Batches {
    for await (const ended of this.ended(botId, beforeIso))
      yield ended.length > 0 ? (tx) => remove(tx, botId, ended) : undefined;
    yield* removeUnnamedWords(this.unitOfWork, botId, beforeIso);
  }

  /** The number of entries that {@link pruneBefore} would remove. */
  async endedEntries(botId: string, beforeIso: string): Promise<number> {
    let entries = 0;
    for await (const ended of this.ended(botId, beforeIso)) entries += ended.length;
    return entries;
  }

  /** Oldest first: an entry that ends others is removed after them. */
  private async *ended(botId: string, beforeIso: string): AsyncGenerator<readonly Aged[]> {
    let [createdAt, id] = ['', ''];
    for (let looked = PAGE; looked === PAGE;) {
      const [page, ended] = await this.unitOfWork.read(async (tx) => {
        const aged = await tx.all<Aged>(AGED, botId, createdAt, beforeIso, createdAt, id);
        return [aged, await endedOf(tx, botId, beforeIso, aged)] as const;
      });
      looked = page.length;
      ({ created_at: createdAt, id } = page.at(-1) ?? { created_at: createdAt, id });
      yield ended;
    }
  }
}

/** Two queries for each subject, for any number of entries. */
async function endedOf(
  tx: Tx,
  botId: string,
  beforeIso: string,
  aged: readonly Aged[],
): Promise<readonly Aged[]> {
  const asked = new Map<string, Promise<Ends>>();
  const ended = aged.map(async (entry) => {
    const { guild_id: guildId, user_id: userId } = entry;
    const subject = `${guildId}/${userId}`;
    const ends = asked.get(subject) ?? endsOf(tx, [botId, guildId, userId, beforeIso]);
    asked.set(subject, ends);
    return isEndedBy(await ends, entry);
  });
  const isEnded = await Promise.all(ended);
  return aged.filter((_, index) => isEnded[index]);
}

async function endsOf(tx: Tx, values: readonly string[]): Promise<Ends> {
  const [decisive, declined] = await Promise.all([
    tx.get<NonNullable<Ends['decisive']>>(ENDING, ...values),
    tx.all<Pick<Aged, 'consent_id'>>(DECLINED, ...values),
  ]);
  return { decisive, declined: new Set(declined.map(({ consent_id: id }) => id)) };
}

function isEndedBy({ decisive, declined }: Ends, entry: Aged): boolean {
  if (declined.has(entry.consent_id)) return true;
  if (decisive === undefined || decisive.id < entry.id) return false;
  return decisive.action === 'revoked' || decisive.consent_id !== entry.consent_id;
}

async function remove(tx: Tx, botId: string, entries: readonly Aged[]): Promise<number> {
  const removed = await Promise.all(
    entries.map(({ guild_id: guildId, user_id: userId, id }) =>
      tx.run(`DELETE FROM consent_history WHERE ${SUBJECT_WHERE} AND id = ?`, botId, guildId, userId, id),
    ),
  );
  return removed.reduce((sum, rows) => sum + rows, 0);
}
