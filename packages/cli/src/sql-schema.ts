/** A column whose name says that it holds the id of a user. */
export interface UserColumn {
  readonly table: string;
  readonly column: string;
}

/**
 * One token of each dialect: a comment, a text, a name in quotes, a word or a sign. Standard SQL and PostgreSQL know a backslash
 * before a quote only in E'…', and texts between dollars; MySQL knows it in every text, and # begins a comment.
 */
const DIALECTS = [
  String.raw`[eE]'(?:[^'\\]|\\[^])*'?|'(?:[^']|'')*'|"[^"]*"|\$([\p{L}\d_]*)\$[^]*?\$\1\$`,
  String.raw`#[^\n]*|'(?:[^'\\]|\\[^])*'?|"(?:[^"\\]|\\[^])*"?`,
].map((texts) => {
  const [comment, name] = [
    String.raw`--[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/`,
    String.raw`\x60[^\x60]*\x60|\[[^[\]]*\]`,
  ];
  return new RegExp(String.raw`${comment}|${texts}|${name}|[\p{L}_][\p{L}\d_$]*|\S`, 'gu');
});

const SOMEONE =
  'user|member|author|owner|discord|moderator|mod|target|player|sender|recipient|inviter|invitee|creator|account';
const ID_OF_USER = new RegExp(
  `^(?:\\w*_)?(?:${SOMEONE})_?(?:id|snowflake)$|^(?:user|member|author|uid|user_?snowflake)$|^\\w+ed_by$`,
  'i',
);
/** What begins a line of a table that is no column. */
const NO_COLUMN = /^(?:primary|foreign|unique|constraint|check|key|index|exclude|period|fulltext|spatial)$/i;

/** In the place of a column: those of a query or of another table are not read, and may be about users. */
const NOT_UNDERSTOOD = {
  query: '(columns of a query, not understood)',
  like: '(columns of LIKE, not understood)',
  other: '(columns of another table or type, not understood)',
};

/**
 * The columns of `CREATE TABLE` and `ALTER TABLE` with ADD, CHANGE or RENAME that look like ids of users, each once, and
 * {@link NOT_UNDERSTOOD} for a table whose columns come from elsewhere. The text is read as each dialect reads it, since what
 * one has in a text or behind a comment can be a table in another.
 */
export function userColumnsIn(ddl: string): UserColumn[] {
  const found = DIALECTS.flatMap((token) => columnsIn(ddl, token));
  return [...new Map(found.map((one) => [`${one.table}.${one.column}`, one])).values()];
}

function columnsIn(ddl: string, token: RegExp): UserColumn[] {
  const tokens = [...ddl.matchAll(token)]
    .map(([text]) => text)
    .filter((text) => !/^(?:--|\/\*|#)/.test(text));
  const found: UserColumn[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const is = (offset: number, word: string): boolean => tokens[at + offset]?.toLowerCase() === word;
    if (is(0, 'alter') && is(1, 'table')) {
      const { name, next } = nameAt(tokens, at + 2);
      const end = tokens.indexOf(';', next);
      const columns = altered(tokens.slice(next, end < 0 ? undefined : end));
      found.push(...columns.map((column) => ({ table: name, column })));
    } else if (is(0, 'table') && !is(-2, 'alter') && !is(-1, 'alter') && isCreation(tokens, at)) {
      const { name, next } = nameAt(tokens, at + 1);
      found.push(...created(tokens, next).map((column) => ({ table: name, column })));
    }
  }
  const others: readonly string[] = Object.values(NOT_UNDERSTOOD);
  return found.filter(({ column }) => ID_OF_USER.test(snake(column)) || others.includes(column));
}

/** The columns behind the name of a new table. */
function created(tokens: readonly string[], from: number): string[] {
  const found = tokens[from] === '(' ? columns(tokens, from) : [];
  if (/^like$/i.test(tokens[from] ?? '')) found.push(NOT_UNDERSTOOD.like);
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at] ?? '';
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth > 0) continue;
    else if (/^(?:inherits|of)$/i.test(token)) found.push(NOT_UNDERSTOOD.other);
    else if (/^(?:;|create|alter|insert|drop|go)$/i.test(token) && !isOnCommit(tokens, at)) break;
    else if (/^(?:as|select)$/i.test(token)) return [...found, NOT_UNDERSTOOD.query];
  }
  return found;
}

