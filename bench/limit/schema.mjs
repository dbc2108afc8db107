const SUBJECT = 'bot_id text NOT NULL, guild_id text NOT NULL, user_id text NOT NULL';

/** Lethe's tables and indices as far as the measured routes touch them; one text for both engines. */
export const SCHEMA = `
CREATE TABLE bots (id text PRIMARY KEY, platform_bot_id text NOT NULL UNIQUE, name text NOT NULL, webhook_url text,
  webhook_secret text NOT NULL, digest text NOT NULL UNIQUE);
CREATE TABLE categories (bot_id text NOT NULL, key text NOT NULL, fields text NOT NULL, PRIMARY KEY (bot_id, key));
CREATE TABLE consents (${SUBJECT}, id text NOT NULL, status text NOT NULL, version text NOT NULL,
  requested_at text NOT NULL, accepted_at text, revoked_at text, erasing integer NOT NULL,
  PRIMARY KEY (bot_id, guild_id, user_id));
CREATE UNIQUE INDEX consents_id ON consents (bot_id, id);
CREATE TABLE consent_history (${SUBJECT}, id text NOT NULL, consent_id text NOT NULL, action text NOT NULL,
  version text NOT NULL, created_at text NOT NULL, PRIMARY KEY (bot_id, guild_id, user_id, id));
CREATE TABLE user_data (${SUBJECT}, category_key text NOT NULL, value text NOT NULL, created_at text NOT NULL,
  updated_at text NOT NULL, PRIMARY KEY (bot_id, guild_id, user_id, category_key));
CREATE INDEX user_data_category ON user_data (bot_id, category_key);
CREATE TABLE audit_events (${SUBJECT}, seq bigint NOT NULL, id text NOT NULL, event_type text NOT NULL,
  source text NOT NULL, details text, created_at text NOT NULL, PRIMARY KEY (bot_id, seq));
CREATE INDEX audit_events_type ON audit_events (bot_id, event_type, seq);
CREATE INDEX audit_events_guild ON audit_events (bot_id, guild_id, seq);
CREATE INDEX audit_events_user ON audit_events (bot_id, user_id, seq);
CREATE TABLE audit_counts (bot_id text NOT NULL, guild_id text NOT NULL, event_type text NOT NULL,
  writer integer NOT NULL, total bigint NOT NULL, PRIMARY KEY (bot_id, guild_id, event_type, writer));
CREATE TABLE deletion_requests (${SUBJECT}, id text NOT NULL, status text NOT NULL, deleted_categories text,
  webhook_sent integer NOT NULL, created_at text NOT NULL, completed_at text, PRIMARY KEY (bot_id, id));
CREATE UNIQUE INDEX deletion_requests_open ON deletion_requests (bot_id, user_id) WHERE status = 'processing';
CREATE INDEX deletion_requests_subject ON deletion_requests (bot_id, guild_id, user_id);
CREATE TABLE webhook_deliveries (${SUBJECT}, id text NOT NULL, event text NOT NULL, request_id text,
  payload text NOT NULL, status text NOT NULL, attempts integer NOT NULL, next_attempt_at text NOT NULL,
  created_at text NOT NULL, finished_at text, PRIMARY KEY (bot_id, id));
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (bot_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (bot_id, status, id);
CREATE INDEX webhook_deliveries_subject ON webhook_deliveries (bot_id, user_id, guild_id);
CREATE TABLE webhook_attempts (bot_id text NOT NULL, delivery_id text NOT NULL, number integer NOT NULL,
  started_at text NOT NULL, duration_ms integer NOT NULL, outcome text NOT NULL,
  PRIMARY KEY (bot_id, delivery_id, number));
`;
