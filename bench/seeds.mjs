import { ERASED_TEXT } from './lethe.keys.mjs';
import { GUILD, userId } from './tenant.mjs';

const TYPES = ['consent_requested', 'consent_accepted', 'data_submitted', 'data_exported'];
const OF_SUBJECTS = [
  'webhook_attempts',
  'webhook_deliveries',
  'deletion_requests',
  'user_data',
  'consent_history',
  'consents',
];
/** Users that were erased before the measurement. */
const ERASED = 5_000;
const FIRST_USER = BigInt(userId(0));
const DIGEST_LENGTH = 20;

/**
 * Inserts rows into the tables of a contestant: a million events over the interface would take minutes. Columns that a
 * table does not have are left out, so that one seed serves all contestants.
 */
export class Seeds {
  /** `keys` are those of a Lethe, which names users and guilds by digests. */
  constructor(database, botId, keys) {
    Object.assign(this, { database, botId, keys });
    if (keys !== undefined) database.useDigests(keys.digestKey, DIGEST_LENGTH);
  }

  /** What a contestant stores as the name of a user or guild. */
  named(kind, id) {
    return this.keys === undefined ? id : this.database.digest(`'${kind}/${this.botId}/' || ${id}`);
  }

  text(value) {
    return `'${value}'`;
  }

  id(kind, n = 'n') {
    return `'01900000-0000-7000-${kind}-' || ${this.database.padded(n, 12)}`;
  }

  user(n) {
    return this.named('user', this.database.cast(`CAST(${FIRST_USER} + (${n}) AS text)`, 'text'));
  }

  guild() {
    return this.named('guild', this.text(GUILD));
  }

  /** Details of an event: none, or those of an erased user, since Lethe reads only what it has encrypted itself. */
  get details() {
    return this.keys === undefined ? 'NULL' : this.text(ERASED_TEXT);
  }

  /** Millisecond after millisecond, as Lethe writes times. */
  time(n) {
    const part = (divisor, modulus, digits) =>
      this.database.padded(`(${n}) / ${divisor} % ${modulus}`, digits);
    return `'2024-01-01T' || ${part(3_600_000, 24, 2)} || ':' || ${part(60_000, 60, 2)} || ':' || ${part(1000, 60, 2)} || '.' || ${part(1, 1000, 3)} || 'Z'`;
  }

  async insert(table, values, from, to) {
    const columns = await this.database.columns(table);
    const names = Object.keys(values).filter((name) => name in columns);
    if (names.length === 0) return [];
    const list = names.map((name) => this.database.cast(values[name], columns[name]));
    return [
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${list.join(', ')} FROM ${this.database.series(from, to)}`,
    ];
  }

  /**
   * Every user has consented and has one category stored, and some others are erased already; whatever else was there
   * about users is deleted. With `values: false` nothing is stored: Lethe refuses values that it has not encrypted.
   */
  async subjects(count, { values = true } = {}) {
    const stored = values ? await this.storedValues(count) : [];
    const rows = [
      ...(await this.consents(count)),
      ...stored,
      ...(await this.erased(count, count + ERASED - 1)),
    ];
    await this.database.run(...(await this.emptied()), ...rows);
    await this.database.analyze?.(await this.present());
  }

  get shared() {
    const at = this.text('2024-01-01T00:00:00.000Z');
    const times = { requested_at: at, accepted_at: at, created_at: at, updated_at: at };
    return { bot_id: this.text(this.botId), guild_id: this.guild(), user_id: this.user('n'), ...times };
  }

  async consents(count) {
    const { shared } = this;
    const version = this.text('1.0');
    const consent = { ...shared, id: this.id('9000'), status: this.text('accepted'), version, erasing: '0' };
    const ids = { id: this.id('a000'), consent_id: this.id('9000') };
    const history = { ...shared, ...ids, action: this.text('accepted'), version };
    return [
      ...(await this.insert('consents', consent, 0, count - 1)),
      ...(await this.insert('consent_history', history, 0, count - 1)),
    ];
  }

  async storedValues(count) {
    const value = this.text(JSON.stringify({ nickname: 'Robin', level: 1, birthday: '2000-02-29' }));
    const data = { ...this.shared, id: this.id('b000'), category_key: this.text('profile'), value };
    return this.insert('user_data', data, 0, count - 1);
  }

  /** Without any rows PostgreSQL would plan for tables that stay empty. */
  async erased(from, to) {
    const { shared } = this;
    const at = shared.created_at;
    const ended = { completed_at: at, finished_at: at, next_attempt_at: at, give_up_at: at, started_at: at };
    const deletion = { id: this.id('c000'), status: this.text('completed'), webhook_sent: '1' };
    const categories = this.text('["profile"]');
    const call = { id: this.id('d000'), event: this.text('user_forgotten'), request_id: this.id('c000') };
    const sent = { payload: this.text('{}'), status: this.text('delivered'), attempts: '1', retries: '0' };
    const attempt = {
      delivery_id: this.id('d000'),
      number: '1',
      duration_ms: '1',
      outcome: this.text('confirmed'),
    };
    const rows = {
      deletion_requests: { ...deletion, deleted_categories: categories },
      webhook_deliveries: { ...call, ...sent },
      webhook_attempts: attempt,
    };
    const inserts = [];
    for (const [table, row] of Object.entries(rows))
      inserts.push(...(await this.insert(table, { ...shared, ...ended, ...row }, from, to)));
    return inserts;
  }

  async present() {
    const tables = [];
    for (const table of OF_SUBJECTS)
      if (Object.keys(await this.database.columns(table)).length > 0) tables.push(table);
    return tables;
  }

  async emptied() {
    return (await this.present()).map((table) => this.database.empty(table));
  }

  /** Events `from` to `to` of a guild whose events are shared evenly by `users`. */
  async events(from, to, users) {
    const types = TYPES.map((type, n) => `WHEN ${n} THEN '${type}'`).join(' ');
    const event = {
      bot_id: this.text(this.botId),
      seq: 'n',
      id: this.id('8000'),
      guild_id: this.guild(),
      user_id: this.user(`n % ${users}`),
      event_type: `CASE n % ${TYPES.length} ${types} END`,
      source: this.text('service'),
      details: this.details,
      created_at: this.time('n'),
    };
    await this.database.run(...(await this.insert('audit_events', event, from, to)));
  }

  /** The kept counts, and where there is one the sequence, as they follow from the events. */
  async counted() {
    const columns = await this.database.columns('audit_counts');
    if (!('total' in columns)) return;
    const writer = 'writer' in columns ? ['writer', '0'] : [];
    const into = ['bot_id', 'guild_id', 'event_type', writer[0], 'total'].filter(Boolean).join(', ');
    const counts = (guild) =>
      `INSERT INTO audit_counts (${into}) SELECT ${['bot_id', guild, 'event_type', writer[1], 'COUNT(*)'].filter(Boolean).join(', ')}
       FROM audit_events GROUP BY ${guild === 'guild_id' ? 'bot_id, guild_id, event_type' : 'bot_id, event_type'}`;
    await this.database.run('DELETE FROM audit_counts', counts('guild_id'), counts("''"));
    await this.database.advance?.('audit_events_seq', 'SELECT MAX(seq) FROM audit_events');
  }
}
