import type { Caller } from './caller';
import { LetheError } from './errors';
import type { Answer, Given, Subject } from './routes';
import type { CallOptions } from './transport';
import { hexOf, webCrypto } from './web-crypto';

/** The most items that one request takes. */
const ITEMS_MAX = 100;

export type SubmitItem = Given<'POST /data/submit/batch'>['items'][number];
type Result = Answer<'POST /data/submit/batch'>['results'][number];
/** What became of one item. */
export type Submitted = Result & { readonly item: SubmitItem };
type Many<Item> = Iterable<Item> | AsyncIterable<Item>;

/**
 * Submits any number of items and answers each in its order. With an idempotency key each request has its own, made of this
 * one and of the place of its items: the same items are submitted once, however often the program repeats the call. Refused items
 * are answered as before: once they are possible, they need a new key.
 */
export async function* submitted(
  call: Caller,
  items: Many<SubmitItem>,
  options?: CallOptions,
): AsyncGenerator<Submitted, void, undefined> {
  const send = async (batch: readonly SubmitItem[], place: number): Promise<Submitted[]> => {
    const own = await withOwnKey(options, place, batch.length);
    const { results } = await call.send('POST /data/submit/batch', { items: batch }, own);
    return results.map((result, at) => ({ ...result, item: batch[at] as SubmitItem }));
  };
  // By what is left in this minute the places of items differ from one run of the program to the next, and so would their keys.
  yield* answersTo(items, send, options?.idempotencyKey === undefined);
}

/**
 * Sends items in batches of a hundred: in smaller ones where the limit of the bot is lower, or a body would be too large, and with
 * `isElastic` of as many as the bot may still send when it has no time to wait.
 */
async function* answersTo<Item, Answered>(
  items: Many<Item>,
  send: (items: readonly Item[], from: number) => Promise<readonly Answered[]>,
  isElastic: boolean,
): AsyncGenerator<Answered, void, undefined> {
  let [most, from] = [ITEMS_MAX, 0];
  for await (const batch of batchesOf(items, () => most)) {
    let waiting: (readonly Item[])[] = [batch];
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      let answers: readonly Answered[];
      try {
        answers = await send(part, from);
      } catch (error) {
        const limited = sizeWithin(error, part.length);
        const size = limited ?? smallerSize(error, part.length, isElastic);
        if (size === undefined) throw error;
        most = limited ?? most;
        waiting = [...partsOf(part, size), ...waiting];
        continue;
      }
      yield* answers;
      from += part.length;
    }
  }
}

const partsOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

/** The options of one request of several. The digest is as short as a key has to be, however long the given one is. */
async function withOwnKey(
  options: CallOptions | undefined,
  from: number,
  count: number,
): Promise<CallOptions | undefined> {
  if (options?.idempotencyKey === undefined) return options;
  const text = new TextEncoder().encode(`${options.idempotencyKey}\n${from}\n${count}`);
  const digest = new Uint8Array(await (await webCrypto()).subtle.digest('SHA-256', text));
  return { ...options, idempotencyKey: hexOf(digest) };
}

/**
 * The size of batches for a bot with a lower limit. It is half of the limit: the refusal and every other call of the bot count in the
 * same minute, and a batch is refused as a whole unless so many are left.
 */
function sizeWithin(error: unknown, size: number): number | undefined {
  if (!(error instanceof LetheError) || error.code !== 'invalid_request') return undefined;
  const { limit } = error.details;
  const half = typeof limit === 'number' ? Math.max(1, Math.floor(limit / 2)) : size;
  return half < size ? half : undefined;
}

function smallerSize(error: unknown, size: number, isElastic: boolean): number | undefined {
  if (!(error instanceof LetheError) || size === 1) return undefined;
  if (error.code === 'payload_too_large') return Math.ceil(size / 2);
  const { remaining = 0 } = error;
  const isPossible = isElastic && error.code === 'rate_limit_exceeded' && remaining > 0 && remaining < size;
  return isPossible ? remaining : undefined;
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
  for await (const result of answersTo(subjects, send, false)) all.push(result);
  return all;
}

async function* batchesOf<Item>(
  items: Many<Item>,
  size: () => number,
): AsyncGenerator<Item[], void, undefined> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size()) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
