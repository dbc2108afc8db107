import { BOT_WIDE_GUILD_ID, type ConsentStatus as Status } from '../vocabulary';
import { FakeRefusal, invalid, notFound } from './fake-refusal';

export type Json = Readonly<Record<string, unknown>>;

/** What the bot has declared. */
export interface Declared {
  readonly keys: readonly string[];
  needsConsent(key: string): boolean;
  requireAskable(keys: unknown): void;
}

interface Asked {
  readonly id: string;
  readonly version: string;
  readonly categories: readonly string[] | undefined;
  readonly requested_at: string;
}

/** The consent of one subject in the fake, with its transitions. */
export class FakeConsent {
  private status: Status = 'none';
  private inForce: Asked | undefined;
  private waiting: Asked | undefined;
  private granted: Map<string, Status> | undefined;
  private acceptedAt: string | null = null;
  private revokedAt: string | null = null;
  private declinedAt: string | null = null;
  /** The time of the last request or decision. */
  changedAt: string | null = null;

  constructor(private readonly ids: { readonly user_id: string; readonly guild_id: string }) {}

  /** Whether the state changed. What waits already or is granted already is no new request. */
  request(asked: Asked): { view: Json; isNew: boolean } {
    const { categories } = asked;
    const isWaiting =
      this.waiting?.version === asked.version && isSameSet(this.waiting.categories, categories);
    const isGranted =
      this.status === 'accepted' &&
      this.version === asked.version &&
      (categories ?? []).every((key) => this.covers(key));
    const known = isWaiting ? this.waiting : isGranted ? this.inForce : undefined;
    if (known === undefined)
      Object.assign(this, { waiting: asked, declinedAt: null, changedAt: asked.requested_at });
    const { id, version, requested_at } = known ?? asked;
    const status = isGranted && !isWaiting ? 'accepted' : 'pending';
    return {
      view: { id, status, version, requested_at, ...(categories && { consent_id: id, categories }) },
      isNew: known === undefined,
    };
  }

  hasRequest(id: string): boolean {
    return id === this.waiting?.id || id === this.inForce?.id;
  }

  /** Whether a call means this request; all that it names has to agree. */
  private isMeant(asked: Asked | undefined, given: Json): asked is Asked {
    const { consent_id: id, consent_version: version, user_id, guild_id } = given;
    const pairs = [
      ...[[id, asked?.id] as const, [version, asked?.version] as const],
      ...[[user_id, this.ids.user_id] as const, [guild_id, this.ids.guild_id] as const],
    ];
    return asked !== undefined && pairs.every(([named, own]) => (named ?? own) === own);
  }

  /** Whether an acceptance names the consent in force by its id and would change nothing. */
  private isRepeated(given: Json): boolean {
    const { consent_id: id, categories } = given;
    const keys = [...(this.granted ?? [])].filter(([, status]) => status === 'accepted').map(([key]) => key);
    const named = [...new Set((categories as readonly string[] | undefined) ?? this.granted?.keys())];
    const isNamed = id !== undefined && this.isMeant(this.inForce, given);
    return this.status === 'accepted' && isNamed && isSameSet(keys, named);
  }

  /**
   * Whether it is new, unlike a repeat.
   * @throws FakeRefusal 404 without a request that waits for this version, and for a category that is not declared
   */
  accept(given: Json, at: string, declared: Declared): { view: Json; isNew: boolean } {
    if (this.isRepeated(given)) return { view: this.view, isNew: false };
    const { categories } = given;
    const asked = this.waiting;
    if (!this.isMeant(asked, given)) throw notFound('Consent request', { current_status: this.current });
    const named = categories as readonly string[] | undefined;
    if (named?.some((key) => !declared.keys.includes(key))) throw notFound('Category');
    if (asked.categories === undefined) declared.requireAskable(named);
    const unasked = (named ?? []).findIndex((key) => asked.categories?.includes(key) === false);
    if (unasked >= 0) throw invalid(`categories[${unasked}]`, 'was not part of this consent request');
    const keys = asked.categories ?? named;
    this.granted =
      keys && new Map(keys.map((key) => [key, (named ?? keys).includes(key) ? 'accepted' : 'none']));
    Object.assign(this, { inForce: asked, waiting: undefined, status: 'accepted', revokedAt: null });
    Object.assign(this, { acceptedAt: at, changedAt: at });
    return { view: this.view, isNew: true };
  }

