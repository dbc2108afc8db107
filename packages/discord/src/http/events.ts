import type { Lethe } from '@lethe/sdk';
import { userDeauthorized } from '../deauthorized';
import { reportTo } from '../report';
import { type NodeRequest, type NodeResponse, SignedEndpoint, type SignedOptions } from './signed-endpoint';

const PING = 0;
const DEAUTHORIZED = 'APPLICATION_DEAUTHORIZED';
/** Of each of two calls: Discord waits three seconds in all. */
const CALL_MS = 1_250;

/** What Discord sends to the Webhook Events URL of an application. */
export interface WebhookEventBody {
  readonly type: number;
  readonly event?: DiscordEvent;
}

export interface DiscordEvent {
  readonly type: string;
  /** When it happened, in UTC. */
  readonly timestamp?: string;
  readonly data?: { readonly user?: { readonly id?: string } };
}

export interface HttpEventsOptions extends SignedOptions {
  readonly lethe: Lethe;
  /** Every other event to which the application is subscribed. Discord repeats one for which it rejects. */
  readonly others?: (event: DiscordEvent) => Promise<unknown>;
  /** Called for every failure; `console.error` by default. Discord gets a 500, and repeats the event. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Receives Discord's webhook events, for a bot of any kind: of a user who removes the app from their account the consent in
 * the bot-wide scope is withdrawn (`userDeauthorized`). A 204 says that this is done.
 */
export class HttpEvents {
  private readonly endpoint: SignedEndpoint<WebhookEventBody>;

  constructor(private readonly options: HttpEventsOptions) {
    this.endpoint = new SignedEndpoint<WebhookEventBody>(
      options,
      (body) => this.received(body),
      (error) => reportTo(options.onError, error),
    );
  }

  /** `Request` to `Response`. */
  readonly fetch = (request: Request): Promise<Response> => this.endpoint.fetch(request);

  /** A request listener of node:http, and a route of Express before `express.json()`. */
  readonly node = (request: NodeRequest, response: NodeResponse): Promise<void> =>
    this.endpoint.node(request, response);

  private async received(body: WebhookEventBody | null): Promise<undefined> {
    if (body?.type === PING) return;
    const event = body?.event;
    if (typeof event?.type !== 'string') throw new TypeError(`A webhook of type ${body?.type} has no event.`);
    if (event.type !== DEAUTHORIZED) return void (await this.options.others?.(event));
    const id = event.data?.user?.id;
    if (typeof id !== 'string') throw new TypeError(`${DEAUTHORIZED} names no user.`);
    await userDeauthorized(this.options, id, { at: event.timestamp, timeoutMs: CALL_MS });
  }
}
