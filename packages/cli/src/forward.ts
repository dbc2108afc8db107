import type { WebhookEvent } from '@lethe/sdk';
import { signedCall } from '@lethe/sdk/testing';
import { wrongUsage } from './failures';
import { causeOf } from './unknown-outcome';
import { plain } from './output';
import { webAddress } from './session';

/** The address of the receivers in the documentation. */
export const DEFAULT_TARGET = 'http://127.0.0.1:8080/gdpr';

const TIMEOUT_MS = 10_000;
const SHOWN_MAX = 200;
/** As in the service, for which a longer answer is no confirmation. */
const ANSWER_MAX_BYTES = 65_536;
const TOO_LARGE = `the answer is larger than ${ANSWER_MAX_BYTES} bytes`;

/** What the receiver answered to one call. */
export interface Forwarded {
  readonly id: string;
  readonly event: string;
  /** null where no answer came. */
  readonly status: number | null;
  readonly duration_ms: number;
  /** The beginning of the answer, or the fault of the network. */
  readonly answer: string;
}

/**
 * The address to which calls are sent. They carry ids of users under a valid signature, so that only this machine gets
 * them unless the user says otherwise.
 */
export function targetOf(text: string, { allowRemote = false }): string {
  const { hostname } = new URL(webAddress(text, '--forward-to'));
  if (allowRemote || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return text;
  throw wrongUsage(
    `${hostname} is not this machine.`,
    'The calls have ids of users and a valid signature. If that machine may have them, add --allow-remote.',
  );
}

/** Sends one call, signed like those of the service. Never rejects. */
export async function forward(
  target: string,
  secret: string,
  event: WebhookEvent,
  id?: string,
  timeoutMs = TIMEOUT_MS,
): Promise<Forwarded> {
  const { rawBody, headers } = await signedCall({ event, secret, ...(id !== undefined && { id }) });
  const startedMs = Date.now();
  const facts = { id: headers['webhook-id'] ?? '', event: event.event };
  try {
    const init = { method: 'POST', body: rawBody, headers, redirect: 'manual' } as const;
    const response = await fetch(target, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const answer = plain(await textOf(response)).slice(0, SHOWN_MAX);
    return { ...facts, status: response.status, duration_ms: Date.now() - startedMs, answer };
  } catch (error) {
    return { ...facts, status: null, duration_ms: Date.now() - startedMs, answer: causeOf(error) };
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body as AsyncIterable<Uint8Array> | null) ?? []) {
    if ((length += chunk.length) > ANSWER_MAX_BYTES) throw new Error(TOO_LARGE);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

export const isConfirmed = ({ status }: Forwarded): boolean =>
  status !== null && status >= 200 && status < 300;

/** One line for people. */
export function lineOf({ id, event, status, duration_ms: durationMs, answer }: Forwarded): string {
  const outcome = status === null ? `no answer (${answer})` : `${status} in ${durationMs} ms`;
  const words = status === null || answer === '' ? '' : `  ${answer}`;
  return `${event.padEnd(15)}  ${id}  ${outcome}${words}`;
}

/** What a receiver that does not confirm has wrong. */
export function mendOf({ status, answer }: Forwarded): string {
  if (answer === TOO_LARGE) return 'An empty answer with a status of 2xx is enough.';
  if (status === null) return 'Does your bot listen there? Start it, or name its address with --forward-to.';
  if (status === 404) return 'There is no such path: name the one of your webhook route with --forward-to.';
  if (status >= 300 && status < 400) return 'A redirect is no confirmation: name the final address.';
  return status === 400 || status === 401 || status === 403
    ? 'The receiver refuses the signature: does it have the LETHE_WEBHOOK_SECRET of this .env, and verify the raw body?'
    : 'Every 2xx is a confirmation. See the log of your bot.';
}
