import type { SubmitItem, Submitted } from './batches';
import type { Items } from './items';
import type { dataOf } from './resources';
import type { Answer, Given, Schemas, Subject } from './routes';
import type { CallOptions } from './transport';

/** Categories of a bot by key, with the types of their fields. `lethe categories types` writes them. */
export type CategoriesOf<C> = { readonly [K in keyof C]: object };
/** Any categories: what is checked is left to the service. */
export type AnyCategories = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type KeyOf<C> = keyof C & string;
/** What is stored; null means no value. */
type Values<V> = { readonly [F in keyof V]: V[F] | null };
type Submit<C, K extends KeyOf<C>> = Subject & { readonly category: K; readonly data: Values<C[K]> };
/** A mapped type, unlike an interface, is assignable to any object of named values. */
type Stored<V> = { readonly [F in keyof V]: V[F] };

type Untyped = ReturnType<typeof dataOf>;
type OfUser = Given<'GET /data/values/{user_id}'>;
type OfGuild = Omit<Given<'GET /data/values'>, 'category' | 'page' | 'page_size' | 'after'>;
type Read<C> = string extends keyof C
  ? Schemas['ValuesView']
  : Omit<Schemas['ValuesView'], 'values' | 'updated_at'> & {
      readonly values: { readonly [K in keyof C]?: Stored<C[K]> };
      readonly updated_at: { readonly [K in keyof C]?: string };
    };
type ReadOfGuild<V> = Omit<Schemas['UserValueView'], 'data'> & { readonly data: Stored<V> | null };
type Many<C> = Iterable<Item<C>> | AsyncIterable<Item<C>>;
type Item<C> = string extends keyof C
  ? SubmitItem
  : { [K in KeyOf<C>]: Submit<C, K> & Pick<SubmitItem, 'mode'> }[KeyOf<C>];

/**
 * The calls that name categories and their fields, with the types of the bot. They are written as methods, so that a client
 * with types is one without them too.
 */
export interface DataOf<C> extends Omit<
  Untyped,
  'submit' | 'merge' | 'submitMany' | 'values' | 'valuesOfGuild' | 'eraseValues'
> {
  /**
   * Replaces the values of a category: a field that is not given is removed.
   * @throws ConsentRequiredError without a consent to the category; then nothing is stored
   */
  submit<K extends KeyOf<C>>(
    given: Submit<C, K>,
    options?: CallOptions,
  ): Promise<Answer<'POST /data/submit'>>;
  /** Changes only the fields that are given; null removes one. */
  merge<K extends KeyOf<C>>(given: Submit<C, K>, options?: CallOptions): Promise<Answer<'POST /data/submit'>>;
  /** Stores any number of items, in batches. Each is answered by itself: `for await (const { ok, item } of …)`. */
  submitMany(items: Many<C>, options?: CallOptions): AsyncGenerator<Submitted, void, undefined>;
  /** What is stored about a user, by category, under the consent in force. */
  values(
    given: Omit<OfUser, 'category'> & { readonly category?: KeyOf<C> },
    options?: CallOptions,
  ): Promise<Read<C>>;
  /** One category of all users of a guild whose consent covers it. */
  valuesOfGuild<K extends KeyOf<C>>(
    given: OfGuild & { readonly category: K },
    options?: CallOptions,
  ): Items<ReadOfGuild<C[K]>>;
  /** Erases one category of a user. */
  eraseValues(
    given: Subject & { readonly category: KeyOf<C> },
    options?: CallOptions,
  ): Promise<Answer<'DELETE /data/values/{user_id}'>>;
}
