import { bytes, utf8 } from './base64url';
import { isObject, isText } from './certificate.check';
import { type Check, isSigned } from './check';
import { json, type Payload } from './statement.check';
import { VerificationError } from './verification-error';

const TYPE = 'lethe-holder-answer+jwt';
const KEY_BYTES = 32;
const RESULTS: readonly unknown[] = ['erased', 'nothing', 'kept'];

/** The answer of a holder as the service received it. */
export interface ReceivedAnswer {
  readonly key: string;
  readonly label_de: string;
  readonly label_en: string;
  /** What the holder stores, as the bot named it. */
  readonly covers: readonly string[];
  readonly result: 'erased' | 'nothing' | 'kept';
  readonly counts: Readonly<Record<string, number>> | null;
  /** Why data is kept and until when; null for every other result. */
  readonly kept: { readonly basis: string; readonly until: string } | null;
  /** When the service received the answer. */
  readonly answered_at: string;
  /** The Ed25519 key of the holder, as base64url; null for a holder that signs nothing. */
  readonly public_key: string | null;
  /** The answer as the holder has signed it; null exactly where it has no key. */
  readonly statement: string | null;
}

/** The check of each field of an answer that is read. */
const FIELDS: Readonly<Record<keyof ReceivedAnswer, (value: unknown) => boolean>> = {
  key: isText,
  label_de: isText,
  label_en: isText,
  covers: (value) => Array.isArray(value) && value.every(isText),
  result: (value) => RESULTS.includes(value),
  counts: (value) => value === null || isCounts(value),
  kept: (value) => value === null || isKept(value),
  answered_at: isTime,
  public_key: isTextOrNull,
  statement: isTextOrNull,
};

/**
 * When the holder says that it answered; null where only the service says so.
 * @internal
 * @throws VerificationError when the answer is incomplete, or its statement is not that of this holder about this erasure.
 */
export function* checkHolderAnswer(
  answer: Payload & ReceivedAnswer,
  about: { readonly botId: unknown; readonly requestId: unknown },
): Check<string | null> {
  const { key, public_key: publicKey, statement } = answer;
  if (!isWhole(answer)) throw new VerificationError(`an answer is incomplete: that of the holder ${key}`);
  if (publicKey === null && statement === null) return null;
  if (statement === null)
    throw new VerificationError(`a statement is missing, though the holder ${key} has a key`);
  if (publicKey === null) throw new VerificationError(`a statement has no key: that of the holder ${key}`);
  const said = yield* signedBy(publicKey, statement, key);
  if (said['bot_id'] !== about.botId || said['holder'] !== key || said['task_id'] !== about.requestId)
    throw new VerificationError(
      `a statement is of another bot, holder or erasure: that of the holder ${key}`,
    );
  if (!['result', 'counts', 'kept'].every((name) => isSame(said[name], answer[name])))
    throw new VerificationError(`a statement says something else than the answer of the holder ${key}`);
  return said['at'] as string;
}

/** The payload of a compact JWS with exactly the header and the fields of an answer. */
function* signedBy(publicKey: string, statement: string, key: string): Check<Payload> {
  const [header = '', payload = '', signature = '', ...more] = statement.split('.');
  const head = json(header);
  const isOfForm =
    more.length === 0 &&
    isSame(head, { alg: 'EdDSA', typ: TYPE }) &&
    Object.keys(json(payload)).sort().join() === 'at,bot_id,counts,holder,kept,result,task_id' &&
    isText(json(payload)['at']);
  if (!isOfForm) throw new VerificationError(`a statement is of another form: that of the holder ${key}`);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
  const isOwn =
    bytes(publicKey).length === KEY_BYTES &&
    (yield* isSigned(jwk, utf8(`${header}.${payload}`), bytes(signature)));
  if (!isOwn) throw new VerificationError(`a statement is not signed by the key of the holder ${key}`);
  return json(payload);
}

function isWhole(answer: Payload & ReceivedAnswer): boolean {
  return (
    Object.entries(FIELDS).every(([name, isValid]) => isValid(answer[name])) &&
    (answer['result'] === 'kept') === (answer['kept'] !== null)
  );
}

function isCounts(value: unknown): boolean {
  return (
    isObject(value) &&
    !Array.isArray(value) &&
    Object.values(value).every((count) => Number.isSafeInteger(count) && Number(count) >= 0)
  );
}

function isKept(value: unknown): boolean {
  return (
    isObject(value) && isText(value['basis']) && isText(value['until']) && Object.keys(value).length === 2
  );
}

/** Whether two values of JSON are the same, in whichever order their members are written. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/**
 * A time as the interface writes it, so that times sort as texts.
 * @internal
 */
export function isTime(value: unknown): boolean {
  return isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value);
}
