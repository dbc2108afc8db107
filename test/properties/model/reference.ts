import type { Json } from '../../support/client';
import { type Act, GUILDS, OPEN, type Pages, USERS, WIDE, type Whom } from './acts';
import { type Happened, merged, Person, withoutNulls } from './person';

/** The predictable part of an answer: an object names the required fields, a list is complete. */
export interface Expected {
  readonly status: number;
  readonly data?: Json;
  /** Lists without an order in the contract: only their totals are compared. */
  readonly unordered?: boolean;
}

/** A version made from declarations; equal declarations have equal versions. */
export const DIGEST = 'digest:';

/** A declared category. */
interface Declared {
  readonly key: string;
  readonly fields: boolean;
  readonly requiresConsent: boolean;
  retention: number | null;
}

type Doing<Does extends Act['do']> = Extract<Act, { do: Does }>;

const [REFUSED, MISSING] = [{ status: 400 }, { status: 404 }];

/** The contract, implemented with a few maps in memory. */
export class Model {
  private readonly people = Array.from({ length: USERS * GUILDS }, () => new Person());
  private readonly declared: Declared[] = [];
  private readonly servers: { guild: number; name: string | null }[] = [];
  private readonly log: Happened[] = [];
  /** The answered consent requests, each with its serial number and subject. */
  private readonly asked: { serial: number; whom: Whom }[] = [];
  private readonly erased: { whom: Whom; keys: string[] }[] = [];
  private serials = 0;
  /** Erases several subjects by one act; the order of their events is open. */
  private isOrderOpen = false;

  play(act: Act): Expected {
    return (this.handlers[act.do] as (given: Act) => Expected)(act);
  }

  private readonly handlers: { readonly [Does in Act['do']]: (act: Doing<Does>) => Expected } = {
    request: ({ whom, version, categories }) => this.request(whom, version, categories),
    accept: (act) => this.acceptVersion(act),
    revoke: ({ whom, categories }) => this.revoke(whom, categories),
    forget: ({ whom }) => this.forget(whom),
    status: ({ whom }) => this.status(whom),
    export: (act) => this.export(act),
    submit: ({ whom, category, data, merge }) => this.submit(whom, category, data, merge),
    'guide-request': ({ user, categories }) => this.request({ user, guild: WIDE }, null, categories),
    'guide-accept': ({ nth, categories }) => this.acceptNth(nth, categories),
    'guide-revoke': ({ user, categories }) => this.revoke({ user, guild: WIDE }, categories),
    'guide-status': ({ user }) => this.status({ user, guild: WIDE }),
    'guide-submit': ({ user, category, data }) => this.submit({ user, guild: WIDE }, category, data, false),
    'guide-declare': ({ categories }) => this.declare(categories, false),
    declare: ({ category }) => this.declare([category], true),
    withdraw: ({ category }) => this.withdraw(category),
    view: ({ category }) => {
      const found = this.find(category);
      return found === undefined ? MISSING : { status: 200, data: viewOf(found) };
    },
    change: ({ category, retention }) => this.change(category, retention),
    categories: ({ pages }) => paged('categories', this.declared.map(viewOf), pages),
    servers: ({ pages }) =>
      paged(
        'servers',
        this.servers.map(({ name }) => ({ name })),
        pages,
      ),
    server: ({ guild, name }) => this.server(guild, name),
    'erase-guild': ({ guild }) => this.eraseGuild(guild),
    'forget-status': ({ nth }) => {
      const found = this.erased[nth];
      const data = { status: 'completed', deleted_categories: found?.keys, webhook_sent: false };
      return found === undefined ? MISSING : { status: 200, data };
    },
    event: ({ whom, type, details }) => {
      this.log.push({ ...whom, type, source: 'client', details });
      return { status: 201, data: { event_type: type, source: 'client', details } };
    },
    events: (act) => this.events(act),
    rename: ({ name }) => ({ status: 200, data: { name } }),
  };

  private request(whom: Whom, given: string | null, categories: readonly string[] | null): Expected {
    const declared = (categories ?? []).map((key) => this.find(key));
    if (declared.includes(undefined)) return MISSING;
    if (this.namesOpen(categories)) return REFUSED;
    const person = this.person(whom);
    const version = given ?? DIGEST + JSON.stringify(declared.map((each) => JSON.stringify(each)).sort());
    const before = person.repeats(version, categories);
    if (before === undefined) {
      person.ask({ serial: ++this.serials, version, categories });
      this.record(whom, 'consent_requested', { version, ...(categories && { categories }) });
    }
    const serial = before === 'accepted' ? person.serial : (person.waiting?.serial ?? 0);
    this.asked.push({ serial, whom });
    return { status: 201, data: { status: before ?? 'pending', version, ...(categories && { categories }) } };
  }

