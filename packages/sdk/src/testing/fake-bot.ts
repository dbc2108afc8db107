import type { WebhookEvent } from '../webhook-event';
import { type Category, FakeCategories } from './fake-categories';
import { FakeConsent, type Json } from './fake-consent';
import { FakeEvents, writtenIn } from './fake-events';
import { idOf, type Ids, idsOf, keyOf, versionOf } from './fake-ids';
import { FakeKeys } from './fake-keys';
import { FakeLinks } from './fake-links';
import { FakePages } from './fake-pages';
import { FakeProcessing } from './fake-processing';
import { notFound, requireKeys } from './fake-refusal';
import { FakeServers } from './fake-servers';
import { statsOf } from './fake-stats';
import { usersOf } from './fake-users';
import { dataOf, valuesOfGuild } from './fake-values';

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
  readonly servers: FakeServers;
  readonly categories: FakeCategories;
  readonly links: FakeLinks;
  readonly keys: FakeKeys;
  readonly pages: FakePages;
  readonly erasures = new Map<string, Json>();
  readonly events: FakeEvents;
  /** The user and guild of each erasure, oldest first. */
  readonly erased: string[] = [];
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
    this.events = new FakeEvents(tools);
    this.servers = new FakeServers(tools, {
      hasUsers: (guild) => this.usersIn(guild).length > 0,
      erase: async (guild) => {
        const users = this.usersIn(guild);
        for (const ids of users) await this.forgetIn(ids);
        return users.length;
      },
    });
  }

  async requestConsent(given: Json): Promise<Json> {
    requireKeys(given);
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
    requireKeys(given);
    versionOf(given, 'consent_id');
    const { ids, consent } = this.addressed(given);
    const { view, isNew } = consent.accept(given, this.tools.nowIso(), this.categories);
    if (isNew) this.note('consent_accepted', ids, { version: view['version'] });
    return view;
  }

  declineConsent = (given: Json): Json => this.addressed(given).consent.decline(given, this.tools.nowIso());

  async revokeConsent(given: Json): Promise<Json> {
    requireKeys(given);
    const ids = idsOf(given);
    const [{ consent }, at] = [this.held(ids), this.tools.nowIso()];
    const { view, isOver } = consent.revoke(given, at, this.categories);
    this.note('consent_revoked', ids, { version: view['version'] });
    const event = { event: 'consent_revoked', ...ids, revoked_at: at } as const;
    if (isOver) await this.tools.send(this, { ...event, previous_version: consent.version });
    return view;
  }

  consentStatus = (given: Json): Json => this.held(idsOf(given)).consent.statusView;

  valuesOfGuild = (given: Json): Json[] => valuesOfGuild(this, this.subjects.values(), given);

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

  writeEvent(given: Json): Json {
    const { type, ids, details } = writtenIn(given);
    return this.note(type, this.held(ids).ids, details, 'client');
  }

  users = (given: Json): Json[] => usersOf(this, [...this.subjects.values()], given);

  stats = (given: Json): Json => statsOf({ events: this.events.all, calls: this.calls }, given, this.nowIso);

  get nowIso(): string {
    return this.tools.nowIso();
  }

  private async forgetIn(ids: Ids): Promise<Json> {
    const { newId, nowIso } = this.tools;
    const [request_id, at] = [newId(), nowIso()];
    const deleted_categories = [...this.held(ids).values.keys()];
    this.subjects.delete(keyOf(ids));
    this.links.erase(ids, this.guildsOf(ids.user_id).length > 0);
    this.note('deletion_requested', ids, { request_id });
    this.note('deletion_completed', ids, { request_id });
    this.events.erase(ids);
    this.erased.push(keyOf(ids));
    const done = { request_id, status: 'completed', deleted_categories, completed_at: at };
    const found = { ...done, ...ids, created_at: at, unrecoverable_at: at };
    this.erasures.set(request_id, { ...found, webhook_sent: this.record['webhook_url'] !== null });
    const event = { event: 'user_forgotten', request_id, ...ids, completed_at: at, notice: NOTICE } as const;
    await this.tools.send(this, event);
    return { ...done, certificate_salt: newId(), notice: NOTICE };
  }

  /** The subject of a request, named by its ids or by the `consent_id` alone. @throws FakeRefusal 404 for an unknown one */
  private addressed(given: Json): Held {
    const { consent_id: id, user_id, guild_id } = given;
    if (typeof id !== 'string' || (user_id != null && guild_id != null)) return this.held(idsOf(given));
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

  private usersIn(guild: string): Ids[] {
    const all = [...this.subjects.values()];
    return all.filter(({ isHeld, ids }) => isHeld && ids.guild_id === guild).map(({ ids }) => ids);
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
    const event = this.events.add(event_type, ids, details, source);
    Object.assign(this.subjects.get(keyOf(ids)) ?? {}, { isHeld: true });
    return event;
  }
}

const NOTICE = 'Only data stored through this service was erased.';
