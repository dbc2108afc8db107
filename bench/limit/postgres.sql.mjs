/** The requests of one batch arrive as one JSON text; `n` is a request's place in it. */
const input = (columns) => `input AS (SELECT * FROM json_to_recordset($1::json)
  AS i(n integer, bot_id text, guild_id text, user_id text, at text, event_id text${columns}))`;

const OF = (table) =>
  `${table}.bot_id = i.bot_id AND ${table}.guild_id = i.guild_id AND ${table}.user_id = i.user_id`;

/** The audit event and its count for every row of `acted`; $2 is the connection's own row among the counts. */
const recorded = (type, details) => `event AS (
  INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
  SELECT bot_id, nextval('audit_events_seq'), event_id, guild_id, user_id, '${type}', 'service', ${details}, at FROM acted),
counted AS (
  INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total)
  SELECT bot_id, guild_id, '${type}', $2::integer, COUNT(*) FROM acted GROUP BY 1, 2
  UNION ALL SELECT bot_id, '', '${type}', $2::integer, COUNT(*) FROM acted GROUP BY 1
  ON CONFLICT (bot_id, guild_id, event_type, writer) DO UPDATE SET total = audit_counts.total + excluded.total)`;

const QUEUE = `INSERT INTO webhook_deliveries (bot_id, guild_id, user_id, id, event, request_id, payload, status, attempts,
  next_attempt_at, created_at)`;

export const READS = {
  status: `WITH ${input('')}
    SELECT i.n, c.status, c.version, c.accepted_at, c.revoked_at FROM input i JOIN consents c ON ${OF('c')}`,
  audit: `WITH input AS (SELECT * FROM json_to_recordset($1::json)
      AS i(n integer, bot_id text, size integer, skipped integer))
    SELECT i.n, t.total::integer, e.* FROM input i
    CROSS JOIN LATERAL (SELECT COALESCE(SUM(total), 0) AS total FROM audit_counts c
      WHERE c.bot_id = i.bot_id AND c.guild_id = '') t
    LEFT JOIN LATERAL (SELECT seq, id, guild_id, user_id, event_type, source, details, created_at FROM audit_events a
      WHERE a.bot_id = i.bot_id ORDER BY seq DESC LIMIT i.size OFFSET i.skipped) e ON true
    ORDER BY i.n, e.seq DESC`,
};

export const WRITES = {
  submit: `WITH ${input(', category text, value text, details text')},
    acted AS (SELECT i.* FROM input i JOIN consents c ON ${OF('c')}
      JOIN categories k ON k.bot_id = i.bot_id AND k.key = i.category
      WHERE c.status = 'accepted' AND c.erasing = 0 FOR SHARE OF c),
    put AS (INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at)
      SELECT bot_id, guild_id, user_id, category, value, at, at FROM acted
      ON CONFLICT (bot_id, guild_id, user_id, category_key)
      DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at),
    ${recorded('data_submitted', 'details')} SELECT n FROM acted`,
  revoke: `WITH ${input(', history_id text, delivery_id text')},
    acted AS (UPDATE consents c SET status = 'revoked', revoked_at = i.at FROM input i
      WHERE ${OF('c')} AND c.status = 'accepted'
      RETURNING i.*, c.id, c.version, c.requested_at, c.accepted_at),
    history AS (INSERT INTO consent_history (bot_id, guild_id, user_id, id, consent_id, action, version, created_at)
      SELECT bot_id, guild_id, user_id, history_id, id, 'revoked', version, at FROM acted),
    ${recorded('consent_revoked', "json_build_object('version', version)::text")},
    queued AS (${QUEUE}
      SELECT bot_id, guild_id, user_id, delivery_id, 'consent_revoked', NULL,
        json_build_object('event', 'consent_revoked', 'user_id', user_id, 'guild_id', guild_id, 'revoked_at', at,
          'previous_version', version)::text, 'pending', 0, at, at FROM acted)
    SELECT n, id, version, requested_at, accepted_at FROM acted`,
  export: `WITH ${input('')},
    acted AS (SELECT i.*, c.status, c.version, c.accepted_at,
        (SELECT '{' || string_agg(to_json(d.category_key)::text || ':' || d.value, ',' ORDER BY d.category_key) || '}'
         FROM user_data d WHERE ${OF('d')}) AS data
      FROM input i LEFT JOIN consents c ON ${OF('c')}
      WHERE NOT EXISTS (SELECT 1 FROM deletion_requests r WHERE ${OF('r')} AND r.status = 'processing')),
    ${recorded('data_exported', `'{"format":"record"}'`)}
    SELECT n, status, version, accepted_at, data FROM acted`,
  begin: `WITH ${input(', request_id text')},
    begun AS (INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
      SELECT bot_id, request_id, guild_id, user_id, 'processing', 0, at FROM input ON CONFLICT DO NOTHING RETURNING id),
    acted AS (SELECT i.* FROM input i JOIN begun ON begun.id = i.request_id),
    closed AS (UPDATE consents c SET erasing = 1 FROM acted i WHERE ${OF('c')}),
    ${recorded('deletion_requested', "json_build_object('request_id', request_id)::text")} SELECT n FROM acted`,
  finish: `WITH ${input(', request_id text, delivery_id text')},
    gone AS (DELETE FROM user_data d USING input i WHERE ${OF('d')} RETURNING i.n, d.category_key),
    consent AS (DELETE FROM consents c USING input i WHERE ${OF('c')}),
    history AS (DELETE FROM consent_history h USING input i WHERE ${OF('h')}),
    details AS (UPDATE audit_events a SET details = NULL FROM input i WHERE ${OF('a')} AND a.details IS NOT NULL),
    unsent AS (DELETE FROM webhook_deliveries w USING input i WHERE ${OF('w')} RETURNING w.bot_id, w.id),
    attempts AS (DELETE FROM webhook_attempts t USING unsent WHERE t.bot_id = unsent.bot_id AND t.delivery_id = unsent.id),
    acted AS (SELECT i.*, (SELECT COALESCE(json_agg(g.category_key ORDER BY g.category_key), '[]') FROM gone g
      WHERE g.n = i.n) AS categories FROM input i),
    completed AS (UPDATE deletion_requests r SET status = 'completed', completed_at = i.at,
      deleted_categories = i.categories::text FROM acted i WHERE r.bot_id = i.bot_id AND r.id = i.request_id),
    ${recorded('deletion_completed', "json_build_object('request_id', request_id)::text")},
    queued AS (${QUEUE}
      SELECT bot_id, guild_id, user_id, delivery_id, 'user_forgotten', request_id,
        json_build_object('event', 'user_forgotten', 'request_id', request_id, 'user_id', user_id, 'guild_id', guild_id,
          'completed_at', at)::text, 'pending', 0, at, at FROM acted)
    SELECT n, categories FROM acted`,
  delivered: `WITH ${input(', delivery_id text, request_id text, started_at text, duration_ms integer')},
    settled AS (UPDATE webhook_deliveries w SET status = 'delivered', attempts = attempts + 1, finished_at = i.at
      FROM input i WHERE w.bot_id = i.bot_id AND w.id = i.delivery_id),
    attempt AS (INSERT INTO webhook_attempts (bot_id, delivery_id, number, started_at, duration_ms, outcome)
      SELECT bot_id, delivery_id, 1, started_at, duration_ms, 'confirmed' FROM input),
    sent AS (UPDATE deletion_requests r SET webhook_sent = 1 FROM input i
      WHERE r.bot_id = i.bot_id AND r.id = i.request_id)
    SELECT n FROM input, (SELECT $2::integer) AS writer`,
};
