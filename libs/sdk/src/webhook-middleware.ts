import type { IncomingMessage, ServerResponse } from 'node:http';
import { ReplayCache } from './replay-cache';
import { verifyWebhook } from './verify-webhook';
import { WebhookVerificationError } from './webhook-error';
import type { VerifiedWebhook } from './webhook-event';

/** Calls of the service are far smaller. */
const BODY_MAX_BYTES = 65_536;

export interface WebhookMiddleware {
  readonly secrets: string | readonly string[];
  readonly toleranceSeconds?: number;
  /** Acts upon the event. Resolve when it is done: only then is the call confirmed, else it is repeated. */
  readonly onEvent: (webhook: VerifiedWebhook) => void | Promise<void>;
  /** Hears of refused calls and of errors of `onEvent`; silent unless told. */
  readonly onError?: (error: unknown) => void;
  readonly replayCache?: ReplayCache;
}

type Received = IncomingMessage & { readonly body?: unknown };

/**
 * A request handler for node:http, and a route handler for Express: verifies, acts once per id, then answers 204; a
 * call that is not genuine gets 400, and one that could not be acted upon 500, so that it is sent again.
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
      // Something before this handler, a time-out say, has answered already.
      if (response.headersSent) return;
      const isRefused = error instanceof WebhookVerificationError;
      response.writeHead(isRefused ? 400 : 500, { 'content-type': 'text/plain', connection: 'close' });
      response.end(isRefused ? error.message : 'The event could not be processed');
    }
  };
}

/** The bytes of the body: read here, or left by `express.raw()`; what another parser left is for the verifier to name. */
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
