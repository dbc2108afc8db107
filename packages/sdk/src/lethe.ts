import { Caller } from './caller';
import type { AnyCategories, CategoriesOf, DataOf, KeyOf } from './categories';
import { type Basis, ConsentCache, covers, refusedBy } from './consent-cache';
import { NotFoundError } from './errors';
import { requireNumber, TIMER_MAX_MS } from './numbers';
import { operatorOf } from './operator';
import { refusal, unexpected } from './refusals';
import { inPath, requireKey } from './request-parts';
import {
  auditOf,
  holdersOf,
  botsOf,
  categoriesOf,
  consentsOf,
  dataOf,
  keysOf,
  privacyOf,
  serversOf,
  statsOf,
  usersOf,
  webhooksOf,
} from './resources';
import type { KeySet } from './key-set';
import type { Answer, Given, Route, Subject } from './routes';
import { type CallOptions, type LetheOptions, Transport } from './transport';

const CONSENT_CACHE_MS = 5_000;
/** How often an act is asked for at most, while what was read of its user may have ended again and again. */
const ROUNDS_MAX = 5;
/** Legal bases that allow an objection (GDPR Art. 21(1)). */
const OBJECTABLE: readonly (string | null)[] = ['legitimate_interests', 'public_task'];

export interface ClientOptions extends LetheOptions {
  /** How long `withConsent` trusts a consent that it has seen; 5 seconds by default. */
  readonly consentCacheMs?: number;
}

export interface RegisterOptions extends Omit<ClientOptions, 'key'> {
  /** Where the operator admits registrations by a token. */
  readonly registrationToken?: string;
}

/**
 * The client of a bot. Fields of requests and answers are named as in the interface. With the types that
 * `lethe categories types` writes, as `new Lethe<Categories>(…)`, categories and their fields are checked too.
 */
export class Lethe<C extends CategoriesOf<C> = AnyCategories> {
  readonly bots: ReturnType<typeof botsOf>;
  readonly keys: ReturnType<typeof keysOf>;
  readonly servers: ReturnType<typeof serversOf>;
  readonly users: ReturnType<typeof usersOf>;
  readonly categories: ReturnType<typeof categoriesOf>;
  readonly consents: ReturnType<typeof consentsOf>;
  readonly data: DataOf<C>;
  readonly privacy: ReturnType<typeof privacyOf>;
  readonly holders: ReturnType<typeof holdersOf>;
  readonly audit: ReturnType<typeof auditOf>;
  readonly webhooks: ReturnType<typeof webhooksOf>;
  /** The whole installation, with the token of the operator as `key`. */
  readonly operator: ReturnType<typeof operatorOf>;
  /** What happened over time, in numbers: acts, webhook calls, durations of erasures. */
  readonly stats: ReturnType<typeof statsOf>;
  private readonly call: Caller;
  private readonly transport: Transport;
  private readonly cache: ConsentCache;

  constructor(options: ClientOptions) {
    if (typeof options.key !== 'function' && options.key !== undefined) requireKey(options.key);
    requireNumber('consentCacheMs', options.consentCacheMs, 0, TIMER_MAX_MS);
    this.cache = new ConsentCache(options.consentCacheMs ?? CONSENT_CACHE_MS);
    this.transport = new Transport(options);
    const call = (this.call = new Caller(this.transport, (userId) => this.emptyConsentCache(userId)));
    this.bots = botsOf(call);
    this.keys = keysOf(call);
    this.servers = serversOf(call);
    this.users = usersOf(call);
    this.categories = categoriesOf(call);
    this.consents = consentsOf(call);
    this.data = dataOf(call) as unknown as DataOf<C>;
    this.privacy = privacyOf(call);
    this.holders = holdersOf(call);
    this.audit = auditOf(call);
    this.webhooks = webhooksOf(call);
    this.operator = operatorOf(call);
    this.stats = statsOf(call);
  }

