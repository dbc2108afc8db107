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
const NO_COLUMN =
  /^(?:primary|foreign|unique|constraint|check|key|index|exclude|like|period|fulltext|spatial)$/i;

/**
 * The columns of `CREATE TABLE` and `ALTER TABLE … ADD` that look like ids of users, each once. The text is read as
 * each dialect reads it, since what one has in a text or behind a comment can be a table in another.
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
      found.push(
        ...added(tokens.slice(next, end < 0 ? undefined : end)).map((column) => ({ table: name, column })),
      );
    } else if (is(0, 'table') && !is(-2, 'alter') && !is(-1, 'alter') && isCreation(tokens, at)) {
      const { name, next } = nameAt(tokens, at + 1);
      if (tokens[next] === '(')
        found.push(...columns(tokens, next).map((column) => ({ table: name, column })));
    }
  }
  return found.filter(({ column }) => ID_OF_USER.test(snake(column)));
}

/** `CREATE [GLOBAL | TEMPORARY | UNLOGGED …] TABLE`. */
const isCreation = (tokens: readonly string[], at: number): boolean =>
  tokens.slice(Math.max(0, at - 3), at).some((token) => token.toLowerCase() === 'create');

/** A name with its schema, behind `IF NOT EXISTS` and the like. */
function nameAt(tokens: readonly string[], from: number): { name: string; next: number } {
  let at = from;
  while (/^(?:if|not|exists|only)$/i.test(tokens[at] ?? '')) at++;
  const parts = [plain(tokens[at] ?? '')];
  at++;
  while (tokens[at] === '.') {
    parts.push(plain(tokens[at + 1] ?? ''));
    at += 2;
  }
  return { name: parts.join('.'), next: at };
}

/** The first word of each part between the parentheses that begin at `open`. */
function columns(tokens: readonly string[], open: number): string[] {
  const names: string[] = [];
  let [depth, isFirst] = [0, false];
  for (const token of tokens.slice(open)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (isFirst && !NO_COLUMN.test(token)) names.push(plain(token));
    if (depth === 0) break;
    isFirst = depth === 1 && (token === '(' ? names.length === 0 : token === ',');
  }
  return names;
}

/** The columns behind each ADD. */
function added(tokens: readonly string[]): string[] {
  return tokens.flatMap((token, at) => {
    if (token.toLowerCase() !== 'add') return [];
    let next = at + 1;
    while (/^(?:column|if|not|exists)$/i.test(tokens[next] ?? '')) next++;
    const name = tokens[next] ?? '';
    return NO_COLUMN.test(name) ? [] : [plain(name)];
  });
}

const plain = (name: string): string => name.replace(/^["`[]|["`\]]$/g, '');

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
