import { AUDIT_EVENT_TYPES } from '../vocabulary';
import type { WebhookEvent } from '../webhook-event';
import { type Category, FakeCategories } from './fake-categories';
import { FakeConsent, type Json } from './fake-consent';
import { idOf, type Ids, idsOf, keyOf, versionOf } from './fake-ids';
import { FakeKeys } from './fake-keys';
import { FakeLinks } from './fake-links';
import { FakePages } from './fake-pages';
import { FakeProcessing } from './fake-processing';
import { FakeRefusal, invalid, notFound } from './fake-refusal';
import { statsOf } from './fake-stats';
import { requireOne, usersOf } from './fake-users';
import { dataOf, faultsOf, mayRead } from './fake-values';

export interface Tools {
  readonly newId: () => string;
  readonly nowIso: () => string;
  readonly send: (bot: FakeBot, event: WebhookEvent) => Promise<void>;
}

interface Value extends Json {
  readonly data: Json;
  readonly updated_at: string;
}

export interface Held {
  readonly ids: Ids;
  /** Whether anything happened, so that the user is listed. */
  readonly isHeld: boolean;
  readonly consent: FakeConsent;
  readonly values: Map<string, Value>;
  readonly processing: FakeProcessing;
}

/** One bot of the fake with everything that is stored for it. */
export class FakeBot {
  readonly servers = new Map<string, Json>();
  readonly categories: FakeCategories;
  readonly links: FakeLinks;
  readonly keys: FakeKeys;
  readonly pages: FakePages;
  readonly erasures = new Map<string, Json>();
  readonly events: Json[] = [];
  /** The time of each webhook call. */
  readonly calls: string[] = [];
  private readonly subjects = new Map<string, Held>();

  constructor(
    readonly record: Json & { readonly id: string; readonly name: string },
    readonly secret: string,
    private readonly tools: Tools,
  ) {
    this.categories = new FakeCategories(tools);
    this.links = new FakeLinks(tools);
    this.keys = new FakeKeys(tools);
    this.pages = new FakePages(tools.newId);
  }

  registerServer({ guild_id, name }: Json): Json {
    const id = idOf({ guild_id }, 'guild_id');
    const before = this.servers.get(id);
    const { newId, nowIso } = this.tools;
    const made = { id: newId(), guild_id: id, name: null, created_at: nowIso() };
    const server = {
      deletion_scheduled_for: null,
      ...(before ?? made),
      ...(typeof name === 'string' && { name }),
    };
    this.servers.set(id, server);
    return server;
  }

  async requestConsent(given: Json): Promise<Json> {
    const ids = idsOf(given);
    const asked = versionOf(given, 'categories');
    const named = given['categories'] as readonly string[] | undefined;
    const categories = named && [...new Set(named)];
    this.categories.requireAskable(categories);
    const version = asked ?? (await this.categories.versionOf(categories ?? []));
    const request = { id: this.tools.newId(), version, categories, requested_at: this.tools.nowIso() };
    const { view, isNew } = this.held(ids).consent.request(request);
    if (isNew) this.note('consent_requested', ids, { version });
    return view;
  }

  acceptConsent(given: Json): Json {
    versionOf(given, 'consent_id');
    const { ids, consent } = this.addressed(given);
    const { view, isNew } = consent.accept(given, this.tools.nowIso(), this.categories);
    if (isNew) this.note('consent_accepted', ids, { version: view['version'] });
    return view;
  }

  declineConsent = (given: Json): Json => this.addressed(given).consent.decline(given, this.tools.nowIso());

  async revokeConsent(given: Json): Promise<Json> {
    const ids = idsOf(given);
    const [{ consent }, at] = [this.held(ids), this.tools.nowIso()];
    const { view, isOver } = consent.revoke(given, at, this.categories);
    this.note('consent_revoked', ids, { version: view['version'] });
    const event = { event: 'consent_revoked', ...ids, revoked_at: at } as const;
    if (isOver) await this.tools.send(this, { ...event, previous_version: consent.version });
    return view;
  }

  consentStatus = (given: Json): Json => this.held(idsOf(given)).consent.statusView;

  submit(given: Json): Json {
    const ids = idsOf(given);
    const { category, data, mode } = given;
    if (typeof category !== 'string') throw invalid('category', 'must be a text');
    if (typeof data !== 'object' || data === null || Array.isArray(data))
      throw invalid('data', 'must be an object');
    const { consent, values, processing } = this.held(ids);
    const declared = this.permitted(consent, category);
    processing.requireStorable(declared);
    const fields = faultsOf(declared.fields, data as Json);
    if (fields.length > 0) throw new FakeRefusal('invalid_request', 'The request is malformed', { fields });
    const merged = { ...(mode === 'merge' && values.get(category)?.data), ...(data as Json) };
    const left = Object.entries(merged).filter(([, value]) => mode !== 'merge' || value !== null);
    const updated_at = this.tools.nowIso();
    values.set(category, { data: Object.fromEntries(left), updated_at });
    this.note('data_submitted', ids, { category });
    return { ...ids, category, stored: true, updated_at };
  }

  valuesOfGuild({ guild_id, category }: Json): Json[] {
    const guild = idOf({ guild_id }, 'guild_id');
    const key = this.categories.named(category).key;
    return [...this.subjects.values()].flatMap(({ ids, consent, values, processing }) => {
      const value = values.get(key);
      const isShown =
        ids.guild_id === guild && value !== undefined && mayRead(this, { consent, processing }, key);
      return isShown ? [{ user_id: ids.user_id, ...value }] : [];
    });
  }

