import { type Asked, askedOf, EPHEMERAL, type RawInteraction } from '../asked';
import { Privacy, type PrivacyOptions } from '../privacy';
import { cut, LIMITS, type Reply, reply, sent } from '../reply';
import { DiscordRest, type RestOptions } from '../rest';
import type { Then } from '../waiting';
import { GuildsInUse } from './guilds-in-use';
import { type NodeRequest, type NodeResponse, SignedEndpoint, type SignedOptions } from './signed-endpoint';

export { type DiscordEvent, HttpEvents, type HttpEventsOptions } from './events';

const [PING, COMMAND, COMPONENT] = [1, 2, 3] as const;
const [PONG, DEFERRED_REPLY, DEFERRED_UPDATE] = [1, 5, 6] as const;

export interface HttpOptions extends PrivacyOptions, Omit<SignedOptions, 'now'> {
  /** The commands and buttons of the bot itself. `ask()` is an answer that asks for consent; `then` continues. */
  readonly others?: (
    interaction: RawInteraction,
    ask: (then?: Then) => Promise<Reply>,
  ) => Promise<string | Reply>;
  /** With the token of the bot the guilds in which it is used are registered: for a bot without a gateway. */
  readonly rest?: RestOptions;
}

/**
 * Receives interactions by HTTP. It answers only what Discord has signed, defers at once, and puts the answer in the place
 * of the deferred one. Only the acting user sees it.
 */
export class HttpInteractions {
  readonly privacy: Privacy;
  private readonly rest: DiscordRest;
  private readonly guilds: GuildsInUse | undefined;
  private readonly endpoint: SignedEndpoint<RawInteraction>;
  private readonly working = new Set<Promise<unknown>>();

  constructor(private readonly options: HttpOptions) {
    this.privacy = new Privacy(options);
    this.rest = new DiscordRest(options.rest);
    // Discord tells no one else in which guilds the bot is.
    if (options.rest?.token !== undefined) {
      const get = (path: string): Promise<unknown> => this.rest.get(path);
      this.guilds = new GuildsInUse(options, get, (error) => this.privacy.report(error));
    }
    this.endpoint = new SignedEndpoint<RawInteraction>(
      options,
      (interaction) => this.begun(interaction),
      (error) => this.privacy.report(error),
    );
  }

  /** `Request` to `Response`. On an edge worker give `context.waitUntil`, which keeps the worker until the answer. */
  readonly fetch = async (request: Request, context?: { waitUntil(work: Promise<unknown>): void }) => {
    const response = await this.endpoint.fetch(request);
    for (const work of this.working) context?.waitUntil(work);
    return response;
  };

  /** A request listener of node:http, and a route of Express before `express.json()`. */
  readonly node = (request: NodeRequest, response: NodeResponse): Promise<void> =>
    this.endpoint.node(request, response);

  /** Resolves when every answer is sent: for the end of the process. */
  async settled(): Promise<void> {
    while (this.working.size > 0) await Promise.all(this.working);
  }

  /** What Discord is answered at once. */
  private begun(interaction: RawInteraction): object {
    if (interaction.type === PING) return { type: PONG };
    const asked = askedOf(interaction);
    if (asked === undefined || ![COMMAND, COMPONENT].includes(interaction.type as 2))
      throw new TypeError(`An interaction of type ${interaction.type} has no handler.`);
    const work = Promise.all([this.work(interaction, asked), this.usedIn(asked)]);
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
      await sent(
        answer,
        (message) => this.rest.answer(application, token, message),
        (error) => this.privacy.failed(asked, error),
      );
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

  /** It never rejects. */
  private async usedIn({ guildId }: Asked): Promise<void> {
    if (guildId !== null) await this.guilds?.used(guildId);
  }

  private async other(interaction: RawInteraction, asked: Asked): Promise<Reply> {
    try {
      const answer = await this.options.others?.(interaction, (then) => this.privacy.ask(asked, then));
      if (typeof answer !== 'string') return answer ?? this.privacy.failed(asked);
      // Discord takes no message without a visible character.
      return answer.trim() === ''
        ? this.privacy.failed(asked)
        : reply({ content: cut(answer, LIMITS.content) });
    } catch (error) {
      return this.privacy.failed(asked, error);
    }
  }
}
