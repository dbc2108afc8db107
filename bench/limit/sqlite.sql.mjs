const SUBJECT = 'bot_id = ? AND guild_id = ? AND user_id = ?';

/** Lethe's statements on SQLite, each prepared once. */
export const SQL = {
  botOf: 'SELECT id, name, webhook_url AS webhookUrl, webhook_secret AS secret FROM bots WHERE digest = ?',
  register:
    'INSERT INTO bots (id, platform_bot_id, name, webhook_url, webhook_secret, digest) VALUES (?, ?, ?, ?, ?, ?)',
  declare: 'INSERT INTO categories (bot_id, key, fields) VALUES (?, ?, ?)',
  status: `SELECT status, version, accepted_at, revoked_at FROM consents WHERE ${SUBJECT}`,
  consent: `SELECT * FROM consents WHERE ${SUBJECT}`,
  category: 'SELECT fields FROM categories WHERE bot_id = ? AND key = ?',
  put: `INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
  event: `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
    VALUES (?, COALESCE((SELECT MAX(seq) FROM audit_events WHERE bot_id = ?), 0) + 1, ?, ?, ?, ?, 'service', ?, ?)`,
  count: `INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total) VALUES (?, ?, ?, 0, 1), (?, '', ?, 0, 1)
    ON CONFLICT DO UPDATE SET total = total + 1`,
  revoke: `UPDATE consents SET status = 'revoked', revoked_at = ? WHERE ${SUBJECT}`,
  transition: `INSERT INTO consent_history (bot_id, guild_id, user_id, id, consent_id, action, version, created_at)
    VALUES (?, ?, ?, ?, ?, 'revoked', ?, ?)`,
  queue: `INSERT INTO webhook_deliveries (bot_id, guild_id, user_id, id, event, request_id, payload, status, attempts,
    next_attempt_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)`,
  due: `SELECT id, event, request_id AS requestId, payload FROM webhook_deliveries
    WHERE bot_id = ? AND status = 'pending' ORDER BY next_attempt_at LIMIT ?`,
  settle: `UPDATE webhook_deliveries SET status = 'delivered', attempts = attempts + 1, finished_at = ?
    WHERE bot_id = ? AND id = ?`,
  attempt: `INSERT INTO webhook_attempts (bot_id, delivery_id, number, started_at, duration_ms, outcome)
    VALUES (?, ?, 1, ?, ?, 'confirmed')`,
  sent: 'UPDATE deletion_requests SET webhook_sent = 1 WHERE bot_id = ? AND id = ?',
  erasure: `SELECT 1 FROM deletion_requests WHERE ${SUBJECT} AND status = 'processing'`,
  values: `SELECT category_key, value FROM user_data WHERE ${SUBJECT} ORDER BY category_key`,
  begin: `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
    VALUES (?, ?, ?, ?, 'processing', 0, ?) ON CONFLICT DO NOTHING`,
  close: `UPDATE consents SET erasing = 1 WHERE ${SUBJECT}`,
  dropValues: `DELETE FROM user_data WHERE ${SUBJECT}`,
  dropConsent: `DELETE FROM consents WHERE ${SUBJECT}`,
  dropHistory: `DELETE FROM consent_history WHERE ${SUBJECT}`,
  dropDetails: `UPDATE audit_events SET details = NULL
    WHERE bot_id = ? AND user_id = ? AND guild_id = ? AND details IS NOT NULL`,
  dropAttempts: `DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id IN
    (SELECT id FROM webhook_deliveries WHERE bot_id = ? AND user_id = ? AND guild_id = ?)`,
  dropDeliveries: 'DELETE FROM webhook_deliveries WHERE bot_id = ? AND user_id = ? AND guild_id = ?',
  finish: `UPDATE deletion_requests SET status = 'completed', completed_at = ?, deleted_categories = ?
    WHERE bot_id = ? AND id = ? AND status = 'processing'`,
  total: "SELECT SUM(total) AS total FROM audit_counts WHERE bot_id = ? AND guild_id = ''",
  page: `SELECT id, guild_id, user_id, event_type, source, details, created_at FROM audit_events
    WHERE bot_id = ? ORDER BY seq DESC LIMIT ? OFFSET ?`,
};