  eraseValues(given: Json): Json {
    const ids = idsOf(given);
    const { key: category } = this.categories.named(given['category']);
    const deleted = this.held(ids).values.delete(category);
    if (deleted) this.note('data_deleted', ids, { category });
    return { deleted };
  }

  export(given: Json): Json {
    const { id, name } = this.record;
    const about = { exportedAt: this.tools.nowIso(), bot: { id, name } };
    const user = idOf(given, 'user_id');
    const isEverywhere = given['scope'] === 'all_guilds';
    const found = isEverywhere ? this.guildsOf(user) : [idOf(given, 'guild_id')];
    const guilds = found.flatMap((guildId) => {
      const { consent, values } = this.held({ user_id: user, guild_id: guildId });
      if (consent.exported === null && values.size === 0) return [];
      this.note('data_exported', { user_id: user, guild_id: guildId }, null);
      return [{ guildId, consent: consent.exported, data: dataOf(values) }];
    });
    if (guilds.length === 0) throw notFound('Data of this user');
    return isEverywhere ? { userId: user, ...about, guilds } : { userId: user, ...guilds[0], ...about };
  }

  async forget(given: Json): Promise<Json> {
    const user = idOf(given, 'user_id');
    if (given['scope'] !== 'all_guilds') return this.forgetIn(idsOf(given));
    const requests: Json[] = [];
    for (const guild_id of this.guildsOf(user))
      requests.push({ ...(await this.forgetIn({ user_id: user, guild_id })), guild_id });
    return { user_id: user, scope: 'all_guilds', status: 'completed', requests, notice: NOTICE };
  }

  async deleteServer({ guild_id }: Json): Promise<Json> {
    const guild = idOf({ guild_id }, 'guild_id');
    const users = [...this.subjects.keys()].filter((key) => key.endsWith(`/${guild}`));
    for (const key of users) await this.forgetIn({ user_id: key.split('/')[0] ?? '', guild_id: guild });
    this.servers.delete(guild);
    return { guild_id: guild, deleted: true, erased_users: users.length };
  }

  writeEvent(given: Json): Json {
    const { event_type: type, details = null } = given;
    requireOne('event_type', AUDIT_EVENT_TYPES, type);
    return this.note(String(type), this.held(idsOf(given)).ids, details, 'client');
  }

  users = (given: Json): Json[] => usersOf(this, [...this.subjects.values()], given);

  stats = (given: Json): Json => statsOf(this, given, this.nowIso);

  get nowIso(): string {
    return this.tools.nowIso();
  }

  private async forgetIn(ids: Ids): Promise<Json> {
    const { newId, nowIso } = this.tools;
    const [request_id, at] = [newId(), nowIso()];
    const deleted_categories = [...this.held(ids).values.keys()];
    this.subjects.delete(keyOf(ids));
    this.links.erase(ids, this.guildsOf(ids.user_id).length > 0);
    this.note('deletion_requested', ids, null);
    this.note('deletion_completed', ids, null);
    const done = { request_id, status: 'completed', deleted_categories, completed_at: at };
    const found = { ...done, ...ids, created_at: at, unrecoverable_at: at };
    this.erasures.set(request_id, { ...found, webhook_sent: true });
    const event = { event: 'user_forgotten', request_id, ...ids, completed_at: at, notice: NOTICE } as const;
    await this.tools.send(this, event);
    return { ...done, certificate_salt: newId(), notice: NOTICE };
  }

  /** The subject of a request, named by its ids or by the `consent_id`. @throws FakeRefusal 404 for an unknown one */
  private addressed(given: Json): Held {
    const { consent_id: id } = given;
    if (typeof id !== 'string') return this.held(idsOf(given));
    for (const held of this.subjects.values()) if (held.consent.hasRequest(id)) return held;
    throw notFound('Consent request', { current_status: 'none' });
  }

  /** In the order of the service: without any consent 403, then 404, then 403 for this category. */
  permitted(consent: FakeConsent, category: string): Category {
    if (!this.categories.needsConsent(category)) return this.categories.named(category);
    consent.require();
    const declared = this.categories.named(category);
    consent.require(category);
    return declared;
  }

  private guildsOf(user: string): string[] {
    const isHeld = ({ consent, processing, values }: Held): boolean =>
      consent.exported !== null || processing.isAny || values.size > 0;
    const held = [...this.subjects.values()].filter(isHeld);
    return held.filter(({ ids }) => ids.user_id === user).map(({ ids }) => ids.guild_id);
  }

  held(ids: Ids): Held {
    const [consent, processing] = [new FakeConsent(ids), new FakeProcessing()];
    const made = { ids, isHeld: false, consent, processing, values: new Map<string, Value>() };
    const held = this.subjects.get(keyOf(ids)) ?? made;
    this.subjects.set(keyOf(ids), held);
    return held;
  }

  note(event_type: string, ids: Ids, details: unknown, source = 'service'): Json {
    const { newId, nowIso } = this.tools;
    const event = { id: newId(), ...ids, event_type, source, details, created_at: nowIso() };
    this.events.unshift(event);
    Object.assign(this.subjects.get(keyOf(ids)) ?? {}, { isHeld: true });
    return event;
  }
}

const NOTICE = 'Only data stored through this service was erased.';
