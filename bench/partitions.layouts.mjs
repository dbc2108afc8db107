/** Partitions by the hash of the bot, as the migrations make them. */
const PARTS = 16;
/** The log has eleven whole months and half of the present one, into which new events go. */
const MONTHS = 11.5;
const PRESENT = 11;

const part = (number) => `audit_events_p${String(number).padStart(2, '0')}`;
const month = (number) => `m${String(number).padStart(2, '0')}`;

/** The bounds of a month: places of the log follow the time, since one sequence gives them to all bots. */
function rangeOf(number, events) {
  const bound = (months) => Math.floor((events * months) / MONTHS) + 1;
  return `FROM (${number === 0 ? 'MINVALUE' : bound(number)}) TO (${number === PRESENT ? 'MAXVALUE' : bound(number + 1)})`;
}

function monthsOf(table, events) {
  return Array.from(
    { length: PRESENT + 1 },
    (_, n) => `CREATE TABLE ${table}_${month(n)} PARTITION OF ${table} FOR VALUES ${rangeOf(n, events)}`,
  );
}

const parts = () => Array.from({ length: PARTS }, (_, number) => number);

/** `build` changes the empty log of a migrated database; `oldest` names the partitions of its first month. */
export const LAYOUTS = {
  bots: {
    title: '16 by bot (today)',
    build: () => [],
    oldest: () => [],
  },
  botsAndMonths: {
    title: '16 by bot, each 12 by month',
    build: (events) =>
      parts().flatMap((number) => [
        `DROP TABLE ${part(number)}`,
        `CREATE TABLE ${part(number)} PARTITION OF audit_events
         FOR VALUES WITH (MODULUS ${PARTS}, REMAINDER ${number}) PARTITION BY RANGE (seq)`,
        ...monthsOf(part(number), events),
      ]),
    oldest: () => parts().map((number) => `${part(number)}_${month(0)}`),
  },
  months: {
    title: '12 by month',
    build: (events) => [
      'ALTER TABLE audit_events RENAME TO of_bots',
      'CREATE TABLE audit_events (LIKE of_bots INCLUDING DEFAULTS) PARTITION BY RANGE (seq)',
      'DROP TABLE of_bots',
      `ALTER TABLE audit_events ADD CONSTRAINT pk_audit_events PRIMARY KEY (bot_id, seq),
         ADD CONSTRAINT fk_audit_events_bot FOREIGN KEY (bot_id) REFERENCES bots (id) ON DELETE CASCADE`,
      ...[
        'bot_id, event_type, seq',
        'bot_id, guild_id, seq',
        'bot_id, guild_id, event_type, seq',
        'bot_id, user_id, seq, guild_id, event_type',
      ].map((columns) => `CREATE INDEX ON audit_events (${columns})`),
      ...monthsOf('audit_events', events),
    ],
    oldest: () => [`audit_events_${month(0)}`],
  },
};

/** The last place of the first month. */
export const lastOfFirstMonth = (events) => Math.floor(events / MONTHS);
