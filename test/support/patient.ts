/**
 * The settings that every process of Lethe has in tests, unless a test gives others: limits with which nothing fails for
 * its slowness, or because a process stops for seconds. A lock that is never released and a statement that never ends fail
 * by the longest limit that an operator can set, and name it.
 */
export const PATIENT = {
  DATABASE_LOCK_TIMEOUT_MS: '600000',
  DATABASE_STATEMENT_TIMEOUT_MS: '600000',
  WEBHOOK_CONNECT_TIMEOUT_MS: '60000',
  WEBHOOK_TIMEOUT_MS: '120000',
} as const;

/**
 * The properties of an HTTP server that cuts no late client. A process of tests that stops for seconds between opening a
 * connection and its first request is no slow client, and an idle connection must not end as the next request is sent on
 * it.
 */
export const PATIENT_SERVER = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 } as const;
