import { isCovered, userColumnsIn } from './sql-schema';

const found = (ddl: string): string[] => userColumnsIn(ddl).map(({ table, column }) => `${table}.${column}`);

describe('the columns of a schema that look like ids of users', () => {
  it.each([
    [
      'a column of each kind',
      'CREATE TABLE t (user_id TEXT, memberId bigint, "authorId" int, uid text, discord_id text)',
      ['t.user_id', 't.memberId', 't.authorId', 't.uid', 't.discord_id'],
    ],
    [
      'names in quotes and with a schema',
      'create table if not exists "app"."bans" (`banned_by` text, [owner_id] text);',
      ['app.bans.banned_by', 'app.bans.owner_id'],
    ],
    [
      'names in single quotes',
      `CREATE TABLE 'warnings' ('user_id' TEXT, 'note' TEXT DEFAULT 'a, user_id')`,
      ['warnings.user_id'],
    ],
    [
      'columns of a virtual table, and of one whose storage is named before them',
      `CREATE VIRTUAL TABLE a USING fts5(author_id UNINDEXED, content, tokenize = 'porter');
       CREATE VIRTUAL TABLE IF NOT EXISTS b USING vec0(embedding float[8], +user_id text);
       CREATE VIRTUAL TABLE c USING dbstat; CREATE TABLE d USING heap (member_id int); CREATE TABLE e (n int) USING heap;`,
      ['a.author_id', 'b.user_id', 'd.member_id'],
    ],
    [
      'a column behind types with commas',
      'CREATE TABLE t (a numeric(10, 2) CHECK (a IN (1, 2)), user_id text)',
      ['t.user_id'],
    ],
    [
      'a column behind one that looks like it',
      'CREATE UNLOGGED TABLE t (id text, user_id text NOT NULL REFERENCES users (id));',
      ['t.user_id'],
    ],
    [
      'columns of ALTER TABLE',
      'ALTER TABLE ONLY t ADD COLUMN user_id text, ADD guild_id text, ADD owner_id text; ALTER TABLE u RENAME TO v;',
      ['t.user_id', 't.owner_id'],
    ],
    [
      'columns of ALTER TABLE in parentheses, and behind a comma alone',
      `ALTER TABLE a ADD (user_id BIGINT, x DECIMAL(3, 1), owner_id INT); ALTER TABLE b ADD COLUMN (x INT, member_id INT);
       ALTER TABLE c ADD x DECIMAL(3, 1), user_id INT; ALTER TABLE d ADD (CONSTRAINT e FOREIGN KEY (user_id) REFERENCES u (id));`,
      ['a.user_id', 'a.owner_id', 'b.member_id', 'c.user_id'],
    ],
    [
      'columns that ALTER TABLE names anew',
      `ALTER TABLE a RENAME COLUMN who TO user_id; ALTER TABLE b RENAME who TO "owner_id"; ALTER TABLE c CHANGE who user_id BIGINT,
       CHANGE COLUMN \`x\` \`member_id\` BIGINT; ALTER TABLE d RENAME TO user_id; ALTER TABLE e RENAME INDEX i TO user_id;
       ALTER TABLE f RENAME CONSTRAINT c TO user_id; ALTER TABLE g RENAME COLUMN user_id TO nothing;`,
      ['a.user_id', 'b.owner_id', 'c.user_id', 'c.member_id'],
    ],
    [
      'a table whose columns come from a query or another table, as not understood',
      `CREATE TABLE a AS SELECT user_id FROM x; CREATE TABLE b (n) WITH (fillfactor = 70) AS SELECT 1; CREATE TABLE c SELECT * FROM x;
       CREATE TABLE d LIKE x; CREATE TABLE e (LIKE x INCLUDING ALL); CREATE TABLE f (n INT GENERATED ALWAYS AS (1)) ENGINE = InnoDB;
       CREATE TABLE g (n INT)\nGO\nSELECT 1`,
      [
        ...['a', 'b', 'c'].map((table) => `${table}.(columns of a query, not understood)`),
        ...['d', 'e'].map((table) => `${table}.(columns of LIKE, not understood)`),
      ],
    ],
    [
      'a table with columns of another one beside its own, or behind them, as not understood',
      `CREATE TABLE a (n int, LIKE users INCLUDING ALL); CREATE TABLE b (n int) INHERITS (users); CREATE TABLE c OF t;
       CREATE TABLE d PARTITION OF users FOR VALUES IN (1); CREATE TEMP TABLE e (n) ON COMMIT DROP AS SELECT user_id FROM x;
       CREATE TABLE f ("like" int, "of" int) PARTITION BY LIST (n);
       CREATE TABLE g (n int)\nDROP TABLE x\nSELECT 1`,
      [
        'a.(columns of LIKE, not understood)',
        ...['b', 'c', 'd'].map((table) => `${table}.(columns of another table or type, not understood)`),
        'e.(columns of a query, not understood)',
      ],
    ],
    [
      'a table behind a backslash before a quote, in a text of MySQL',
      String.raw`INSERT INTO a VALUES ('it\'s'); CREATE TABLE b (user_id text); INSERT INTO a VALUES ('x')`,
      ['b.user_id'],
    ],
    [
      'a table behind a backslash before a quote, in a text with E and at the end of one of PostgreSQL',
      String.raw`INSERT INTO a VALUES (E'it\'s', 'C:\'); CREATE TABLE b (user_id text); INSERT INTO a VALUES ('x')`,
      ['b.user_id'],
    ],
    [
      'a table behind a text between dollars',
      `DO $do$ it's $$ $do$; CREATE TABLE b (user_id text); INSERT INTO a VALUES ('x')`,
      ['b.user_id'],
    ],
    [
      'tables behind a comment with a quote, and columns behind an operator with #',
      `# the bot's tables\nCREATE TABLE a (#\n user_id text, # the owner's\n owner_id text);
       CREATE TABLE b (n text CHECK (n #>> '{a}' <> ''), member_id text);`,
      ['b.member_id', 'a.user_id', 'a.owner_id'],
    ],
    [
      'no column of comments, texts, constraints and other statements',
      `-- CREATE TABLE a (user_id text)
       /* CREATE TABLE b (user_id text); */ INSERT INTO t VALUES ('CREATE TABLE c (user_id text)');
       CREATE TABLE t (id int, guild_id text, uids int, PRIMARY KEY (user_id), CONSTRAINT x FOREIGN KEY (user_id) REFERENCES u (user_id));
       CREATE INDEX i ON t (user_id); SELECT user_id FROM t; DROP TABLE t; ALTER TABLE t ADD PRIMARY KEY (user_id)`,
      [],
    ],
    ['nothing of a text that ends too early', `CREATE TABLE t ('`, []],
  ])('finds %s', (_name, ddl, columns) => {
    expect(found(ddl)).toEqual(columns);
  });

  it('reads a long text in one pass', () => {
    const ddl = `${'('.repeat(50_000)}${"'".repeat(50_001)}${'/*'.repeat(50_000)}`;
    expect(found(`CREATE TABLE t (user_id text); ${ddl}`)).toEqual(['t.user_id']);
    const escaped = `${"e'\\\\".repeat(50_000)}${'"\\'.repeat(50_000)}`;
    expect(found(`CREATE TABLE t (user_id text); ${escaped}`)).toEqual(['t.user_id']);
  });

  it('are covered by a name with or without its schema', () => {
    expect(['app.bans', 'bans', 'BANS'].map((table) => isCovered(table, ['bans']))).toEqual([
      true,
      true,
      true,
    ]);
    expect([isCovered('bans', ['public.bans']), isCovered('bans', ['ban'])]).toEqual([true, false]);
    expect(isCovered('app.bans', ['public.bans'])).toBe(false);
  });
});