  private acceptVersion({ whom, version, categories }: Doing<'accept'>): Expected {
    return this.person(whom).waiting?.version === version ? this.accept(whom, categories) : MISSING;
  }

  private acceptNth(nth: number, categories: readonly string[] | null): Expected {
    const request = this.asked[nth];
    if (request === undefined) return MISSING;
    const person = this.person(request.whom);
    if (person.waiting?.serial === request.serial) return this.accept(request.whom, categories);
    return person.hasGiven(request.serial, categories) ? { status: 200, data: this.viewOf(person) } : MISSING;
  }

  private accept(whom: Whom, named: readonly string[] | null): Expected {
    const person = this.person(whom);
    const { waiting } = person;
    if (waiting === null || (named ?? []).some((key) => this.find(key) === undefined)) return MISSING;
    const { version, categories } = waiting;
    if (categories === null ? this.namesOpen(named) : (named ?? []).some((key) => !categories.includes(key)))
      return REFUSED;
    person.accept(waiting, named);
    const granted =
      person.categories &&
      [...person.categories].flatMap(([key, state]) => (state === 'accepted' ? [key] : []));
    this.record(whom, 'consent_accepted', { version, ...(granted && { categories: granted }) });
    return { status: 200, data: this.viewOf(person) };
  }

  private revoke(whom: Whom, withdrawn: readonly string[] | null): Expected {
    const person = this.person(whom);
    if (person.status !== 'accepted') return MISSING;
    const { version } = person;
    if (withdrawn !== null) {
      if (withdrawn.some((key) => this.find(key) === undefined)) return MISSING;
      if (this.namesOpen(withdrawn)) return REFUSED;
      if (!withdrawn.some((key) => person.grants(key))) return MISSING;
      if (
        person.revokeSome(
          withdrawn,
          this.declared.filter((each) => each.requiresConsent).map(({ key }) => key),
        )
      ) {
        this.record(whom, 'consent_revoked', { version, categories: withdrawn });
        return { status: 200, data: this.viewOf(person) };
      }
    }
    person.revokeAll();
    this.record(whom, 'consent_revoked', { version });
    return { status: 200, data: this.viewOf(person) };
  }

  private viewOf(person: Person): Json {
    const categories = person.states();
    return { status: person.status, version: person.version, ...(categories && { categories }) };
  }

  private status(whom: Whom): Expected {
    const person = this.person(whom);
    const isUnasked = person.status === 'none' && whom.guild === WIDE;
    const categories = person.states() ?? (isUnasked ? [] : undefined);
    const data = {
      status: person.status,
      version: person.version,
      pending_version: person.pending?.version,
      categories,
    };
    return { status: 200, data };
  }

  private submit(whom: Whom, category: string, data: Json, merge: boolean): Expected {
    const person = this.person(whom);
    const declared = this.find(category);
    const isOpen = declared?.requiresConsent === false;
    if (!isOpen && person.status !== 'accepted') return { status: 403 };
    if (declared === undefined) return MISSING;
    if (!isOpen && !person.grants(category)) return { status: 403 };
    const { text, number } = data;
    if (declared.fields && text != null && typeof text !== 'string') return REFUSED;
    if (declared.fields && number != null && typeof number !== 'number') return REFUSED;
    const before = person.data.get(category);
    const after = withoutNulls((merge ? merged(before ?? {}, data) : data) as Json);
    const isEmpty = Object.keys(after).length === 0;
    this.record(whom, isEmpty && before !== undefined ? 'data_deleted' : 'data_submitted', { category });
    if (isEmpty) person.data.delete(category);
    else person.data.set(category, JSON.parse(JSON.stringify(after)) as Json);
    return { status: 200, data: { category, stored: true } };
  }

  private forget(whom: Whom): Expected {
    const keys = this.erase(whom);
    this.erased.push({ whom, keys });
    return { status: 200, data: { status: 'completed', deleted_categories: keys } };
  }

  private erase(whom: Whom): string[] {
    const keys = this.person(whom).erase();
    this.record(whom, 'deletion_requested', {});
    for (const event of this.log)
      if (event.user === whom.user && event.guild === whom.guild && event.isErased !== true)
        Object.assign(event, { details: null, isErased: true } satisfies Partial<Happened>);
    // The event names the request and no user.
    this.log.push({ ...whom, type: 'deletion_completed', source: 'service', details: {}, isErased: true });
    return keys;
  }

