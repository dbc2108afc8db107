import type { Caller } from './caller';
import { LetheError } from './errors';
import type { Answer, Given, Subject } from './routes';
import type { CallOptions } from './transport';
import { webCrypto } from './web-crypto';

/** The most items that one request takes. */
const ITEMS_MAX = 100;

export type SubmitItem = Given<'POST /data/submit/batch'>['items'][number];
type Result = Answer<'POST /data/submit/batch'>['results'][number];
/** What became of one item. */
export type Submitted = Result & { readonly item: SubmitItem };
type Many<Item> = Iterable<Item> | AsyncIterable<Item>;

/**
 * Submits any number of items and answers each in its order. With an idempotency key each request has its own, made of this
 * one and of the place of its items: the same items are submitted once, however often the program repeats the call.
 */
export async function* submitted(
  call: Caller,
  items: Many<SubmitItem>,
  options?: CallOptions,
): AsyncGenerator<Submitted, void, undefined> {
  let from = 0;
  const send = async (batch: readonly SubmitItem[], place: number): Promise<Submitted[]> => {
    const own = await withOwnKey(options, place, batch.length);
    const { results } = await call.send('POST /data/submit/batch', { items: batch }, own);
    return results.map((result, at) => ({ ...result, item: batch[at] as SubmitItem }));
  };
  for await (const batch of batchesOf(items, ITEMS_MAX)) {
    yield* answersTo(batch, from, send);
    from += batch.length;
  }
}

/** Sends a batch, in smaller ones if it has more items than the limit of the bot, or more bytes than a body may have. */
async function* answersTo<Item, Answered>(
  items: readonly Item[],
  from: number,
  send: (items: readonly Item[], from: number) => Promise<readonly Answered[]>,
): AsyncGenerator<Answered, void, undefined> {
  let answers: readonly Answered[];
  try {
    answers = await send(items, from);
  } catch (error) {
    const size = smallerSize(error, items.length);
    if (size === undefined) throw error;
    let part = from;
    for await (const batch of batchesOf(items, size)) {
      yield* answersTo(batch, part, send);
      part += batch.length;
    }
    return;
  }
  yield* answers;
}

/** The options of one request of several. The digest is as short as a key has to be, however long the given one is. */
async function withOwnKey(
  options: CallOptions | undefined,
  from: number,
  count: number,
): Promise<CallOptions | undefined> {
  if (options?.idempotencyKey === undefined) return options;
  const text = new TextEncoder().encode(`${options.idempotencyKey}\n${from}\n${count}`);
  const digest = new Uint8Array(await (await webCrypto()).subtle.digest('SHA-256', text));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'));
  return { ...options, idempotencyKey: hex.join('') };
}

function smallerSize(error: unknown, size: number): number | undefined {
  if (!(error instanceof LetheError) || size === 1) return undefined;
  if (error.code === 'payload_too_large') return Math.ceil(size / 2);
  const { limit } = error.details;
  const isTooMany = error.code === 'invalid_request' && typeof limit === 'number';
  return isTooMany && limit > 0 && limit < size ? limit : undefined;
}

/** The states of the consents of any number of subjects, in their order. */
export async function statuses(
  call: Caller,
  subjects: Many<Subject>,
  options?: CallOptions,
): Promise<Answer<'POST /consents/status/batch'>['results'][number][]> {
  const send = async (items: readonly Subject[]) =>
    (await call.send('POST /consents/status/batch', { items }, options)).results;
  const all = [];
  for await (const batch of batchesOf(subjects, ITEMS_MAX))
    for await (const result of answersTo(batch, 0, send)) all.push(result);
  return all;
}

async function* batchesOf<Item>(items: Many<Item>, size: number): AsyncGenerator<Item[], void, undefined> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
