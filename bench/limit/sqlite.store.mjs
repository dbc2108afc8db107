import { Database } from '../sqlite.driver.mjs';
import { newId } from './ids.mjs';
import { SCHEMA } from './schema.mjs';
import { SQL } from './sqlite.sql.mjs';

const PRAGMAS = ['synchronous = FULL', 'secure_delete = ON', 'temp_store = MEMORY', 'cache_size = -16384'];

function connect(path, options) {
  const database = new Database(path, options);
  if (!options.readonly) database.pragma('journal_mode = WAL');
  for (const pragma of PRAGMAS) database.pragma(pragma);
  return database;
}

const prepared = (database) =>
  Object.fromEntries(Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]));

/** Whatever waits in one turn of the event loop is one transaction with one fsync; reads have their own connection. */
export class SqliteStore {
  waiting = [];
  isScrubbing = false;

  static async open(url) {
    return new SqliteStore(url.replace('sqlite:', ''));
  }

  constructor(path) {
    this.writer = connect(path, {});
    this.writer.exec(SCHEMA);
    this.sql = prepared(this.writer);
    this.reads = prepared(connect(path, { readonly: true }));
    this.bounds = ['BEGIN IMMEDIATE', 'COMMIT'].map((text) => this.writer.prepare(text));
  }

  write(unit) {
    return new Promise((resolve, reject) => {
      if (this.waiting.push({ unit, resolve, reject }) === 1) setImmediate(() => this.commitGroup());
    });
  }

  commitGroup() {
    const group = this.waiting;
    this.waiting = [];
    try {
      this.bounds[0].run();
      for (const each of group) each.value = each.unit(this.sql);
      this.bounds[1].run();
      if (this.isScrubbing) this.writer.pragma('wal_checkpoint(TRUNCATE)');
      this.isScrubbing = false;
      for (const { resolve, value } of group) resolve(value);
    } catch (error) {
      if (this.writer.inTransaction) this.writer.exec('ROLLBACK');
      for (const { reject } of group) reject(error);
    }
  }

  record(sql, bot, guildId, userId, type, details, at) {
    sql.event.run(bot.id, bot.id, newId(), guildId, userId, type, JSON.stringify(details), at);
    sql.count.run(bot.id, guildId, type, bot.id, type);
  }

  queue(sql, bot, guildId, userId, event, payload, requestId = null) {
    const text = JSON.stringify({ event, ...payload });
    const now = new Date().toISOString();
    sql.queue.run(bot.id, guildId, userId, newId(), event, requestId, text, now, now);
  }

  async botOf(digest) {
    return this.reads.botOf.get(digest);
  }

  register({ id, platformBotId, name, webhookUrl, secret, digest }) {
    return this.write((sql) => void sql.register.run(id, platformBotId, name, webhookUrl, secret, digest));
  }

  declare(bot, key, fields) {
    return this.write((sql) => (sql.declare.run(bot.id, key, JSON.stringify(fields)), { key }));
  }

  async status(bot, guildId, userId) {
    const found = this.reads.status.get(bot.id, guildId, userId);
    const { status = 'none', version = null, accepted_at = null, revoked_at = null } = found ?? {};
    return { status, version, user_id: userId, guild_id: guildId, accepted_at, revoked_at };
  }

  submit(bot, { user_id, guild_id, category, data }) {
    const value = JSON.stringify(data);
    return this.write((sql) => {
      const consent = sql.consent.get(bot.id, guild_id, user_id);
      if (consent?.status !== 'accepted' || consent.erasing === 1) return undefined;
      if (sql.category.get(bot.id, category) === undefined) return undefined;
      const now = new Date().toISOString();
      sql.put.run(bot.id, guild_id, user_id, category, value, now, now);
      this.record(sql, bot, guild_id, user_id, 'data_submitted', { category }, now);
      return { user_id, guild_id, category, stored: true, updated_at: now };
    });
  }

