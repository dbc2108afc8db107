import type { components, operations, paths } from './openapi';

/** The records of the interface by name: `Schemas['CategoryView']`. */
export type Schemas = components['schemas'];

/** An id of a user, guild or bot on the platform. A number has lost digits before it arrives here. */
export type Id = string | bigint;

/** One user of the bot in one guild. */
export interface Subject {
  readonly user_id: Id;
  readonly guild_id: Id;
}

type Method = 'get' | 'post' | 'put' | 'delete';
type Operation = operations[keyof operations];
type Short<P> = P extends `/api/v1${infer Rest}` ? Rest : never;

/** Every operation of the interface, as `POST /consents/request`. */
export type Route = {
  [P in keyof paths]: {
    [M in Method]: paths[P][M] extends Operation ? `${Uppercase<M>} ${Short<P>}` : never;
  }[Method];
}[keyof paths];

type OperationOf<R extends Route> = R extends `${infer M} ${infer P}`
  ? paths[`/api/v1${P}` & keyof paths][Lowercase<M> & Method]
  : never;

/** `data` of the answer. */
export type Answer<R extends Route> = JsonOf<SuccessOf<OperationOf<R>>>;

type SuccessOf<O> = O extends { readonly responses: infer A } ? A[(200 | 201) & keyof A] : never;
type JsonOf<A> = A extends { content: { readonly 'application/json': { readonly data: infer D } } }
  ? D
  : never;

/** What a call takes in one object: ids of the path, query and body. The id of the bot is known by its key. */
export type Given<R extends Route> = WithIds<
  Omit<PathOf<OperationOf<R>>, 'bot_id'> & QueryOf<OperationOf<R>> & BodyOf<OperationOf<R>>
>;

type Empty = Readonly<Record<never, never>>;
type PathOf<O> = O extends { readonly parameters: { readonly path: infer P } } ? P : Empty;
type QueryOf<O> = O extends { readonly parameters: { readonly query?: infer Q } }
  ? [NonNullable<Q>] extends [never]
    ? Empty
    : NonNullable<Q>
  : Empty;
/** Without the bot-wide shapes, which say the same in other words. */
type BodyOf<O> = O extends { readonly requestBody?: { readonly content: { 'application/json': infer B } } }
  ? Exclude<B, { readonly bot_id: string }>
  : Empty;

type IdName = 'user_id' | 'guild_id' | 'platform_bot_id';
type WithIds<T> = {
  [K in keyof T]: K extends IdName
    ? Id | Exclude<T[K], string>
    : K extends 'items'
      ? T[K] extends readonly (infer Item)[]
        ? readonly WithIds<Item>[]
        : T[K]
      : T[K];
};

const ID_NAMES: ReadonlySet<string> = new Set<IdName>(['user_id', 'guild_id', 'platform_bot_id']);

/** The JSON of a request: ids as text, also those of the items of a batch. @throws TypeError for a number */
export function onTheWire(given: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]: [string, unknown]) => {
      if (ID_NAMES.has(name)) return [name, idText(name, value)];
      if (name === 'items' && Array.isArray(value)) return [name, value.map(itemOnTheWire)];
      return [name, value];
    }),
  );
}

const itemOnTheWire = (item: unknown): unknown =>
  typeof item === 'object' && item !== null ? onTheWire(item) : item;

function idText(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'number') return value;
  throw new TypeError(
    `${name} is the number ${value}, and a number of this size has lost digits. Pass ids as a string or a bigint.`,
  );
}
