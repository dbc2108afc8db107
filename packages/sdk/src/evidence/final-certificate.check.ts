import type { KeySet } from '../key-set';
import { type CertifiedSubject, checkCertificate, isObject, isText } from './certificate.check';
import type { Check } from './check';
import { checkHolderAnswer, isTime, type ReceivedAnswer } from './holder-answer.check';
import { checkStatement, type Payload } from './statement.check';
import { VerificationError } from './verification-error';

const TYPE = 'lethe-final-certificate+jwt';
const VERSION = 1;
/** The check of each field. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  bot_id: isText,
  request_id: isText,
  certificate: isText,
  holders: (value) => Array.isArray(value) && value.length > 0 && value.every(isNamed),
  completed_at: isTime,
  issued_at: isTime,
};

/** An answer of a holder that was verified. */
export interface HolderAnswer extends ReceivedAnswer {
  /** When the holder says, by its own signature, that it answered; null where only the service says so. */
  readonly signed_at: string | null;
}

/** What a final certificate says. */
export interface VerifiedFinalCertificate {
  readonly version: 1;
  readonly bot_id: string;
  readonly request_id: string;
  /** The payload of the certificate of the erasure in Lethe. */
  readonly certificate: Payload;
  /** In the order of their keys. */
  readonly holders: readonly HolderAnswer[];
  /** When the service received the last answer. */
  readonly completed_at: string;
  readonly issued_at: string;
}

interface Signed extends Omit<VerifiedFinalCertificate, 'certificate' | 'holders'> {
  readonly certificate: string;
  readonly holders: readonly (ReceivedAnswer & Payload)[];
}

/**
 * What a final certificate says, once each part is verified and about the same erasure. With `subject` it is also checked
 * that the erasure is that of this user.
 * @internal
 * @throws VerificationError when a part was not signed by whom it names, or is about something else.
 */
export function* checkFinalCertificate(
  jws: string,
  keySet: KeySet,
  subject?: CertifiedSubject,
): Check<VerifiedFinalCertificate> {
  const payload = yield* checkStatement(jws, keySet, TYPE);
  if (payload['version'] !== VERSION)
    throw new VerificationError(`the version of the final certificate is not ${VERSION}`);
  const missing = Object.keys(FIELDS).filter((name) => FIELDS[name]?.(payload[name]) !== true);
  if (missing.length > 0) throw new VerificationError(`the final certificate lacks ${missing.join(', ')}`);
  const { bot_id, request_id, completed_at, issued_at, ...parts } = payload as unknown as Signed;
  const certificate = yield* checkCertificate(parts.certificate, keySet, subject);
  if (certificate['bot_id'] !== bot_id)
    throw new VerificationError('the certificate inside is of another bot');
  if (certificate['request_id'] !== request_id)
    throw new VerificationError('the certificate inside is of another erasure');
  const holders: HolderAnswer[] = [];
  for (const answer of parts.holders) {
    if (answer.key <= (holders.at(-1)?.key ?? ''))
      throw new VerificationError('the holders are not in their order, or one is named twice');
    const signed_at = yield* checkHolderAnswer(answer, { botId: bot_id, requestId: request_id });
    holders.push({ ...answer, signed_at });
  }
  const [last] = holders
    .map((answer) => answer.answered_at)
    .sort()
    .reverse();
  if (last !== completed_at)
    throw new VerificationError('the time of completion is not that of the last answer');
  return { version: VERSION, bot_id, request_id, certificate, holders, completed_at, issued_at };
}

function isNamed(holder: unknown): boolean {
  return isObject(holder) && isText(holder['key']);
}
