import { randomBytes } from 'node:crypto';
import type { Keyring, SubjectDigests } from '@app/crypto';
import { type Bot, field } from './bot';
import type { ByteSearch } from './byte-search';
import type { TestDatabase } from './database';
import { keysOf, storedIds } from './digests';
import type { SubjectIds } from './snowflakes';

const SECRET_BYTES = 32;
/** Users that share a guild. */
const GUILD_SIZE = 10;
const CALLERS = 64;

/** A user with texts that occur nowhere else. */
export interface Person extends SubjectIds {
  readonly marker: string;
  readonly version: string;
}

/** Ids whose digits and bytes occur by no chance elsewhere. */
export function randomSnowflake(): string {
  return (10n ** 17n + (randomBytes(8).readBigUInt64BE() % (9n * 10n ** 17n))).toString();
}

const randomText = (): string => randomBytes(18).toString('base64url');

/** Some users, ten in each guild. */
export function people(count: number): Person[] {
  let guildId = '';
  return Array.from({ length: count }, (_, at) => {
    if (at % GUILD_SIZE === 0) guildId = randomSnowflake();
    return { user_id: randomSnowflake(), guild_id: guildId, marker: randomText(), version: randomText() };
  });
}

export const idsOf = ({ user_id, guild_id }: SubjectIds): SubjectIds => ({ user_id, guild_id });

/** Lets some callers work through a list. */
export async function workThrough<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  callers = CALLERS,
): Promise<void> {
  const left = items.values();
  const caller = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

export async function hasCategories(bot: Bot): Promise<void> {
  await bot.hasCategory('profile', [field('value'), field('extra', 'json')]);
}

/** Leaves the text of a person where a bot needs one call, or for every third where it needs a consent. */
export async function livesShortly(bot: Bot, person: Person, at: number): Promise<void> {
  const who = idsOf(person);
  const details = { text: person.marker };
  if (!hasConsent(at))
    return void (await bot.post('/audit/event', { ...who, event_type: 'data_exported', details }));
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: person.marker });
}

/** Whether the person at this place of a list has a consent after {@link livesShortly}. */
export const hasConsent = (at: number): boolean => at % 3 === 0;

/** Leaves the texts of a person in every place that has room for them. */
export async function livesFully(bot: Bot, person: Person, at: number): Promise<void> {
  const { marker, version } = person;
  const who = idsOf(person);
  if (at % GUILD_SIZE === 0) await bot.post('/servers/register', { guild_id: who.guild_id, name: marker });
  await bot.hasConsent(who, version);
  const submit = { ...who, category: 'profile', data: { value: marker, extra: { deep: [marker] } } };
  await bot.post('/data/submit', submit, { 'idempotency-key': marker });
  await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: marker } });
  await bot.hasData(who, 'profile', { value: `${marker} `.repeat(20) });
  await bot.export(who, '&format=full');
  // The withdrawal is sent to the receiver, with the ids.
  if (at % 4 === 0) await bot.hasRevoked(who);
}

/** Adds everything by which the people could be known: ids, values, their encrypted keys, and the secrets in these. */
export async function addTraces(
  search: ByteSearch,
  database: TestDatabase,
  keyring: Keyring,
  digests: SubjectDigests,
  bot: Bot,
  persons: readonly Person[],
): Promise<void> {
  const rows = await database.rows<{ user_id: string; id: string; sealed: string }>(
    `SELECT user_id, id, sealed FROM subjects JOIN keys.subject_keys stored ON stored.id = subjects.key_id
     WHERE bot_id = ?`,
    bot.id,
  );
  const keyOf = new Map(rows.map((row) => [row.user_id, row]));
  for (const guildId of new Set(persons.map(({ guild_id }) => guild_id))) addId(search, guildId);
  for (const person of persons) {
    addId(search, person.user_id);
    search.addPieces('value', person.marker);
    search.addPieces('version', person.version);
    const stored = keyOf.get(storedIds(digests, bot.id, person).user_id);
    if (stored === undefined) throw new Error('the subject has no key');
    search.addPieces('key', stored.sealed.slice(stored.sealed.lastIndexOf('.') + 1));
    const secret = keyring.open(stored.sealed, `subject_keys/${stored.id}`).subarray(0, SECRET_BYTES);
    for (const bytes of keysOf(secret))
      for (const spelling of [
        bytes,
        ...(['hex', 'base64', 'base64url'] as const).map((as) => bytes.toString(as)),
      ])
        search.addPieces('secret', spelling);
  }
}

/** As a text, and as a number of eight bytes in either order. */
function addId(search: ByteSearch, id: string): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(id));
  search.add('id', id);
  search.add('id', bytes);
  search.add('id', Buffer.from(bytes).reverse());
}

/** What living users do, until it is ended or the service is killed. */
export class MixedLoad {
  /** Answered acts. */
  acts = 0;
  private isOver = false;
  private readonly clients: readonly Promise<void>[];

  constructor(
    private readonly bot: Bot,
    private readonly living: readonly Person[],
    clients = 4,
  ) {
    this.clients = Array.from({ length: clients }, (_, client) => this.act(client, clients));
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async act(first: number, step: number): Promise<void> {
    const { bot, living } = this;
    for (let at = first; !this.isOver; at += step) {
      const person = living[at % living.length];
      if (person === undefined) return;
      const who = idsOf(person);
      const submit = { ...who, category: 'profile', data: { value: person.marker } };
      try {
        await bot.post('/data/submit', submit);
        await bot.export(who, '&format=full');
        await bot.get(`/audit/events?user_id=${who.user_id}`);
        this.acts += 3;
      } catch (error) {
        // The connection was cut.
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  }
}
