import { chosen, type ExportedFields, type Fields, listed, requireFields } from './exported-fields';
import type { IdAs, Keeps, Store, Who } from './store';
import { BOT_WIDE_GUILD_ID } from '../vocabulary';

/** Where the ids are, how they are written (text by default), and which fields an export has. */
export interface ObjectFields extends ExportedFields {
  readonly name: string;
  readonly user: string;
  /** Where it is empty, the row is of the bot-wide scope. */
  readonly guild?: string;
  /** For example `BigInt` of a field that holds numbers. An id of another type finds nothing. */
  readonly as?: IdAs;
  readonly keeps?: Keeps;
}

/** A `Repository` of TypeORM. */
export interface TypeormRepository {
  count(given: never): Promise<number>;
  delete(where: never): Promise<unknown>;
  /** Without it the store exports nothing. */
  find?(given: never): Promise<unknown[]>;
}

/** A model of a Prisma client, as `prisma.profile`. */
export interface PrismaDelegate {
  count(given: never): PromiseLike<number>;
  deleteMany(given: never): PromiseLike<unknown>;
  /** Without it the store exports nothing. */
  findMany?(given: never): PromiseLike<unknown[]>;
}

/** A collection of the MongoDB driver, or a model of Mongoose. */
export interface MongoCollection {
  countDocuments(filter: never): PromiseLike<number>;
  deleteMany(filter: never): PromiseLike<unknown>;
  /** Without it the store exports nothing. */
  find?(filter: never): unknown;
}

/** A cursor of the MongoDB driver, or a query of Mongoose. */
interface MongoFound {
  limit(most: number): { toArray?(): PromiseLike<unknown[]>; lean?(): PromiseLike<unknown[]> };
}

/** An ORM takes a condition of undefined for none, by which the rows of all users are meant. */
function exact(id: unknown): unknown {
  if (id === undefined || id === null) throw new TypeError('as answers no id.');
  if (typeof id === 'number' && !Number.isSafeInteger(id))
    throw new TypeError('as answers a number that has lost digits of the id: take BigInt or String.');
  return id;
}

/** What a driver does with a filter of equal fields. */
interface Driver {
  readonly count: (filter: never) => PromiseLike<number>;
  readonly erase: (filter: never) => PromiseLike<unknown>;
  readonly find: ((filter: never, most: number) => PromiseLike<unknown[]>) | undefined;
  /** The conditions of an empty field; no row meets two of them. */
  readonly empty: readonly unknown[];
  /** Whether it refuses a condition of `empty` for a field that is never empty so. */
  readonly isNeverEmpty?: (error: unknown) => boolean;
}

/** A store by functions of a filter. */
function objects({ name, user, guild, as = String, keeps, ...fields }: ObjectFields, driver: Driver): Store {
  requireFields(fields);
  const { erase, find, empty, isNeverEmpty } = driver;
  /** Calls `act` with the filter of the guild. In the bot-wide scope it also calls `act` with each filter of an empty guild. */
  const each = async (who: Who, act: (filter: never) => Promise<void>): Promise<void> => {
    const ofUser = { [user]: exact(as(who.user_id)) };
    if (guild === undefined || who.everyGuild === true) return act(ofUser as never);
    await act({ ...ofUser, [guild]: exact(as(who.guild_id)) } as never);
    if (who.guild_id !== BOT_WIDE_GUILD_ID) return;
    for (const condition of empty)
      await act({ ...ofUser, [guild]: condition } as never).catch((error: unknown) => {
        if (isNeverEmpty?.(error) !== true) throw error;
      });
  };
  const count = async (who: Who): Promise<number> => {
    let found = 0;
    await each(who, async (filter) => void (found += await driver.count(filter)));
    return found;
  };
  return {
    name,
    everywhere: guild === undefined,
    ...(keeps !== undefined && { keeps }),
    count,
    erase: (who) => each(who, async (filter) => void (await erase(filter))),
    ...(find !== undefined && {
      export: (who, room) => {
        const list = async (most: number): Promise<unknown[]> => {
          const rows: unknown[] = [];
          await each(who, async (filter) => {
            // For some drivers 0 is no limit.
            if (rows.length < most) rows.push(...(await find(filter, most - rows.length)));
          });
          return rows.map((row) => chosen(row as Fields, fields));
        };
        return listed(who, room, list, count);
      },
    }),
  };
}

