import { chosen, type ExportedFields, type Fields, listed, requireFields } from './exported-fields';
import type { IdAs, Keeps, Store, Who } from './store';

/** Where the ids are, how they are written (text by default), and which fields an export has. */
export interface ObjectFields extends ExportedFields {
  readonly name: string;
  readonly user: string;
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

/** A store by functions of a filter. */
function objects(
  { name, user, guild, as = String, keeps, ...fields }: ObjectFields,
  count: (filter: never) => PromiseLike<number>,
  erase: (filter: never) => PromiseLike<unknown>,
  find: ((filter: never, most: number) => PromiseLike<unknown[]>) | undefined,
): Store {
  requireFields(fields);
  const filter = (who: Who): never =>
    ({
      [user]: exact(as(who.user_id)),
      ...(guild !== undefined && who.everyGuild !== true && { [guild]: exact(as(who.guild_id)) }),
    }) as never;
  return {
    name,
    everywhere: guild === undefined,
    ...(keeps !== undefined && { keeps }),
    count: async (who) => count(filter(who)),
    erase: async (who) => void (await erase(filter(who))),
    ...(find !== undefined && {
      export: async (who, room) => {
        const list = async (most: number): Promise<unknown[]> =>
          (await find(filter(who), most)).map((row) => chosen(row as Fields, fields));
        return listed(who, room, list, async (whose) => count(filter(whose)));
      },
    }),
  };
}

/** The rows of an entity, with those that are deleted softly. */
export const typeorm = (repository: TypeormRepository, fields: ObjectFields): Store =>
  objects(
    fields,
    (where) => repository.count({ where, withDeleted: true } as never),
    (where) => repository.delete(where),
    repository.find &&
      (async (where, take) => repository.find?.({ where, withDeleted: true, take } as never) ?? []),
  );

/** The rows of a model. */
export const prisma = (delegate: PrismaDelegate, fields: ObjectFields): Store =>
  objects(
    fields,
    (where) => delegate.count({ where } as never),
    (where) => delegate.deleteMany({ where } as never),
    delegate.findMany && (async (where, take) => delegate.findMany?.({ where, take } as never) ?? []),
  );

/** The documents of a collection. @throws TypeError for a model of Mongoose whose schema lacks a field of the filter */
export function mongo(collection: MongoCollection, fields: ObjectFields): Store {
  requirePaths(collection, [fields.user, fields.guild]);
  return objects(
    fields,
    (filter) => collection.countDocuments(filter),
    (filter) => collection.deleteMany(filter),
    collection.find &&
      (async (filter, most) => {
        const found = (collection.find?.(filter) as MongoFound).limit(most);
        return (await (found.toArray?.() ?? found.lean?.())) ?? [];
      }),
  );
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
