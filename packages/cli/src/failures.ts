import {
  ConflictError,
  InsufficientScopeError,
  InvalidRequestError,
  LetheError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  SuspendedError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
} from '@lethe/sdk';
import { causeOf, isOutcomeUnknown } from './unknown-outcome';

/** The exit codes, as README.md documents them. */
export const EXIT = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a command failed with, and what its user can do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly mend: string,
    readonly code: string = exitCode === EXIT.usage ? 'usage' : 'refused',
  ) {
    super(message);
  }
}

export const wrongUsage = (message: string, mend: string): Failure => new Failure(EXIT.usage, message, mend);
export const refused = (message: string, mend: string): Failure => new Failure(EXIT.refused, message, mend);

/** Further words for conflicts that a user of the command line meets. */
const CONFLICTS: Readonly<Record<string, string>> = {
  bot_exists:
    'This id is registered already. Use its key as LETHE_KEY. If it is lost, the operator runs npx @lethe/server admin bots:new-key --bot ID ' +
    '(in a checkout npm run admin -- bots:new-key --bot ID), which voids every key of the bot.',
  deletion_in_progress: 'Wait until the erasure that runs has ended, then try again.',
  no_certificate: 'The ledger of the service does not hold this erasure: ask its operator.',
  rotation_in_progress:
    'If the key that replaces this one was lost, make another one: lethe keys create --save-as NAME. Then end the lost one with lethe keys delete.',
  no_webhook_url: 'Set it with lethe bot set --webhook-url URL, or receive the calls here with lethe listen.',
  text_exists: 'Users may have agreed to the first words. Give the new words a new consent_version.',
};

/** The failure of anything that a command has thrown. The key and the secret are in none of its words. */
export function failureOf(error: unknown, url: string): Failure {
  if (error instanceof Failure) return error;
  if (isOutcomeUnknown(error)) return undecided(error, url);
  if (error instanceof UnavailableError) return unavailable(error, url);
  if (isUnreached(error)) return unreached(error, url);
  if (!(error instanceof LetheError)) return new Failure(EXIT.refused, textOf(error), '', 'failed');
  return new Failure(EXIT.refused, textOf(error), mendOf(error, url), error.code);
}

function isUnreached(error: unknown): boolean {
  return (
    error instanceof NetworkError ||
    error instanceof TimeoutError ||
    (error instanceof TypeError && error.message === 'fetch failed')
  );
}

/** An act of which an answer was lost: the service may have carried it out, also where it is not reached any more. */
function undecided(error: unknown, url: string): Failure {
  const code = error instanceof LetheError ? error.code : 'network_error';
  const text = error instanceof NetworkError ? causeOf(error) : textOf(error);
  const cause = text.replace(/ Whether it took effect is unknown\.$/, '').replace(/\.$/, '');
  return new Failure(
    EXIT.unreachable,
    `An answer of the service at ${url} was lost (${cause}). Whether it was done is unknown.`,
    'Look whether it was done before you give the command again.',
    code,
  );
}

/** The service or a proxy has answered: its words say what became of the request, and the id leads to its state. */
function unavailable({ message, status, code, details }: UnavailableError, url: string): Failure {
  const { request_id: id } = details;
  const words = typeof id === 'string' ? `${message} (request_id ${id})` : message;
  return new Failure(
    EXIT.unreachable,
    `The service at ${url} answers ${status}: ${words}`,
    typeof id === 'string'
      ? `GET /api/v1/gdpr/forget-status/${id} shows its status. ` +
          'Of an erasure in all guilds this is one guild: give the command again for the others.'
      : 'Try again later. Where that lasts, is the service started, and is LETHE_URL (or --url) its address?',
    code,
  );
}

function unreached(error: unknown, url: string): Failure {
  const { code } = error instanceof LetheError ? error : { code: 'network_error' };
  const mend =
    'Is the service started, and is LETHE_URL (or --url) its address, with https where that is needed?';
  return new Failure(
    EXIT.unreachable,
    `The service at ${url} does not answer (${causeOf(error)}).`,
    mend,
    code,
  );
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const fields = error instanceof InvalidRequestError ? error.fields : [];
  return [error.message, ...fields.map(({ field, message }) => `  ${field} ${message}`)].join('\n');
}

function mendOf(error: LetheError, url: string): string {
  if (error instanceof UnauthorizedError)
    return `LETHE_KEY is no valid key of ${url}. Is it complete, of this service, and neither expired nor replaced?`;
  if (error instanceof InsufficientScopeError)
    return `Use a key with the scope ${error.required}: lethe keys create --scopes ${error.required} --save-as NAME.`;
  if (error instanceof SuspendedError) return 'The operator has suspended the bot: ask there for the reason.';
  if (error instanceof RateLimitedError)
    return `Try again in ${Math.ceil(error.retryAfterSeconds ?? 60)} seconds, or ask the operator for another tier.`;
  if (error instanceof InvalidRequestError) return 'Correct what is named above.';
  if (error instanceof NotFoundError)
    return 'Is the id right, and does it belong to the bot of this LETHE_KEY?';
  if (error instanceof ConflictError) return CONFLICTS[error.reason ?? ''] ?? '';
  return error.code === 'unexpected_answer' ? 'Is LETHE_URL (or --url) the address of Lethe?' : '';
}