  revoke(bot, guildId, userId) {
    return this.write((sql) => {
      const consent = sql.consent.get(bot.id, guildId, userId);
      if (consent?.status !== 'accepted') return undefined;
      const { id, version, requested_at, accepted_at } = consent;
      const now = new Date().toISOString();
      sql.revoke.run(now, bot.id, guildId, userId);
      sql.transition.run(bot.id, guildId, userId, newId(), id, version, now);
      this.record(sql, bot, guildId, userId, 'consent_revoked', { version }, now);
      const about = { user_id: userId, guild_id: guildId };
      const payload = { ...about, revoked_at: now, previous_version: version };
      this.queue(sql, bot, guildId, userId, 'consent_revoked', payload);
      return { id, status: 'revoked', version, ...about, requested_at, accepted_at, revoked_at: now };
    });
  }

  export(bot, guildId, userId) {
    return this.write((sql) => {
      if (sql.erasure.get(bot.id, guildId, userId) !== undefined) return undefined;
      const found = sql.consent.get(bot.id, guildId, userId);
      const rows = sql.values.all(bot.id, guildId, userId);
      if (found === undefined && rows.length === 0) return undefined;
      const at = new Date().toISOString();
      this.record(sql, bot, guildId, userId, 'data_exported', { format: 'record' }, at);
      const { status, version, accepted_at: acceptedAt } = found ?? {};
      const consent = found === undefined ? null : { status, version, acceptedAt };
      const pairs = rows.map((row) => `${JSON.stringify(row.category_key)}:${row.value}`);
      return { at, consent, data: `{${pairs.join(',')}}` };
    });
  }

  async erase(bot, guildId, userId) {
    const requestId = newId();
    const begun = await this.write((sql) => {
      const now = new Date().toISOString();
      this.record(sql, bot, guildId, userId, 'deletion_requested', { request_id: requestId }, now);
      if (sql.begin.run(bot.id, requestId, guildId, userId, now).changes === 0) return false;
      sql.close.run(bot.id, guildId, userId);
      return true;
    });
    return begun ? this.write((sql) => this.finishErasure(sql, bot, guildId, userId, requestId)) : undefined;
  }

  finishErasure(sql, bot, guildId, userId, requestId) {
    const subject = [bot.id, guildId, userId];
    const categories = sql.values.all(...subject).map((row) => row.category_key);
    for (const drop of ['dropValues', 'dropConsent', 'dropHistory']) sql[drop].run(...subject);
    sql.dropDetails.run(bot.id, userId, guildId);
    sql.dropAttempts.run(bot.id, bot.id, userId, guildId);
    sql.dropDeliveries.run(bot.id, userId, guildId);
    const at = new Date().toISOString();
    this.record(sql, bot, guildId, userId, 'deletion_completed', { request_id: requestId }, at);
    sql.finish.run(at, JSON.stringify(categories), bot.id, requestId);
    const payload = { request_id: requestId, user_id: userId, guild_id: guildId, completed_at: at };
    this.queue(sql, bot, guildId, userId, 'user_forgotten', payload, requestId);
    this.isScrubbing = true;
    return {
      request_id: requestId,
      status: 'completed',
      deleted_categories: categories,
      completed_at: at,
    };
  }

  async due(bot, limit) {
    return this.reads.due.all(bot.id, limit);
  }

  delivered(bot, { id, requestId }, startedMs, durationMs) {
    return this.write((sql) => {
      sql.settle.run(new Date().toISOString(), bot.id, id);
      sql.attempt.run(bot.id, id, new Date(startedMs).toISOString(), durationMs);
      if (requestId !== null) sql.sent.run(bot.id, requestId);
    });
  }

  async audit(bot, size, offset) {
    const { total } = this.reads.total.get(bot.id);
    const rows = this.reads.page.all(bot.id, size, offset);
    const events = rows.map((row) => ({ ...row, details: row.details && JSON.parse(row.details) }));
    return { total: total ?? 0, events };
  }
}
