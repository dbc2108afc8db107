import { Items, type Page, Walk, type WalkPage } from './items';
import { ConsentRequiredError, ProcessingRefusedError } from './errors';
import { unexpected } from './refusals';
import { inPath } from './request-parts';
import type { Answer, Given, Route } from './routes';
import type { Begun } from './streams';
import type { CallOptions, Transport } from './transport';

type Rest<R extends Route> =
  Readonly<Record<never, never>> extends Given<R>
    ? [given?: Given<R>, options?: CallOptions]
    : [given: Given<R>, options?: CallOptions];

/** A list in the answers of a route: the name of its field, and one item. */
type ListName<R extends Route> = Exclude<keyof Answer<R>, 'pagination' | 'pruning'>;
type ItemOf<R extends Route> = Answer<R>[ListName<R>] extends readonly (infer Item)[] ? Item : never;
type Filter<R extends Route> = Omit<Given<R>, 'page' | 'page_size' | 'after'>;
type ListRest<R extends Route> =
  Readonly<Record<never, never>> extends Filter<R>
    ? [filter?: Filter<R>, options?: CallOptions]
    : [filter: Filter<R>, options?: CallOptions];

/** What may end or change a consent or what a user refuses, of one user or of many. */
const CHANGING: readonly Route[] = [
  'POST /consents/accept',
  'POST /consents/revoke',
  'POST /data/object',
  'POST /data/restrict',
  'POST /gdpr/forget-user',
  'DELETE /servers/{guild_id}',
  'POST /data/register',
  'PUT /data/categories/{key}',
  'DELETE /data/categories/{key}',
];

/** Makes the methods of the client, each from the route that it calls. */
export class Caller {
  private botId?: Promise<string>;

  constructor(
    private readonly transport: Transport,
    /** Called when a consent may have changed, of one user or of any. */
    private readonly onConsentChanged: (userId?: string) => void,
  ) {}

  /** A method that takes ids, query and body in one object. */
  with<R extends Route>(route: R) {
    return (...[given, options]: Rest<R>): Promise<Answer<R>> => this.send(route, given ?? {}, options);
  }

  /** A method that takes the one id in the path. */
  at<R extends Route>(route: R, name: string & keyof Given<R>) {
    return (id: string, options?: CallOptions): Promise<Answer<R>> =>
      this.send(route, { [name]: id }, options);
  }

  /** A method that answers all pages of a list. */
  list<R extends Route>(route: R, name: string & ListName<R>) {
    return (...[filter, options]: ListRest<R>): Items<ItemOf<R>> =>
      new Items((place) => this.page<R, Page<ItemOf<R>>>(route, name, { ...filter, ...place }, options));
  }

  /** A method that answers all pages of a list that is not counted. */
  walk<R extends Route>(route: R, name: string & ListName<R>) {
    return (...[filter, options]: ListRest<R>): Walk<ItemOf<R>> =>
      new Walk((place) => this.page<R, WalkPage<ItemOf<R>>>(route, name, { ...filter, ...place }, options));
  }

  /** Any operation of the interface. */
  async send<R extends Route>(route: R, given: object, options?: CallOptions): Promise<Answer<R>> {
    const [path, rest] = await this.placed(route, given, options);
    const { user_id: userId } = given as { user_id?: string };
    try {
      const answer = (await this.transport.json(route, path, rest, options)) as Answer<R>;
      if (route === 'POST /data/submit/batch')
        for (const refused of refusedUsers(given, answer)) this.onConsentChanged(refused);
      return answer;
    } catch (error) {
      if (error instanceof ConsentRequiredError || error instanceof ProcessingRefusedError)
        this.onConsentChanged(userId);
      throw error;
    } finally {
      if (CHANGING.includes(route)) this.onConsentChanged(userId);
    }
  }

  /** The answer of any operation, to be read as it arrives. */
  async begun(route: Route, given: object, options?: CallOptions): Promise<Begun> {
    const [path, rest] = await this.placed(route, given, options);
    return this.transport.begun(route, path, rest, options);
  }

  private async page<R extends Route, P extends WalkPage<ItemOf<R>>>(
    route: R,
    name: string,
    given: object,
    options: CallOptions | undefined,
  ): Promise<P> {
    const answer = await this.send<R>(route, given, options);
    const { pagination, [name]: items } = answer as unknown as Record<string, unknown>;
    if (!Array.isArray(items) || !hasNext(pagination)) throw unexpected(200);
    return { ...(pagination as Omit<P, 'items'>), items } as unknown as P;
  }

  /** The path with its ids, and what is left for query or body. */
  private async placed(
    route: Route,
    given: object,
    options?: CallOptions,
  ): Promise<[path: string, rest: object]> {
    const rest: Record<string, unknown> = { ...given };
    const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    if (names.includes('bot_id')) rest['bot_id'] ??= await this.ownId(options);
    let path = route.slice(route.indexOf(' ') + 1);
    for (const name of names) {
      path = path.replace(`{${name}}`, inPath(name, rest[name]));
      delete rest[name];
    }
    return [path, rest];
  }

  /** The id of the bot that the key belongs to, asked once. */
  private async ownId({ timeoutMs, retries }: CallOptions = {}): Promise<string> {
    // Other calls wait for the same answer, and a signal would end them too.
    const options = {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(retries !== undefined && { retries }),
    };
    this.botId ??= this.send('GET /bots/me', {}, options).then(({ id }) => id);
    try {
      return await this.botId;
    } catch (error) {
      this.botId = undefined;
      throw error;
    }
  }
}

/** The users of the items of a batch that were refused as a single request is: without a consent, or since the user refuses the processing. */
function refusedUsers(given: object, answer: unknown): Set<string | undefined> {
  const { items } = given as { items?: readonly { user_id?: string }[] };
  const { results } = (answer ?? {}) as { results?: unknown };
  const all = Array.isArray(results) ? (results as { error?: { code?: unknown } }[]) : [];
  const isRefused = ({ error }: { error?: { code?: unknown } }): boolean =>
    ['consent_required', 'processing_refused'].includes(String(error?.code));
  return new Set(all.flatMap((each, at) => (isRefused(each) ? [items?.[at]?.user_id] : [])));
}

/** Whether a page has the cursor of the next one, or null as the last. Without either a loop would never end, or end too early. */
function hasNext(pagination: unknown): boolean {
  const { next } = (pagination ?? {}) as { next?: unknown };
  return next === null || typeof next === 'string';
}
