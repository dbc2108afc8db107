import type { TestDatabase } from './database';

/** Columns that differ from run to run or do not depend on the acts. */
const EXCLUDED = [
  'seq',
  'writer',
  'total',
  'payload',
  'digest',
  'prefix',
  'secret',
  'key_id',
  'commitment',
  'last_used_at',
];
/** The columns of a queued call that the dispatcher does not change. */
const CALL_COLUMNS = ['bot_id', 'event', 'event_type', 'user_id', 'guild_id'];

/** Tables that no act writes: the rows are made by the dispatcher of calls and by sealing. */
const BACKGROUND = ['webhook_attempts', 'webhook_health', 'stats_consents', 'stats_counts'];

/** An encrypted text, of which only the length is kept. */
const ENCRYPTED = /\b[sv]2\.[\w-]+\.([\w-]+)/g;
/** The digest of an id, in the column of the id. */
const DIGEST = /(?<="(?:guild|user)_id":")[\w-]{20}(?=")/g;
const KEY_ID = /"id":"[\w-]{12}"/;
const VARYING = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{17,20}\b/g;
/** The keys themselves name no bot. */
const KEYS = '(SELECT COUNT(*) FROM keys.subject_keys WHERE id = key_id)';

const statements = new WeakMap<TestDatabase, ReadonlyMap<string, string>>();

/** All rows of one bot, with ids and times replaced: equal for equal states. */
export async function dumpOf(database: TestDatabase, botId: string): Promise<string[]> {
  let looks = statements.get(database);
  if (looks === undefined) statements.set(database, (looks = await statementsOf(database)));
  const looked = [...looks];
  const lines: string[] = [];
  await database.session(async (rows) => {
    for (const [name, sql] of looked)
      for (const row of await rows<object>(sql, botId)) lines.push(`${name} ${masked(JSON.stringify(row))}`);
  });
  return lines.sort();
}

/** The query for each table. */
async function statementsOf(database: TestDatabase): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { name, columns } of await database.tables()) {
    const compared = columns.filter((column) => !EXCLUDED.some((part) => column.includes(part)));
    const shown =
      name === 'webhook_deliveries' ? compared.filter((column) => CALL_COLUMNS.includes(column)) : compared;
    const owner = name === 'bots' ? 'id' : 'bot_id';
    if (!columns.includes(owner) || BACKGROUND.includes(name)) continue;
    const sum = name === 'audit_counts' ? ', SUM(total) AS total' : '';
    const group = sum === '' ? '' : ` GROUP BY ${shown.join(', ')}`;
    const key = name === 'subjects' ? `, ${KEYS} AS keys` : '';
    found.set(name, `SELECT ${shown.join(', ')}${sum}${key} FROM ${name} WHERE ${owner} = ?${group}`);
  }
  return found;
}

function masked(row: string): string {
  return row
    .replace(ENCRYPTED, (_, text: string) => `sealed(${text.length})`)
    .replace(DIGEST, '*')
    .replace(KEY_ID, '"id":"*"')
    .replace(VARYING, '*');
}
