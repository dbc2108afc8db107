import { lastOfFirstMonth } from './partitions.layouts.mjs';

const GUILDS = 20;
const EVENTS_PER_USER = 50;
const TYPES = [
  ...['consent_requested', 'consent_accepted', 'consent_revoked', 'data_submitted', 'data_exported'],
  ...['data_erased', 'consent_declined', 'deletion_requested', 'deletion_completed'],
];
const BATCH = 500;
/** MD5 texts of 32 characters: a batch has about 30,000 bytes, as `npm run bench:rows` shows. */
const BATCH_WORDS = 900;
const YEAR_MS = 365 * 86_400_000;
const FIRST_MS = Date.UTC(2025, 0, 1);
/** As long as the details of an event without any. */
const DETAILS = `v1.${'A'.repeat(70)}`;

/** As long as a digest of the service, and as evenly spread. */
const digest = (text) => `substr(md5(${text}), 1, 20)`;

/** A year of events of all bots at once: the first bot has a tenth of them, the others are alike. */
export function eventRows(events) {
  return `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
    SELECT bot.id, n, ${idOf('ms', 'n')}, ${digest(`'guild/' || bot.id || '/' || n / 7 % ${GUILDS}`)},
      ${digest(`'user/' || bot.id || '/' || (n * 7919) % ${Math.ceil(events / EVENTS_PER_USER)}`)},
      (ARRAY['${TYPES.join("', '")}'])[1 + n * 31 % ${TYPES.length}], 'service', '${DETAILS}',
      to_char(to_timestamp(ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM (SELECT n, ${FIRST_MS} + (n::numeric * ${YEAR_MS} / ${events})::bigint AS ms,
        CASE WHEN n % 10 = 0 THEN 1 ELSE 2 + (n * 104729) % ((SELECT COUNT(*) FROM bots) - 1) END AS number
      FROM generate_series(1::bigint, ${events}) AS n) AS event
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS number FROM bots) AS bot USING (number)`;
}

/** An id as the service makes it: its beginning is the time. */
function idOf(ms, n) {
  const hex = `lpad(to_hex(${ms}), 12, '0')`;
  return `substr(${hex}, 1, 8) || '-' || substr(${hex}, 9) || '-7000-8000-' || lpad(to_hex(${n}), 12, '0')`;
}

/** The counts of the log, the batches of its first month, and the heads. */
export function followingRows(events) {
  const count = (guild) =>
    `INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total)
     SELECT bot_id, ${guild}, event_type, 0, COUNT(*) FROM audit_events GROUP BY 1, 2, 3`;
  return [
    ...['audit_counts', 'audit_batches', 'audit_heads'].map((table) => `DELETE FROM ${table}`),
    ...[count('guild_id'), count("''")],
    `INSERT INTO audit_batches (bot_id, number, first_seq, last_seq, events, min_id, max_id, entries, root, identities,
       previous, chain, sealed_at, signature)
     SELECT bot_id, 1 + batch, MIN(seq), MAX(seq), COUNT(*), MIN(id), MAX(id),
       (SELECT string_agg(md5(word::text || bot_id || batch), '') FROM generate_series(1, ${BATCH_WORDS}) AS word),
       'x', 'x', 'x', 'x', MAX(created_at), repeat('x', 600)
     FROM (SELECT bot_id, seq, id, created_at, (row_number() OVER (PARTITION BY bot_id ORDER BY seq) - 1) / ${BATCH} AS batch
       FROM audit_events WHERE seq <= ${lastOfFirstMonth(events)}) AS log GROUP BY bot_id, batch`,
    `INSERT INTO audit_heads (bot_id, number, last_seq, chain, pruned_number)
     SELECT bot_id, MAX(number), MAX(last_seq), 'x', 0 FROM audit_batches GROUP BY bot_id`,
    `SELECT setval('audit_events_seq', ${events + 1})`,
  ];
}

/** The time at which the first month of the log is over. */
export const endOfFirstMonth = (events) =>
  new Date(FIRST_MS + Math.floor((lastOfFirstMonth(events) * YEAR_MS) / events) + 1).toISOString();
