import { ReplayCache, type WebhookStore } from './replay-cache';
import { chunksOf } from './streams';
import {
  requireTolerance,
  requireTrust,
  type VerifyWebhook,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookTrust,
} from './verify-webhook';
import { WebhookVerificationError } from './webhook-error';
import { type VerifiedWebhook, WEBHOOK_EVENTS, type WebhookEvent } from './webhook-event';

/** The limit of a body in bytes. Calls of the service are far smaller. */
const BODY_MAX_BYTES = 65_536;

/** What to do at each event. An event without a function is confirmed. */
export type WebhookActs = {
  readonly [Name in WebhookEvent['event']]?: (
    event: Extract<WebhookEvent, { readonly event: Name }>,
    webhook: VerifiedWebhook,
  ) => void | Promise<void>;
};

export type WebhookOptions = WebhookTrust & Acting;

interface Acting extends Pick<VerifyWebhook, 'toleranceSeconds' | 'now'> {
  /** The call is confirmed after the promise resolves; after a rejection the service repeats it. */
  readonly on: WebhookActs;
  /** Where the ids of processed calls are kept; in memory by default. */
  readonly store?: WebhookStore;
  /** The client whose `withConsent` must know of a withdrawal at once. */
  readonly lethe?: { emptyConsentCache(userId?: string): void };
  /** Called for refused calls and for errors of `on`. Without it they are silent. */
  readonly onError?: (error: unknown) => void;
}

export interface WebhookAnswer {
  readonly status: 204 | 400 | 413 | 500;
  /** What was wrong, as plain text. */
  readonly text: string;
}

/** A request of node:http or Express. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
}

/** A response of node:http or Express. */
export interface NodeResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

/** What the adapter uses of a Fastify instance. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: unknown) => void) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => unknown): unknown;
}

interface FastifyRequestLike {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface FastifyReplyLike {
  code(status: number): { type(type: string): { send(text: string): unknown } };
}

/**
 * Receives the calls of the service. It verifies a call, processes each id once and answers 204. A call that fails the
 * verification gets 400, and 413 if its body is larger than any call of the service. A call whose processing fails gets 500,
 * and the service sends it again.
 */
