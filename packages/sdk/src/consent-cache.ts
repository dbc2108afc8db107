import type { Schemas, Subject } from './routes';

type Status = Schemas['ConsentStatusView'];
type Refusals = Pick<Schemas['RefusalsView'], 'objections' | 'restrictions'>;

/** What a category says of its processing. */
export interface Basis {
  readonly needsConsent: boolean;
  /** Whether an objection to everything is about it. */
  readonly isObjectable: boolean;
}

type Kept<T> = Map<string, { readonly value: T; readonly atMs: number }>;

const ENTRIES_MAX = 10_000;

/** Whether a consent in force covers a category. A consent without categories covers all. */
export const covers = ({ status, categories }: Status, category: string): boolean =>
  status === 'accepted' &&
  (categories === undefined || categories.some((one) => one.key === category && one.status === 'accepted'));

const names = (refusals: Refusals['objections'], category: string | null): boolean =>
  refusals.some((one) => one.category === category);

/** Why a category may not be processed, if it may not; `basis` is asked for an objection to everything. */
export async function refusedBy(
  { objections, restrictions }: Refusals,
  category: string,
  basis: () => Promise<Basis>,
): Promise<'objection' | 'restriction' | undefined> {
  if (names(objections, category)) return 'objection';
  if (names(objections, null) && (await basis()).isObjectable) return 'objection';
  return names(restrictions, category) || names(restrictions, null) ? 'restriction' : undefined;
}

/** A user for whom an act waits. */
interface Watch {
  readonly userId: string;
  /** Whether what was read of the user may have ended since. */
  hasEnded: boolean;
}

/** Keeps for a short time what lets an act run. Whatever may end a consent or a processing empties it. */
export class ConsentCache {
  private readonly statuses: Kept<Status> = new Map();
  private readonly refused: Kept<Refusals> = new Map();
  private readonly bases: Kept<Basis> = new Map();
  private readonly watches = new Set<Watch>();
  /** How often it was emptied. */
  private changes = 0;

  constructor(private readonly lifetimeMs: number) {}

  /** The kept status, or that of `load`; a consent in force is kept unless the cache was emptied meanwhile. */
  status(subject: Subject, load: () => Promise<Status>): Promise<Status> {
    return this.found(this.statuses, keyOf(subject), load, ({ status }) => status === 'accepted');
  }

  /** The refusals of a user, kept or of `load`; kept where there are none. */
  refusals(subject: Subject, load: () => Promise<Refusals>): Promise<Refusals> {
    const areNone = ({ objections, restrictions }: Refusals): boolean =>
      objections.length + restrictions.length === 0;
    return this.found(this.refused, keyOf(subject), load, areNone);
  }

  /** What is kept of a category: undefined where nothing is. */
  knownBasis(category: string): Basis | undefined {
    return this.keptIn(this.bases, category);
  }

  basis(category: string, load: () => Promise<Basis>): Promise<Basis> {
    return this.found(this.bases, category, load, () => true);
  }

  /** Reads what lets an act run, and answers whether it may have ended meanwhile. */
  async hasEndedDuring(userId: string, read: () => Promise<void>): Promise<boolean> {
    const watch: Watch = { userId, hasEnded: false };
    this.watches.add(watch);
    try {
      await read();
      return watch.hasEnded;
    } finally {
      this.watches.delete(watch);
    }
  }

  /** After a change of one user, or without one of any. */
  empty(userId?: string): void {
    this.changes += 1;
    for (const watch of this.watches)
      if (userId === undefined || watch.userId === userId) watch.hasEnded = true;
    for (const kept of [this.statuses, this.refused, this.bases]) kept.clear();
  }

  private async found<T>(
    entries: Kept<T>,
    key: string,
    load: () => Promise<T>,
    lasts: (value: T) => boolean,
  ): Promise<T> {
    const kept = this.keptIn(entries, key);
    if (kept !== undefined) return kept;
    const { changes } = this;
    const value = await load();
    if (!lasts(value) || changes !== this.changes) return value;
    entries.delete(key);
    entries.set(key, { value, atMs: Date.now() });
    for (const oldest of entries.keys()) {
      if (entries.size <= ENTRIES_MAX) break;
      entries.delete(oldest);
    }
    return value;
  }

  private keptIn<T>(entries: Kept<T>, key: string): T | undefined {
    const kept = entries.get(key);
    if (kept === undefined) return undefined;
    const ageMs = Date.now() - kept.atMs;
    // By a clock that was set back it would last longer.
    return ageMs >= 0 && ageMs < this.lifetimeMs ? kept.value : undefined;
  }
}

const keyOf = ({ user_id: userId, guild_id: guildId }: Subject): string => `${userId}/${guildId}`;