  /** @throws FakeRefusal 404 without a request that waits */
  decline(given: Json, at: string): Json {
    if (!this.isMeant(this.waiting, { ...given, consent_version: undefined }))
      throw notFound('Consent request', { current_status: this.current });
    Object.assign(this, { waiting: undefined, declinedAt: at, changedAt: at });
    return this.statusView;
  }

  /**
   * Whether the consent has ended, or some categories of it.
   * @throws FakeRefusal 404 without a consent in force, for a category that is not declared, and where none is granted
   */
  revoke({ categories }: Json, at: string, declared: Declared): { view: Json; isOver: boolean } {
    if (this.status !== 'accepted') throw notFound('Consent', { current_status: this.current });
    const named = categories as readonly string[] | undefined;
    declared.requireAskable(named);
    if (named?.some((key) => this.covers(key)) === false)
      throw notFound('Consent to these categories', { current_status: this.current });
    this.granted ??=
      named &&
      new Map(declared.keys.filter((key) => declared.needsConsent(key)).map((key) => [key, 'accepted']));
    for (const [key, status] of this.granted ?? [])
      if (status === 'accepted' && named?.includes(key) !== false) this.granted?.set(key, 'revoked');
    const isOver = ![...(this.granted?.values() ?? [])].includes('accepted');
    this.changedAt = at;
    if (isOver) Object.assign(this, { status: 'revoked', waiting: undefined, revokedAt: at });
    return { view: this.view, isOver };
  }

  /** @throws FakeRefusal 403 `consent_required` without a consent in force, and where it does not cover the category */
  require(category?: string): void {
    if (category === undefined ? this.status === 'accepted' : this.covers(category)) return;
    throw new FakeRefusal('consent_required', 'The user has not accepted', { current_status: this.current });
  }

  covers(category: string): boolean {
    const isGranted = this.granted === undefined || this.granted.get(category) === 'accepted';
    return this.status === 'accepted' && isGranted;
  }

  /** The state of a category; undefined where consent and request are not about it. */
  stateOf(category: string, isNeeded = true): Status | undefined {
    if (this.current === 'none') return undefined;
    const named = this.categories?.find(({ key }) => key === category)?.status;
    if (named !== undefined || !isNeeded) return named;
    if (this.categories === undefined) return this.current;
    return this.waiting !== undefined && this.waiting.categories === undefined ? 'pending' : undefined;
  }

  get version(): string | undefined {
    return this.inForce?.version;
  }

  /** As `GET /consents/status` answers it. */
  get statusView(): Json {
    const { version, waiting, acceptedAt, revokedAt, declinedAt } = this;
    const isAsked = this.current === 'pending';
    const isBeside = !isAsked && waiting !== undefined;
    const isBotWide = this.ids.guild_id === BOT_WIDE_GUILD_ID;
    const categories = this.current === 'none' && isBotWide ? [] : this.categories;
    return {
      ...{ status: this.current, ...this.ids, accepted_at: isAsked ? null : acceptedAt },
      ...{ revoked_at: isAsked ? null : revokedAt, declined_at: declinedAt },
      version: (isAsked ? waiting?.version : version) ?? null,
      ...(isBeside && { pending_version: waiting.version }),
      ...(categories !== undefined && { categories }),
    };
  }

  get exported(): Json | null {
    if (this.current === 'none') return null;
    const { status, version, accepted_at: acceptedAt } = this.statusView;
    return { status, version, acceptedAt };
  }

  private get view(): Json {
    const { id, version, requested_at } = this.inForce ?? {};
    const { status, categories, acceptedAt: accepted_at, revokedAt: revoked_at } = this;
    const decided = { id, status, version, ...this.ids, requested_at, accepted_at, revoked_at };
    return { ...decided, ...(categories && { categories }) };
  }

  private get current(): Status {
    return this.status !== 'accepted' && this.waiting !== undefined ? 'pending' : this.status;
  }

  /** What was decided, and `pending` for what a request beside it asks for; alone it is all that counts. */
  private get categories(): readonly { key: string; status: Status }[] | undefined {
    const asked = this.waiting?.categories;
    const decided = this.current === 'pending' ? asked && new Map<string, Status>() : this.granted;
    if (decided === undefined) return undefined;
    const found = new Map(decided);
    for (const key of asked ?? []) if (found.get(key) !== 'accepted') found.set(key, 'pending');
    return [...found].map(([key, status]) => ({ key, status }));
  }
}

function isSameSet(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((key) => other.includes(key));
}