/** `IsNull()` of TypeORM from 0.3 on, which knows its operators by this mark. It takes null itself for no condition. */
const IS_NULL = {
  '@instanceof': Symbol.for('FindOperator'),
  type: 'isNull',
  useParameter: false,
  transformValue: () => undefined,
};

interface TypeormConnection {
  readonly driver?: { readonly queryRunner?: TypeormRunner };
}
interface TypeormRunner {
  readonly isTransactionActive?: boolean;
}

/** With SQLite all work of TypeORM has one connection, and one transaction. */
function outsideOfTransaction(repository: TypeormRepository): TypeormRepository {
  const { queryRunner, manager } = repository as {
    readonly queryRunner?: TypeormRunner;
    readonly manager?: { readonly dataSource?: TypeormConnection; readonly connection?: TypeormConnection };
  };
  const shared = (manager?.dataSource ?? manager?.connection)?.driver?.queryRunner;
  // What the bot rolls back would be there again, after the answer that it is erased.
  if (queryRunner?.isTransactionActive === true || shared?.isTransactionActive === true)
    throw new Error('The bot is in a transaction on this connection: give the holder one of its own.');
  return repository;
}

/** The rows of an entity, with those that are deleted softly. */
export const typeorm = (repository: TypeormRepository, fields: ObjectFields): Store =>
  objects(fields, {
    count: (where) => outsideOfTransaction(repository).count({ where, withDeleted: true } as never),
    erase: (where) => outsideOfTransaction(repository).delete(where),
    find:
      repository.find &&
      (async (where, take) =>
        outsideOfTransaction(repository).find?.({ where, withDeleted: true, take } as never) ?? []),
    empty: [IS_NULL],
  });

/** The rows of a model. */
export const prisma = (delegate: PrismaDelegate, fields: ObjectFields): Store =>
  objects(fields, {
    count: (where) => delegate.count({ where } as never),
    erase: (where) => delegate.deleteMany({ where } as never),
    find: delegate.findMany && (async (where, take) => delegate.findMany?.({ where, take } as never) ?? []),
    // In MongoDB a field may be missing, which Prisma does not count as null, and has no word for elsewhere.
    empty: [null, { isSet: false }],
    isNeverEmpty: (error) => Object.prototype.toString.call(error) === '[object PrismaClientValidationError]',
  });

/** The documents of a collection. @throws TypeError for a model of Mongoose whose schema lacks a field of the filter */
export function mongo(collection: MongoCollection, fields: ObjectFields): Store {
  requirePaths(collection, [fields.user, fields.guild]);
  return objects(fields, {
    count: (filter) => collection.countDocuments(filter),
    erase: (filter) => collection.deleteMany(filter),
    find:
      collection.find &&
      (async (filter, most) => {
        const found = (collection.find?.(filter) as MongoFound).limit(most);
        return (await (found.toArray?.() ?? found.lean?.())) ?? [];
      }),
    // Also a field that is missing.
    empty: [null],
  });
}

/** By `strictQuery` Mongoose leaves what the schema lacks out of a filter, by which the documents of all users are meant. */
function requirePaths(collection: object, names: readonly (string | undefined)[]): void {
  const { schema } = collection as { readonly schema?: { path?(name: string): unknown } };
  // As Mongoose asks: it also knows a field below Mixed, and one below a Map.
  const isKnown = (name: string): boolean =>
    schema?.path === undefined || (schema.path(name) ?? null) !== null;
  const lacks = names.find((name) => name !== undefined && !isKnown(name));
  if (lacks !== undefined)
    throw new TypeError(
      `The schema of the model has no field ${lacks}, and Mongoose may leave it out of the filter: ` +
        'name a field of the schema, or give Model.collection.',
    );
}
