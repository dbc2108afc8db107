import pg from 'pg';
import { Batches, Lanes } from './batches.mjs';
import { newId } from './ids.mjs';
import { READS, WRITES } from './postgres.sql.mjs';
import { SCHEMA } from './schema.mjs';

const READERS = 2;
const WRITERS = 2;
/** The statements are written for a probe per request, whatever the planner guesses about the size of a batch. */
const OPTIONS = '-c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off -c jit=off';

/** Lethe's statements on PostgreSQL, one statement and one commit for whatever waits in one turn of the event loop. */
export class PostgresStore {
  static async open(url) {
    const clients = Array.from(
      { length: READERS + WRITERS },
      () => new pg.Client({ connectionString: url, options: OPTIONS }),
    );
    await Promise.all(clients.map((client) => client.connect()));
    await clients[0].query(`${SCHEMA} CREATE SEQUENCE audit_events_seq CACHE 32;`);
    return new PostgresStore(clients);
  }

  constructor(clients) {
    this.client = clients[0];
    const readers = clients.slice(0, READERS).map((client) => ({ client, parameters: [] }));
    const writers = clients.slice(READERS).map((client, n) => ({ client, parameters: [n + 1] }));
    const batches = (texts, lanes) =>
      Object.entries(texts).map(([name, sql]) => [name, new Batches(lanes, name, sql)]);
    this.batches = Object.fromEntries([
      ...batches(READS, new Lanes(readers)),
      ...batches(WRITES, new Lanes(writers)),
    ]);
  }

  write(name, bot, guildId, userId, more) {
    const at = new Date().toISOString();
    const subject = { bot_id: bot.id, guild_id: guildId, user_id: userId };
    return this.batches[name]
      .run({ ...subject, at, event_id: newId(), ...more })
      .then(([row]) => row && { ...row, at });
  }

  async botOf(digest) {
    const { rows } = await this.client.query(
      'SELECT id, name, webhook_url AS "webhookUrl", webhook_secret AS secret FROM bots WHERE digest = $1',
      [digest],
    );
    return rows[0];
  }

  register({ id, platformBotId, name, webhookUrl, secret, digest }) {
    return this.client.query(
      'INSERT INTO bots (id, platform_bot_id, name, webhook_url, webhook_secret, digest) VALUES ($1, $2, $3, $4, $5, $6)',
      [id, platformBotId, name, webhookUrl, secret, digest],
    );
  }

  async declare(bot, key, fields) {
    const values = [bot.id, key, JSON.stringify(fields)];
    await this.client.query('INSERT INTO categories (bot_id, key, fields) VALUES ($1, $2, $3)', values);
    return { key };
  }

  async status(bot, guildId, userId) {
    const subject = { bot_id: bot.id, guild_id: guildId, user_id: userId };
    const [found] = await this.batches.status.run(subject);
    const { status = 'none', version = null, accepted_at = null, revoked_at = null } = found ?? {};
    return { status, version, user_id: userId, guild_id: guildId, accepted_at, revoked_at };
  }

  async submit(bot, { user_id, guild_id, category, data }) {
    const more = { category, value: JSON.stringify(data), details: JSON.stringify({ category }) };
    const stored = await this.write('submit', bot, guild_id, user_id, more);
    return stored && { user_id, guild_id, category, stored: true, updated_at: stored.at };
  }

  async revoke(bot, guildId, userId) {
    const more = { history_id: newId(), delivery_id: newId() };
    const row = await this.write('revoke', bot, guildId, userId, more);
    if (row === undefined) return undefined;
    const { id, version, requested_at, accepted_at, at: revoked_at } = row;
    const subject = { user_id: userId, guild_id: guildId };
    return { id, status: 'revoked', version, ...subject, requested_at, accepted_at, revoked_at };
  }

  async export(bot, guildId, userId) {
    const row = await this.write('export', bot, guildId, userId);
    if (row === undefined || (row.status === null && row.data === null)) return undefined;
    const { status, version, accepted_at: acceptedAt, data, at } = row;
    return { at, consent: status && { status, version, acceptedAt }, data };
  }

  async erase(bot, guildId, userId) {
    const request_id = newId();
    const begun = await this.write('begin', bot, guildId, userId, { request_id });
    if (begun === undefined) return undefined;
    const more = { request_id, delivery_id: newId() };
    const { categories, at } = await this.write('finish', bot, guildId, userId, more);
    return { request_id, status: 'completed', deleted_categories: categories, completed_at: at };
  }

  async due(bot, limit) {
    const { rows } = await this.client.query(
      `SELECT id, event, request_id AS "requestId", payload FROM webhook_deliveries
       WHERE bot_id = $1 AND status = 'pending' ORDER BY next_attempt_at LIMIT $2`,
      [bot.id, limit],
    );
    return rows;
  }

  delivered(bot, { id, requestId }, startedMs, durationMs) {
    const started_at = new Date(startedMs).toISOString();
    const more = { delivery_id: id, request_id: requestId, started_at, duration_ms: durationMs };
    return this.batches.delivered.run({ bot_id: bot.id, at: new Date().toISOString(), ...more });
  }

  async audit(bot, size, offset) {
    const rows = await this.batches.audit.run({ bot_id: bot.id, size, skipped: offset });
    const events = rows.map(({ id, guild_id, user_id, event_type, source, details, created_at }) => ({
      id,
      guild_id,
      user_id,
      event_type,
      source,
      details: details && JSON.parse(details),
      created_at,
    }));
    return { total: rows[0].total, events };
  }
}
