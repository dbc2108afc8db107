import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ConflictError,
  type Hooks,
  LetheError,
  NetworkError,
  TimeoutError,
  UnavailableError,
} from '@lethe/sdk';

/** What Node.js says of a connection that was never made, or that no request was sent over. */
const NEVER_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|bad port)$|CERT|SIGNED|^ERR_(?:SSL|TLS)/;

/** The errors of acts that the service may have carried out. */
const unknown = new WeakSet<object>();
const calls = new AsyncLocalStorage<{ isLost: boolean }>();

/** Whether the service may have carried out the act that has failed with `error`. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && unknown.has(error);

/** Hooks that keep of which acts an answer was lost: also of an earlier attempt, after which the last one fails in another way. */
export function notingLosses(hooks: Hooks = {}): Hooks {
  return {
    ...hooks,
    onRetry: (about) => {
      const call = calls.getStore();
      if (call !== undefined) call.isLost ||= isAnswerLost(about.error);
      hooks.onRetry?.(about);
    },
    trace: async (route, run) => {
      const call = { isLost: false };
      try {
        return await calls.run(call, run);
      } catch (error) {
        const isLost =
          isAnswerLost(error) || (call.isLost && !(route.startsWith('POST ') && isDecided(error)));
        if (!route.startsWith('GET ') && isLost) unknown.add(error as object);
        throw error;
      }
    },
  };
}

/** After which an earlier attempt may still be under way, or was done and its answer erased. */
const UNDECIDED: readonly unknown[] = [
  'idempotency_in_progress',
  'deletion_in_progress',
  'idempotency_answer_erased',
];

/** A repeat under the `Idempotency-Key` of an act that was done is answered as that was: one that the service refuses was not. */
const isDecided = (error: unknown): boolean =>
  error instanceof LetheError &&
  error.code !== 'unexpected_answer' &&
  [400, 404, 409, 413].includes(error.status ?? 0) &&
  !(error instanceof ConflictError && UNDECIDED.includes(error.reason));

function isAnswerLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !NEVER_SENT.test(causeOf(error));
  // An answer of the service says what became of the request; that of a proxy does not.
  return (
    error instanceof TimeoutError ||
    (error instanceof UnavailableError && error.message.startsWith('A proxy answered'))
  );
}

/** The innermost fault of the network, by its code where it has one: `ECONNREFUSED`. */
export function causeOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: unknown; message?: string };
  if (typeof cause === 'object' && cause !== null) return causeOf(cause);
  return typeof code === 'string' ? code : (message ?? 'unknown');
}