/** The last word of `ON COMMIT DROP`, which begins no statement. */
const isOnCommit = (tokens: readonly string[], at: number): boolean =>
  /^on commit$/i.test(tokens.slice(Math.max(0, at - 2), at).join(' '));

/** `CREATE [GLOBAL | TEMPORARY | UNLOGGED …] TABLE`. */
const isCreation = (tokens: readonly string[], at: number): boolean =>
  tokens.slice(Math.max(0, at - 3), at).some((token) => token.toLowerCase() === 'create');

/** A name with its schema, behind `IF NOT EXISTS` and the like, and what follows it, or the module that it is `USING`. */
function nameAt(tokens: readonly string[], from: number): { name: string; next: number } {
  let at = from;
  while (/^(?:if|not|exists|only)$/i.test(tokens[at] ?? '')) at++;
  const parts = [plain(tokens[at] ?? '')];
  at++;
  while (tokens[at] === '.') {
    parts.push(plain(tokens[at + 1] ?? ''));
    at += 2;
  }
  return { name: parts.join('.'), next: /^using$/i.test(tokens[at] ?? '') ? at + 2 : at };
}

/** The first word of each part between the parentheses that begin at `open`. */
function columns(tokens: readonly string[], open: number): string[] {
  const names: string[] = [];
  let [depth, isFirst] = [0, false];
  for (const token of tokens.slice(open)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (isFirst && /^like$/i.test(token)) names.push(NOT_UNDERSTOOD.like);
    else if (isFirst && !NO_COLUMN.test(token)) names.push(plain(token));
    if (depth === 0) break;
    isFirst = depth === 1 && (token === '(' ? names.length === 0 : /^[,+]$/.test(token));
  }
  return names;
}

/** The columns that the actions of an `ALTER TABLE` add or name anew. */
function altered(tokens: readonly string[]): string[] {
  let [depth, isAdding] = [0, false];
  return tokens.flatMap((token, at) => {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    if (depth > 0) return [];
    const action = token.toLowerCase();
    isAdding ||= action === 'add';
    if (action === 'add') return added(tokens, at + 1);
    // SQL Server has further columns behind a comma alone.
    if (action === ',') return isAdding ? added(tokens, at + 1) : [];
    const next = at + (/^column$/i.test(tokens[at + 1] ?? '') ? 2 : 1);
    if (action === 'change') return [plain(tokens[next + 1] ?? '')];
    const isRenaming = action === 'rename' && /^to$/i.test(tokens[next + 1] ?? '');
    return isRenaming ? [plain(tokens[next + 2] ?? '')] : [];
  });
}

/** The column behind an ADD, or those in parentheses behind it. */
function added(tokens: readonly string[], from: number): string[] {
  let next = from;
  while (/^(?:column|if|not|exists)$/i.test(tokens[next] ?? '')) next++;
  const name = tokens[next] ?? '';
  if (name === '(') return columns(tokens, next);
  return NO_COLUMN.test(name) ? [] : [plain(name)];
}

const plain = (name: string): string => name.replace(/^["'`[]|["'`\]]$/g, '');

/** `authorId` as `author_Id`. */
const snake = (name: string): string => name.replace(/([a-z\d])([A-Z])/g, '$1_$2');

/** Whether a holder names the table. Where one of the two names has no schema, that of the other does not count. */
export function isCovered(table: string, covers: readonly string[]): boolean {
  const given = table.toLowerCase();
  return covers.some((one) => {
    const name = one.toLowerCase();
    return name.includes('.') && given.includes('.')
      ? name === given
      : withoutSchema(name) === withoutSchema(given);
  });
}

const withoutSchema = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