export class WebhookHandler {
  private readonly store: WebhookStore;
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly options: WebhookOptions) {
    requireTolerance(options.toleranceSeconds);
    // A bot without its secret would learn of it by the first call that it refuses.
    requireTrust(options);
    requireEvents(options.on);
    this.store = options.store ?? new ReplayCache();
  }

  /** For every framework: the raw body and the headers of a call, and the answer to send. */
  async handle(call: {
    readonly rawBody: string | Uint8Array;
    readonly headers: WebhookHeaders;
  }): Promise<WebhookAnswer> {
    return this.answered(async () => call);
  }

  /** `Request` to `Response`: Hono, Bun, Deno, edge workers, Next.js (App Router). */
  readonly fetch = async (request: Request): Promise<Response> => {
    const { status, text } = await this.answered(async () => ({
      rawBody: await bodyOf(request.body === null ? [] : chunksOf(request.body)),
      headers: request.headers,
    }));
    return new Response(status === 204 ? null : text, { status, headers: { 'content-type': 'text/plain' } });
  };

  /** A route of Hono: `app.post('/gdpr', handler.hono)`. */
  readonly hono = (context: { readonly req: { readonly raw: Request } }): Promise<Response> =>
    this.fetch(context.req.raw);

  /** A request listener of node:http, and a route of Express: before `express.json()`, or behind `express.raw({ type: () => true })`. */
  readonly node = async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const { status, text } = await this.answered(async () => ({
      rawBody: isUnread(request.body) ? await bodyOf(request) : (request.body as Uint8Array),
      headers: request.headers,
    }));
    // Another handler, for example a time-out, has already answered.
    if (response.headersSent) return;
    const headers: Record<string, string> =
      status === 204 ? {} : { 'content-type': 'text/plain', connection: 'close' };
    response.writeHead(status, headers);
    response.end(text);
  };

  /** A plugin of Fastify with its own parser of bodies: `app.register(handler.fastify('/gdpr'))`. */
  fastify(path: string): (instance: FastifyLike, options: unknown, done: () => void) => void {
    return (instance, _options, done) => {
      instance.removeAllContentTypeParsers();
      instance.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) =>
        parsed(null, body),
      );
      instance.post(path, async ({ body, headers }, reply) => {
        const { status, text } = await this.handle({ rawBody: body as Uint8Array, headers });
        return reply.code(status).type('text/plain').send(text);
      });
      done();
    };
  }

  private async answered(
    call: () => Promise<Parameters<WebhookHandler['handle']>[0]>,
  ): Promise<WebhookAnswer> {
    try {
      const given = await call();
      requireSize(given.rawBody);
      await this.actOnce(await verifyWebhook({ ...this.options, ...given }));
      return { status: 204, text: '' };
    } catch (error) {
      this.report(error);
      return error instanceof WebhookVerificationError
        ? { status: error.fault === 'too_large' ? 413 : 400, text: error.message }
        : { status: 500, text: 'The event could not be processed' };
    }
  }

  /** A log that fails leaves the answer as it is. */
  private report(error: unknown): void {
    try {
      this.options.onError?.(error);
    } catch {
      // The answer says what was wrong.
    }
  }

  private async actOnce(webhook: VerifiedWebhook): Promise<void> {
    const { id } = webhook;
    const acting = this.underWay.get(id) ?? this.act(webhook);
    this.underWay.set(id, acting);
    try {
      await acting;
    } finally {
      // A later attempt may act by now, since this one has failed.
      if (this.underWay.get(id) === acting) this.underWay.delete(id);
    }
  }

  private async act(webhook: VerifiedWebhook): Promise<void> {
    if (await this.store.has(webhook.id)) return;
    const { event } = webhook;
    if (event.event !== 'ping') this.options.lethe?.emptyConsentCache(event.user_id);
    const act = this.options.on[event.event] as
      ((given: WebhookEvent, all: VerifiedWebhook) => unknown) | undefined;
    await act?.(event, webhook);
    await this.store.add(webhook.id);
  }
}

/** A receiver of webhooks for node:http, Express, Fastify, Hono and every runtime with `Request` and `Response`. */
export const createWebhookHandler = (options: WebhookOptions): WebhookHandler => new WebhookHandler(options);

/** A parser of Express 4 that leaves a body to others sets `{}`. After one that has read `{}` the stream is empty. */
function isUnread(body: unknown): boolean {
  const isBytes = typeof body !== 'object' || body instanceof Uint8Array;
  return body == null || (!isBytes && Object.keys(body).length === 0);
}

async function bodyOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  const body = new Uint8Array(BODY_MAX_BYTES);
  let length = 0;
  for await (const chunk of chunks) {
    if (length + chunk.length > BODY_MAX_BYTES) throw tooLarge();
    body.set(chunk, length);
    length += chunk.length;
  }
  return body.subarray(0, length);
}

/** A function that is never called would be missed at the first erasure. @throws TypeError for a name that is no event */
function requireEvents(on: object): void {
  const unknown = Object.keys(on).filter((name) => !WEBHOOK_EVENTS.includes(name));
  if (unknown.length === 0) return;
  throw new TypeError(
    `on names ${unknown.join(', ')}, which is no event. Events are: ${WEBHOOK_EVENTS.join(', ')}.`,
  );
}

/** A framework can have read a body with a limit of its own. */
function requireSize(rawBody: unknown): void {
  const isRaw = typeof rawBody === 'string' || rawBody instanceof Uint8Array;
  if (isRaw && rawBody.length > BODY_MAX_BYTES) throw tooLarge();
}

function tooLarge(): WebhookVerificationError {
  return new WebhookVerificationError('too_large', 'The body is larger than any call of the service.');
}
