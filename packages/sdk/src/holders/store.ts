import { createHash } from 'node:crypto';

/** The subject of a task: one user in one guild, ids as digits. */
export interface Who {
  readonly user_id: string;
  readonly guild_id: string;
  /** The user has left the bot-wide scope, and Lethe holds nothing of them in a guild: rows of every guild are meant. */
  readonly everyGuild?: boolean;
  /**
   * For a store with `everywhere: 'partly'`: whether no other guild gives a reason to keep data. Unless it is true,
   * what belongs to no guild is neither counted nor erased.
   */
  readonly isLast?: boolean;
}

/**
 * Whether a count or an erasure means what belongs to no guild. A store around another one may hand on the ids alone: then it is not
 * known that the consent is the last one.
 */
export const isLastOf = (everywhere: Store['everywhere'], { isLast }: Who): boolean =>
  everywhere === 'partly' ? isLast === true : isLast !== false;

/** Why rows are kept in spite of an erasure (GDPR Art. 17(3)), and until when. */
export interface Keeps {
  /** The legal basis, at most 200 characters. It is answered to Lethe and shown in its final certificate. */
  readonly basis: string;
  /** A text is an ISO 8601 day, which begins in UTC, or a time with its zone. */
  readonly until: string | Date;
}

/** One place in which a bot keeps data about users: a table, a collection, a kind of key, a folder. */
export interface Store {
  /** What the holder covers, and the name of its count: 1 to 64 characters, without anything personal. */
  readonly name: string;
  /**
   * Nothing in the store says to which guild it belongs: an erasure leaves it as long as another guild gives a reason to keep data: a
   * consent is in force there, or Lethe holds something there of a user who was not asked. `partly` where this is true of a part of it: {@link Who.isLast}.
   */
  readonly everywhere?: boolean | 'partly';
  /** The store is counted and not erased until `until`. */
  readonly keeps?: Keeps;
  /** Where the store remembers what was erased in it. Without it a restored backup is not noticed. */
  readonly marks?: Marks;
  /** How many rows, keys or files there are about the user. */
  count(who: Who): Promise<number>;
  /** Erases them. It may run again after a crash. */
  erase(who: Who): Promise<void>;
  /**
   * What there is about the user, for an export (GDPR Art. 15 and 20): values of any kind, which become JSON. It changes
   * nothing. The data of a store without this function is counted in an export, and said not to be in it.
   */
  export?(who: Who, room: Room): Promise<readonly unknown[] | Exported>;
}

/** What an export has room for at most, shared by all stores of the holder. */
export interface Room {
  readonly rows: number;
  /** As JSON, in bytes. */
  readonly bytes: number;
}

export interface Exported {
  readonly rows: readonly unknown[];
  /** How many more there are. */
  readonly left_out?: number;
}

/**
 * Short notes that a store keeps beside its data, so that a backup holds both. They have no id of a user. `list` is the
 * holder and the store, `name` the id of a task.
 */
export interface Marks {
  all(list: string): Promise<ReadonlyMap<string, string>>;
  /** The note as it is now: another process may have put it. */
  get(list: string, name: string): Promise<string | undefined>;
  put(list: string, name: string, note: string): Promise<void>;
  remove(list: string, names: readonly string[]): Promise<void>;
}

/** The name of a list where there is no room for it as it is, or not for all its characters. */
export const digestOfList = (list: string): string =>
  createHash('sha256').update(list).digest('hex').slice(0, 32);

/** How adapters of objects write an id: as it is in the store, for example `BigInt`. */
export type IdAs = (id: string) => unknown;
