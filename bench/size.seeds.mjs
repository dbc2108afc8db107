import { Seeds } from './seeds.mjs';
import { GUILD, userId } from './tenant.mjs';

/** Rows of one transaction: limits the log that the database keeps meanwhile. */
const CHUNK = 500_000;
const GUILDS = 10;
const EVENTS_PER_USER = 50;
/** One webhook call for this many values. */
const ROWS_PER_DELIVERY = 10;
/** Values of each user, one per category. */
export const VALUES_PER_USER = 20;
/** The number of measured users, and the begin of their ids: above all others. */
export const SUBJECTS = 200;
const FIRST_SUBJECT = 900_000_000;
/** The oldest events of the bot are this many of a rare type. */
export const RARE = 5;
export const RARE_TYPE = 'deletion_failed';

export const subjectIds = () => Array.from({ length: SUBJECTS }, (_, n) => userId(FIRST_SUBJECT + n));
/** A user with {@link EVENTS_PER_USER} events. */
export const someUser = (n) => userId(n);

/** The growing tables: values and events of other users, and measured subjects with a fixed number of rows. */
export class GrowingSeeds extends Seeds {
  rows = 0;
  ahead = 0;

  get shared() {
    return { ...super.shared, guild_id: this.guild() };
  }

  guild(n = 'n') {
    return this.named('guild', `CAST(${GUILD} + (${n}) % ${GUILDS} AS text)`);
  }

  /** That of the measured subjects. */
  get firstGuild() {
    return super.guild();
  }

  /** Until others have `rows` values and the bot has `rows` events. */
  async grow(rows, { values = true } = {}) {
    const [{ last }] = await this.database.all('SELECT COALESCE(MAX(seq), 0) AS last FROM audit_events');
    this.ahead = Number(last) - this.rows;
    for (let from = this.rows + 1; from <= rows; from += CHUNK) {
      const to = Math.min(rows, from + CHUNK - 1);
      await this.events(from, to);
      if (values) {
        await this.values(from, to);
        await this.deliveries(Math.ceil(from / ROWS_PER_DELIVERY), Math.floor(to / ROWS_PER_DELIVERY));
      }
    }
    this.rows = rows;
    await this.counted();
    await this.database.settle();
  }

  async events(from, to) {
    const rare = `CASE WHEN n <= ${RARE} THEN '${RARE_TYPE}'`;
    const event = {
      ...this.shared,
      // The requests measured so far have left events too.
      seq: `n + ${this.ahead}`,
      id: this.id('8000'),
      user_id: this.user(`n / ${EVENTS_PER_USER}`),
      guild_id: `CASE WHEN n <= ${RARE} THEN ${this.firstGuild} ELSE ${this.guild()} END`,
      event_type: `${rare} WHEN n % 2 = 0 THEN 'data_submitted' ELSE 'data_exported' END`,
      source: this.text('service'),
      details: this.details,
      created_at: this.time('n'),
    };
    await this.database.run(...(await this.insert('audit_events', event, from, to)));
  }

  async values(from, to) {
    const user = this.user(`n / ${VALUES_PER_USER}`);
    const guild_id = this.guild(`n / ${VALUES_PER_USER}`);
    const category = `'c' || ${this.database.padded(`n % ${VALUES_PER_USER}`, 2)}`;
    const value = this.text('{"nickname":"Robin","level":1,"birthday":"2000-02-29"}');
    const row = { ...this.shared, user_id: user, guild_id, category_key: category, value };
    await this.database.run(...(await this.insert('user_data', row, from, to)));
  }

  /** Webhook calls about others that have been confirmed. */
  async deliveries(from, to) {
    const { created_at: at } = this.shared;
    const call = { id: this.id('d000'), event: this.text('consent_revoked'), payload: this.text('{}') };
    const ended = { status: this.text('delivered'), attempts: '1', retries: '0', finished_at: at };
    const row = { ...this.shared, ...call, ...ended, next_attempt_at: at, give_up_at: at };
    await this.database.run(...(await this.insert('webhook_deliveries', row, from, to)));
  }

  /** The subjects have consented and have no value, whatever was erased of them. */
  async putBack() {
    const guild_id = this.firstGuild;
    const user_id = this.user(`${FIRST_SUBJECT} + n`);
    const users = `SELECT ${user_id} FROM ${this.database.series(0, SUBJECTS - 1)}`;
    const own = `bot_id = '${this.botId}' AND guild_id = ${guild_id} AND user_id IN (${users})`;
    const version = this.text('1.0');
    const consent = { ...this.shared, guild_id, user_id, version, id: this.id('9000'), erasing: '0' };
    const accepted = { ...consent, status: this.text('accepted') };
    await this.database.run(
      ...['consents', 'user_data'].map((table) => `DELETE FROM ${table} WHERE ${own}`),
      ...(await this.insert('consents', accepted, 0, SUBJECTS - 1)),
    );
  }
}
