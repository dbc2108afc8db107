/** `one`: a value of the call. `each`: every row of a list has its own. `none`: the statement is about no rows of bots. */
export type NamedBots = 'one' | 'each' | 'none' | 'all';

const TABLES = /\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?((?:"?keys"?\.)?"?\w+"?)/gi;
const VALUE = String.raw`(?:\$\d+|\?)`;
const COMPARED = new RegExp(String.raw`\bbot_id"?\)?\s*=\s*${VALUE}`);
/** A row, or a selection whose first column is the bot. */
const INSERTED = new RegExp(
  String.raw`^INSERT INTO \S+\s*\([^)]*\bbot_id"?[^)]*\)\s*(?:VALUES|SELECT ${VALUE})`,
);
/** A list in which every row has its own bot, and the row is found or made by it. */
const LISTED = new RegExp(String.raw`\b(?:unnest\(${VALUE}::text\[\]|json_each\(${VALUE}\))`);
const JOINED =
  /\bbot_id"? = (?:given\.)?\w+|\(bot_id,[^()]*\) IN \(SELECT|USING \(bot_id\b|INSERT INTO \S+\s*\([^)]*\bbot_id\b/;

/**
 * Whose rows of `tables` a statement of the service reads or writes, by its text. Whether it finds them by this name is for
 * its plan to say.
 */
export function namedBots(sql: string, tables: ReadonlySet<string>): NamedBots {
  const named = [...sql.matchAll(TABLES)].map(([, table = '']) => table.replaceAll('"', ''));
  if (!named.some((table) => tables.has(table))) return 'none';
  if (COMPARED.test(sql) || INSERTED.test(sql.replace(/\s+/g, ' '))) return 'one';
  return LISTED.test(sql) && JOINED.test(sql) ? 'each' : 'all';
}
