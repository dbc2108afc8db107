import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(__dirname, '../..');

/** A table belongs to the library whose migration creates it, but for this one: crypto creates all tables of the keys. */
const CREATED_FOR_OTHERS: Readonly<Record<string, string>> = { erasure_ledger: 'gdpr' };

/** Foreign tables in SQL, each with the reason why no function of the owner serves. The list may only become shorter. */
const ALLOWED: Readonly<Record<string, { readonly tables: readonly string[]; readonly why: string }>> = {
  'libs/audit/src/audit.sql.ts': {
    tables: ['audit_heads'],
    why: 'every act appends: the next place is found by the appending statement itself',
  },
  'libs/crypto/src/destroyed-keys.ts': {
    tables: ['erasure_ledger'],
    why: 'sealing asks which keys were destroyed by an erasure, and which erasures are listed, and erasure depends on sealing',
  },
  'libs/database/src/key-tables.ts': {
    tables: ['subject_keys', 'service_keys'],
    why: 'a start refuses data without its keys, and keys without their data, before any library runs',
  },
  'libs/gdpr/src/erasure/erasure-replay.ts': {
    tables: ['bots'],
    why: 'every start asks by one statement for entries of the ledger whose bot is present',
  },
  'libs/operations/src/engine-move.ts': {
    tables: ['service_keys'],
    why: 'a move asks whether a service was ever started on the source, before any library runs on it',
  },
  'libs/operations/src/postgres.move-target.ts': {
    tables: ['audit_events', 'audit_heads'],
    why: 'a move copies every table and sets the sequence after it',
  },
  'libs/operations/src/sqlite.restore.keys.ts': {
    tables: ['subject_keys', 'service_keys', 'erasure_ledger', 'user_data', 'bots'],
    why: 'a restore compares two files before any library runs on them',
  },
  'libs/sealing/src/event-opener.ts': {
    tables: ['audit_events'],
    why: 'sealing reads the events that audit appends',
  },
  'libs/sealing/src/seal-loop.ts': {
    tables: ['bots', 'audit_events'],
    why: 'one statement finds the unsealed logs of a page of bots, and one the oldest unsealed event of all logs',
  },
  'libs/user-data/src/consented-rows.sql.ts': {
    tables: ['consents'],
    why: 'one statement finds what is due together with its consent, locks it and skips locked ones',
  },
};

interface Source {
  readonly path: string;
  /** The library, or `apps`. */
  readonly room: string;
  readonly text: string;
}

const SOURCES: readonly Source[] = ['libs', 'apps'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((entry) => {
      const path = relative(ROOT, join(entry.parentPath, entry.name));
      const room = top === 'apps' ? top : (path.split('/')[1] ?? '');
      return { path, room, text: readFileSync(join(ROOT, path), 'utf8') };
    }),
);

const OWNERS: ReadonlyMap<string, string> = new Map(
  SOURCES.filter(({ path }) => path.includes('/migrations/')).flatMap(({ room, text }) =>
    [...text.matchAll(/^\s+name: '(\w+)',$|CREATE VIEW keys\.(\w+)/gm)].map(
      ([, table, view = '']) => [table ?? view, CREATED_FOR_OTHERS[table ?? view] ?? room] as const,
    ),
  ),
);

/** Strings and the pieces of templates. */
function literalsOf({ path, text }: Source): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return found;
}

/** A table as SQL names it, with any schema: after a keyword, after a comma in FROM, or in the keys wherever it is named. */
const NAMED = [
  /\b(?:FROM|JOIN|INTO|UPDATE|USING|TABLE)\s+(?:ONLY\s+)?(?:\w+\.)?"?(\w+)/g,
  /\bFROM\s+[\w."]+(?:\s+(?:AS\s+)?\w+)?\s*,\s*(?:\w+\.)?"?(\w+)/g,
  /\bkeys\.(\w+)/g,
];

function tablesIn(source: Source): string[] {
  const named = literalsOf(source).flatMap((literal) =>
    NAMED.flatMap((pattern) => [...literal.matchAll(pattern)].map(([, table = '']) => table)),
  );
  return [...new Set(named)].filter((table) => OWNERS.has(table));
}

const foreignIn = (source: Source): string[] =>
  tablesIn(source).filter((table) => OWNERS.get(table) !== source.room);

const refusedIn = (source: Source): string[] =>
  foreignIn(source)
    .filter((table) => ALLOWED[source.path]?.tables.includes(table) !== true)
    .map((table) => `${source.path} names ${table} of ${OWNERS.get(table)}`);

describe('the tables', () => {
  it('belong to the library that has their entity', () => {
    const entities = SOURCES.flatMap(({ room, text }) =>
      [...text.matchAll(/@Entity\('(\w+)'\)/g)].map(([, table = '']) => ({ table, room })),
    );
    expect(entities.length).toBeGreaterThan(15);
    expect(entities.filter(({ table, room }) => OWNERS.get(table) !== room)).toStrictEqual([]);
    expect(
      [...OWNERS.keys()].filter((table) => !entities.some((entity) => entity.table === table)),
    ).toStrictEqual(['subject_keys', 'removed_keys', 'service_keys', 'erasure_ledger']);
  });

  it('are all found in the SQL of their own library or its entities', () => {
    const used = new Set(SOURCES.flatMap((source) => tablesIn(source)));
    expect([...OWNERS.keys()].filter((table) => !used.has(table))).toStrictEqual([]);
  });

  it('are named in SQL by their own library alone, but for what is allowed here', () => {
    expect(SOURCES.flatMap(refusedIn)).toStrictEqual([]);
  });

  it('are allowed to others only where they are still named', () => {
    const unused = Object.entries(ALLOWED).flatMap(([path, { tables }]) => {
      const source = SOURCES.find((each) => each.path === path);
      const foreign = source === undefined ? [] : foreignIn(source);
      return tables.filter((table) => !foreign.includes(table)).map((table) => `${path}: ${table}`);
    });
    expect(unused).toStrictEqual([]);
  });

  it.each([
    "'SELECT id FROM bots WHERE id > ?'",
    '`DELETE FROM ${x} USING "bots" b`',
    '`SELECT 1 FROM webhook_health h, bots b`',
    '`UPDATE bots SET name = ${x}`',
    '`${x} JOIN bots b ON b.id = x.bot_id`',
  ])('would be caught in another library: %s', (literal) => {
    const source = { path: 'libs/webhooks/src/x.ts', room: 'webhooks', text: `const sql = ${literal};` };
    expect(refusedIn(source)).toStrictEqual(['libs/webhooks/src/x.ts names bots of bots']);
  });
});
