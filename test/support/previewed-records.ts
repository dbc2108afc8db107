import type { TestDatabase } from './database';

const GUILD = 'g';
const USER = `'u' || CAST(1000000 + i AS text)`;
/** Some day from today. Many records have the same time, so that pages begin between them. */
const timeIn = (days: number): string =>
  `'${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T00:00:' || CAST(10 + i % 50 AS text) || '.' || CAST(100 + i / 50 % 900 AS text) || 'Z'`;
/** Yesterday, so that no job erases them. */
const TIME = timeIn(-1);
const ID = `'00000000-0000-7000-8000-' || CAST(100000000000 + i AS text)`;

const VALUES = (category: string): Readonly<Record<string, string>> => ({
  ...{ guild_id: `'${GUILD}'`, user_id: USER, category_key: `'${category}'`, value: `'x'`, created_at: TIME },
  // Every tenth value was updated later.
  ...{ updated_at: `CASE WHEN i % 10 = 0 THEN '2999-01-01T00:00:00.000Z' ELSE ${TIME} END` },
  ...{ retention_from: TIME, withdrawn_at: TIME },
});
/** Every tenth subject is being erased. */
const CONSENTS = {
  ...{
    guild_id: `'${GUILD}'`,
    user_id: USER,
    id: ID,
    status: `'revoked'`,
    version: `'1.0'`,
    requested_at: TIME,
  },
  erasing: 'CASE WHEN i % 10 = 1 THEN 1 ELSE 0 END',
};
const HISTORY = {
  ...{ guild_id: `'${GUILD}'`, user_id: USER, id: ID, consent_id: ID, action: `'revoked'`, version: `'1.0'` },
  created_at: TIME,
};
/** Every tenth request has ended later. */
const REQUESTS = {
  ...{
    id: ID,
    guild_id: `'${GUILD}'`,
    user_id: USER,
    deleted_categories: `'[]'`,
    webhook_sent: '0',
    created_at: TIME,
  },
  ...{
    status: `'completed'`,
    completed_at: `CASE WHEN i % 10 = 2 THEN '2999-01-01T00:00:00.000Z' ELSE ${TIME} END`,
  },
};
const LEDGER = {
  request_id: ID,
  guild_id: `'${GUILD}'`,
  user_id: USER,
  erased_at: TIME,
  place: 'i',
  chain: `'x'`,
};
/** Every tenth guild is due much later. */
const SERVERS = {
  ...{ guild_id: `'g' || CAST(1000000 + i AS text)`, id: ID, text: `'x'`, created_at: TIME },
  deletion_scheduled_for: `CASE WHEN i % 10 = 3 THEN '2999-01-01T00:00:00.000Z' ELSE ${timeIn(2)} END`,
};

/**
 * Stores `size` records of each kind, most of them of yesterday, without the service, each of another subject. Answers what
 * the preview of retention has to say about the day by which all of them are due.
 */
export async function fillRecords(
  database: TestDatabase,
  botId: string,
  category: string,
  size: number,
): Promise<{ due: object[]; guilds: object; evidence: object }> {
  const fill = (table: string, given: Readonly<Record<string, string>>): Promise<void> =>
    database.run(
      `INSERT INTO ${table} (bot_id, ${Object.keys(given).join(', ')})
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
       SELECT '${botId}', ${Object.values(given).join(', ')} FROM n`,
    );
  await fill('consents', CONSENTS);
  await fill('user_data', VALUES(category));
  await fill('consent_history', HISTORY);
  await fill('deletion_requests', REQUESTS);
  await fill('keys.erasure_ledger', LEDGER);
  await fill('servers', SERVERS);
  const count = (isCounted: (n: number) => boolean): number =>
    Array.from({ length: size }, (_, at) => at + 1).filter(isCounted).length;
  const held = (n: number): boolean => n % 10 !== 1;
  return {
    due: [
      { category, reason: 'retention', values: count((n) => held(n) && n % 10 !== 0) },
      { category, reason: 'consent_revoked', values: count(held) },
    ],
    guilds: { scheduled: size, due: count((n) => n % 10 !== 3) },
    evidence: {
      ...{ ledger_entries: size - 1, consent_entries: size, audit_events: 0 },
      // The newest entry stays, with its request.
      deletion_requests: count((n) => n % 10 !== 2 && n !== size),
    },
  };
}