  /** Registers a bot, before there is a key. It is not repeated once the request was sent: a bot would be registered. */
  static register(
    { registrationToken, ...options }: RegisterOptions,
    given: Given<'POST /bots/register'>,
    callOptions?: CallOptions,
  ): Promise<Answer<'POST /bots/register'>> {
    const headers: Record<string, string> = { ...callOptions?.headers };
    if (registrationToken !== undefined) headers['x-registration-token'] = registrationToken;
    return new Lethe(options).bots.register(given, { ...callOptions, headers });
  }

  /** Any operation of the interface by its route, for what has no method. */
  request<R extends Route>(route: R, given: Given<R>, options?: CallOptions): Promise<Answer<R>> {
    return this.call.send(route, given, options);
  }

  /**
   * Runs `act` only under a consent in force to the category, or without one where the category needs none
   * (`requires_consent: false`), and answers what it answers.
   * @throws ConsentRequiredError without one, ProcessingRefusedError where the user has objected to the category or restricted it;
   * UnavailableError where consents of the user have changed during each of five readings. `act` is then not called.
   */
  async withConsent<T>(subject: Subject, category: KeyOf<C>, act: () => T | Promise<T>): Promise<T> {
    const { user_id, guild_id } = subject;
    const read = async (): Promise<void> => {
      await this.requireConsent({ user_id, guild_id }, category);
      await this.requireProcessing({ user_id, guild_id }, category);
    };
    // What was read first may have ended while the rest was awaited.
    for (let round = 0; round < ROUNDS_MAX; round++)
      if (!(await this.cache.hasEndedDuring(String(user_id), read))) return act();
    throw refusal('The consents change while they are read: try it again.', {
      status: 503,
      code: 'service_unavailable',
    });
  }

  private async requireConsent(subject: Subject, category: string): Promise<void> {
    if (this.cache.knownBasis(category)?.needsConsent === false) return;
    const status = await this.cache.status(subject, () => this.consents.status(subject));
    if (covers(status, category) || !(await this.basisOf(category)).needsConsent) return;
    throw refusal(`The user has not consented to ${category}.`, {
      status: 403,
      code: 'consent_required',
      details: { current_status: status.status },
    });
  }

  private async requireProcessing(subject: Subject, category: string): Promise<void> {
    const load = () => this.call.send('GET /data/refusals/{user_id}', subject);
    const refusals = await this.cache.refusals(subject, load);
    const reason = await refusedBy(refusals, category, () => this.basisOf(category));
    if (reason === undefined) return;
    const done = reason === 'objection' ? 'objected to' : 'restricted';
    throw refusal(`The user has ${done} the processing of ${category}.`, {
      status: 403,
      code: 'processing_refused',
      details: { reason },
    });
  }

  private basisOf(category: string): Promise<Basis> {
    return this.cache.basis(category, async () => {
      try {
        const { requires_consent, legal_basis } = await this.categories.get(category);
        return { needsConsent: requires_consent !== false, isObjectable: OBJECTABLE.includes(legal_basis) };
      } catch (error) {
        // What is not declared can have no consent either.
        if (error instanceof NotFoundError) return { needsConsent: true, isObjectable: false };
        throw error;
      }
    });
  }

  /** After a consent has ended elsewhere, of one user or of any. `createWebhookHandler({ lethe })` does it for the calls of the service. */
  emptyConsentCache(userId?: string | bigint): void {
    this.cache.empty(userId?.toString());
  }

  /** The keys that verify certificates, receipts and the audit log. Keep them apart from what they verify. */
  async publicKeys(): Promise<KeySet> {
    return this.keySet('lethe-keys.json');
  }

  /** The keys that verify the webhook calls to a bot, of which this client needs no API key: `publicKeys` of `verifyWebhook`. */
  async webhookKeys(botId: string): Promise<KeySet> {
    return this.keySet(`lethe-webhook-keys/${inPath('botId', botId)}`);
  }

  private async keySet(name: string): Promise<KeySet> {
    const found = await this.transport.document(`/.well-known/${name}`);
    if (!Array.isArray(found['keys'])) throw unexpected(200);
    return found as unknown as KeySet;
  }
}