  private export({ whom, full }: Doing<'export'>): Expected {
    const person = this.person(whom);
    const isAsked = person.status !== 'none';
    if (!person.wasAsked && person.data.size === 0) return MISSING;
    const events = this.log.filter(({ user, guild }) => user === whom.user && guild === whom.guild);
    const entries = [...person.data].sort(([one], [other]) => (one < other ? -1 : 1));
    const data = {
      consent: isAsked ? { status: person.status, version: person.version } : null,
      data: Object.fromEntries(entries),
      ...(full && { audit_events: events.map(shown), categories: entries.map(([key]) => ({ key })) }),
    };
    this.record(whom, 'data_exported', { format: full ? 'full' : 'record' });
    return { status: 200, data };
  }

  private declare(keys: readonly string[], fields: boolean): Expected {
    if (keys.some((key) => this.find(key) !== undefined)) return { status: 409 };
    const added = keys.map((key): Declared => ({
      key,
      fields,
      requiresConsent: !fields || key !== OPEN,
      retention: null,
    }));
    // Lists are in the order of storing, also those of one request.
    this.declared.push(...added);
    return { status: 201, data: fields ? viewOf(added[0] as Declared) : { categories: added.map(viewOf) } };
  }

  private change(key: string, retention: number | null): Expected {
    const category = this.find(key);
    if (category === undefined) return MISSING;
    category.retention = retention;
    return { status: 200, data: viewOf(category) };
  }

  private withdraw(category: string): Expected {
    const at = this.declared.findIndex(({ key }) => key === category);
    if (at < 0) return MISSING;
    this.declared.splice(at, 1);
    const holding = everyone().filter((whom) => this.person(whom).data.delete(category));
    for (const whom of holding) this.record(whom, 'data_deleted', { category });
    for (const person of this.people) person.forgetCategory(category);
    this.isOrderOpen ||= holding.length > 1;
    return { status: 200, data: { key: category, deleted: true } };
  }

  private server(guild: number, name: string | null): Expected {
    const known = this.servers.find((server) => server.guild === guild);
    if (known === undefined) this.servers.push({ guild, name });
    else known.name = name ?? known.name;
    return { status: 201, data: { name: name ?? known?.name ?? null } };
  }

  private eraseGuild(guild: number): Expected {
    const at = this.servers.findIndex((server) => server.guild === guild);
    const left = everyone().filter((whom) => whom.guild === guild && this.isKnown(whom));
    if (at < 0 && left.length === 0) return MISSING;
    for (const whom of left) this.erase(whom);
    if (at >= 0) this.servers.splice(at, 1);
    this.isOrderOpen ||= left.length > 1;
    return { status: 200, data: { deleted: true, erased_users: left.length } };
  }

  private isKnown(whom: Whom): boolean {
    const said = ({ user, guild, isErased }: Happened) =>
      user === whom.user && guild === whom.guild && isErased !== true;
    return this.person(whom).wasAsked || this.log.some(said);
  }

  private events({ user, guild, type, pages }: Doing<'events'>): Expected {
    const matching = this.log.filter(
      (event) =>
        (user === null || event.user === user) &&
        (guild === null || event.guild === guild) &&
        (type === null || event.type === type),
    );
    const unordered = this.isOrderOpen && (user === null || guild === null);
    const expected = paged('events', matching.map(shown).reverse(), pages);
    if (!unordered || expected.data === undefined) return expected;
    return { status: 200, data: { pagination: expected.data['pagination'] }, unordered };
  }

  private namesOpen(categories: readonly string[] | null): boolean {
    return (categories ?? []).some((key) => this.find(key)?.requiresConsent === false);
  }

  private record(whom: Whom, type: string, details: Json): void {
    this.log.push({ ...whom, type, source: 'service', details });
  }

  private person({ user, guild }: Whom): Person {
    return this.people[guild * USERS + user] as Person;
  }

  private find(key: string): Declared | undefined {
    return this.declared.find((each) => each.key === key);
  }
}

const everyone = (): Whom[] =>
  Array.from({ length: USERS * GUILDS }, (_, at) => ({ user: at % USERS, guild: Math.floor(at / USERS) }));

const shown = ({ type, source, details }: Happened): Json => ({ event_type: type, source, details });

const viewOf = ({ key, retention }: Declared): Json => ({ key, retention_days: retention });

function paged(name: string, all: readonly Json[], { page, page_size: size }: Pages): Expected {
  if (page < 1) return REFUSED;
  const pagination = {
    page,
    page_size: size,
    total_count: all.length,
    total_pages: Math.ceil(all.length / size),
    // A cursor is checked by what it leads to, in a test of its own.
    ...(page * size >= all.length && { next: null }),
  };
  return { status: 200, data: { [name]: all.slice((page - 1) * size, page * size), pagination } };
}
