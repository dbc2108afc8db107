import type { Schemas, Subject } from './routes';

type Status = Schemas['ConsentStatusView'];

const ENTRIES_MAX = 10_000;

/** Whether a consent in force covers a category. A consent without categories covers all. */
export const covers = ({ status, categories }: Status, category: string): boolean =>
  status === 'accepted' &&
  (categories === undefined || categories.some((one) => one.key === category && one.status === 'accepted'));

/** Keeps consents in force for a short time. Whatever may change a consent empties it. */
export class ConsentCache {
  private readonly entries = new Map<string, { status: Status; untilMs: number }>();
  /** By category, whether it needs a consent. */
  private readonly needs = new Map<string, { needed: boolean; untilMs: number }>();
  private changes = 0;

  constructor(private readonly lifetimeMs: number) {}

  /** The kept status, or that of `load`; it is kept unless the cache was emptied meanwhile. */
  async status(subject: Subject, load: () => Promise<Status>): Promise<Status> {
    const key = keyOf(subject);
    const kept = this.entries.get(key);
    if (kept !== undefined && kept.untilMs > Date.now()) return kept.status;
    const { changes } = this;
    const status = await load();
    if (status.status === 'accepted' && changes === this.changes) this.keep(key, status);
    return status;
  }

  /** What is kept of a category: undefined where nothing is. */
  knownNeed(category: string): boolean | undefined {
    const kept = this.needs.get(category);
    return kept !== undefined && kept.untilMs > Date.now() ? kept.needed : undefined;
  }

  /** Whether a category needs a consent, kept or of `load`. */
  async need(category: string, load: () => Promise<boolean>): Promise<boolean> {
    const known = this.knownNeed(category);
    if (known !== undefined) return known;
    const { changes } = this;
    const needed = await load();
    if (changes === this.changes && this.needs.size < ENTRIES_MAX)
      this.needs.set(category, { needed, untilMs: Date.now() + this.lifetimeMs });
    return needed;
  }

  empty(): void {
    this.changes += 1;
    this.entries.clear();
    this.needs.clear();
  }

  private keep(key: string, status: Status): void {
    this.entries.delete(key);
    this.entries.set(key, { status, untilMs: Date.now() + this.lifetimeMs });
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= ENTRIES_MAX) break;
      this.entries.delete(oldest);
    }
  }
}

const keyOf = ({ user_id: userId, guild_id: guildId }: Subject): string => `${userId}/${guildId}`;
