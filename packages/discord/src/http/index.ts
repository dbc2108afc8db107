import { requireNumber } from '@lethe/sdk';
import { type Asked, askedOf, EPHEMERAL, type RawInteraction } from '../asked';
import { Privacy, type PrivacyOptions } from '../privacy';
import { type Reply, reply } from '../reply';
import { DiscordRest, type RestOptions } from '../rest';
import type { Then } from '../waiting';
import { bodyOf, isSigned, keyOf, type PublicKey, type RequestHeaders } from './signed-request';

const [PING, COMMAND, COMPONENT] = [1, 2, 3] as const;
const [PONG, DEFERRED_REPLY, DEFERRED_UPDATE] = [1, 5, 6] as const;

const TOLERANCE_MAX_SECONDS = 86_400;

export interface HttpOptions extends PrivacyOptions {
  /** The public key of the application, of Discord's developer portal. */
  readonly publicKey: string;
  /** The commands and buttons of the bot itself. `ask()` is an answer that asks for consent; `then` continues. */
  readonly others?: (
    interaction: RawInteraction,
    ask: (then?: Then) => Promise<Reply>,
  ) => Promise<string | Reply>;
  readonly rest?: RestOptions;
  /** How old the time of a request may be, in either direction; 5 minutes by default. */
  readonly toleranceSeconds?: number;
}

/** A request of node:http or Express. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A response of node:http or Express. */
interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Receives interactions by HTTP. It answers only what Discord has signed, defers at once, and puts the answer in the place
 * of the deferred one. Only the acting user sees it.
 */
export class HttpInteractions {
  readonly privacy: Privacy;
  private readonly rest: DiscordRest;
  private readonly key: Promise<PublicKey>;
  private readonly working = new Set<Promise<void>>();

  constructor(private readonly options: HttpOptions) {
    requireNumber('toleranceSeconds', options.toleranceSeconds, 0, TOLERANCE_MAX_SECONDS);
    this.privacy = new Privacy(options);
    this.rest = new DiscordRest(options.rest);
    this.key = keyOf(options.publicKey);
    // The first request reports it.
    this.key.catch(() => undefined);
  }

  /** `Request` to `Response`. On an edge worker give `context.waitUntil`, which keeps the worker until the answer. */
  readonly fetch = async (request: Request, context?: { waitUntil(work: Promise<unknown>): void }) => {
    const { status, text } = await this.handled(request.method, request.headers, request.body ?? []);
    for (const work of this.working) context?.waitUntil(work);
    return new Response(text, { status, headers: { 'content-type': typeOf(status) } });
  };

  /** A request listener of node:http, and a route of Express before `express.json()`. */
  readonly node = async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const { headers, method = '' } = request;
    const given = { get: (name: string) => String(headers[name] ?? '') };
    const { status, text } = await this.handled(method, given, request);
    const close: Record<string, string> = status === 200 ? {} : { connection: 'close' };
    response.writeHead(status, { 'content-type': typeOf(status), ...close });
    response.end(text);
  };

  /** Resolves when every answer is sent: for the end of the process. */
  async settled(): Promise<void> {
    while (this.working.size > 0) await Promise.all(this.working);
  }

  private async handled(method: string, headers: RequestHeaders, body: Chunks): Promise<Answer> {
    try {
      if (method !== 'POST') return refused(405, 'POST interactions of Discord here.');
      const raw = await bodyOf(body);
      if (raw === undefined) return refused(413, 'The body is larger than any interaction.');
      const { toleranceSeconds, now } = this.options;
      if (!(await isSigned(await this.key, headers, raw, { toleranceSeconds, now })))
        return refused(401, 'The request is not signed by the application, or too old.');
      const interaction = JSON.parse(new TextDecoder().decode(raw)) as RawInteraction;
      return { status: 200, text: JSON.stringify(this.begun(interaction)) };
    } catch (error) {
      this.privacy.report(error);
      return refused(500, 'The interaction could not be processed.');
    }
  }

  /** What Discord is answered at once. */
  private begun(interaction: RawInteraction): object {
    if (interaction.type === PING) return { type: PONG };
    const asked = askedOf(interaction);
    if (asked === undefined || ![COMMAND, COMPONENT].includes(interaction.type as 2))
      throw new TypeError(`An interaction of type ${interaction.type} has no handler.`);
    const work = this.work(interaction, asked);
    this.working.add(work);
    void work.finally(() => this.working.delete(work));
    const updates = asked.act.kind === 'component' && asked.act.isPrivate && this.privacy.handles(asked);
    return updates ? { type: DEFERRED_UPDATE } : { type: DEFERRED_REPLY, data: { flags: EPHEMERAL } };
  }

  /** It never rejects. */
  private async work(interaction: RawInteraction, asked: Asked): Promise<void> {
    let answer: Reply | undefined;
    const { application_id: application, token } = interaction;
    try {
      answer = await (this.privacy.handles(asked)
        ? this.privacy.reply(asked)
        : this.other(interaction, asked));
      await this.rest.answer(application, token, answer);
    } catch (error) {
      this.privacy.report(error);
    }
    // Also where Discord did not take the message: the consent is recorded.
    const following = await answer?.following?.();
    if (following !== undefined)
      await this.rest
        .followUp(application, token, following)
        .catch((error: unknown) => this.privacy.report(error));
  }

  private async other(interaction: RawInteraction, asked: Asked): Promise<Reply> {
    try {
      const answer = await this.options.others?.(interaction, (then) => this.privacy.ask(asked, then));
      return typeof answer === 'string' ? reply({ content: answer }) : (answer ?? this.privacy.failed(asked));
    } catch (error) {
      return this.privacy.failed(asked, error);
    }
  }
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ReadableStream<Uint8Array>;

const refused = (status: number, text: string): Answer => ({ status, text });
const typeOf = (status: number): string => (status === 200 ? 'application/json' : 'text/plain');
