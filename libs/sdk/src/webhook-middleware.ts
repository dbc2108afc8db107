import type { IncomingMessage, ServerResponse } from 'node:http';
import { ReplayCache } from './replay-cache';
import { verifyWebhook } from './verify-webhook';
import { WebhookVerificationError } from './webhook-error';
import type { VerifiedWebhook } from './webhook-event';

/** The limit of a body in bytes. Calls of the service are far smaller. */
const BODY_MAX_BYTES = 65_536;

export interface WebhookMiddleware {
  readonly secrets: string | readonly string[];
  readonly toleranceSeconds?: number;
  /** Processes the event. The call is confirmed after the promise resolves; otherwise the service repeats it. */
  readonly onEvent: (webhook: VerifiedWebhook) => void | Promise<void>;
  /** Called for refused calls and for errors of `onEvent`. Without it they are silent. */
  readonly onError?: (error: unknown) => void;
  readonly replayCache?: ReplayCache;
}

type Received = IncomingMessage & { readonly body?: unknown };

/**
 * A request handler for node:http and a route handler for Express. It verifies a call, processes each id once and
 * answers 204. A call that fails the verification gets 400. A call whose processing fails gets 500, and the service
 * sends it again.
 */
export function webhookMiddleware(
  given: WebhookMiddleware,
): (request: Received, response: ServerResponse) => Promise<void> {
  const {
    secrets,
    toleranceSeconds,
    onEvent,
    onError = () => undefined,
    replayCache = new ReplayCache(),
  } = given;
  const underWay = new Map<string, Promise<void>>();
  const actOnce = async (webhook: VerifiedWebhook): Promise<void> => {
    if (replayCache.has(webhook.id)) return;
    const acting = underWay.get(webhook.id) ?? Promise.resolve(webhook).then(onEvent);
    underWay.set(webhook.id, acting);
    try {
      await acting;
      replayCache.add(webhook.id);
    } finally {
      underWay.delete(webhook.id);
    }
  };
  return async (request, response) => {
    try {
      const rawBody = await rawBodyOf(request);
      await actOnce(verifyWebhook({ rawBody, headers: request.headers, secrets, toleranceSeconds }));
      response.writeHead(204).end();
    } catch (error) {
      onError(error);
      // Another handler, for example a time-out, has already answered.
      if (response.headersSent) return;
      const isRefused = error instanceof WebhookVerificationError;
      response.writeHead(isRefused ? 400 : 500, { 'content-type': 'text/plain', connection: 'close' });
      response.end(isRefused ? error.message : 'The event could not be processed');
    }
  };
}

/**
 * The bytes of the body, read here or by `express.raw()`. The verification reports a body that another parser has
 * changed.
 */
async function rawBodyOf(request: Received): Promise<Uint8Array> {
  if (request.body !== undefined) return request.body as Uint8Array;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES)
      throw new WebhookVerificationError(
        'wrong_signature',
        'The body is larger than any call of the service.',
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
