import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { allMigrations } from '@app/database';
import type { Logger } from 'typeorm';
import { bareDatabase, engine } from '../support/database';
import { onSchema, SILENT } from '../support/migrating';

const LIBS = join(__dirname, '../..', 'libs');

/**
 * SHA-256 over what each migration does on each engine. From 0.1.0 on a line stays as it is: a released migration is
 * never changed, neither by itself nor by a change of the functions in libs/database/src/schema.ts. A new migration
 * brings a line of its own.
 */
const FROZEN: Readonly<Record<string, { readonly sqlite: string; readonly postgres: string }>> = {
  Installation1763600000000: {
    sqlite: '6a536acc10b6d0a8dd753dd5be0fdaf1',
    postgres: 'fb797c338b1adff914a3c6ba256088fa',
  },
  Bots1763600000001: {
    sqlite: 'ac658a6c8a46139895a3ebfc6c1ac205',
    postgres: 'fcbb5c10bc2583c52e9a6b3b02b22d61',
  },
  Servers1763600000002: {
    sqlite: '7255ed13fb21f4e8f0ea0f217548c4ac',
    postgres: 'c1e09d75642a65a35d7b61fc8e78ccfc',
  },
  Categories1763600000003: {
    sqlite: '15435b4fcc0e1679312e91bdc620c799',
    postgres: '95760a1c25b0fdbf17e4583c5407dddc',
  },
  Consents1763600000004: {
    sqlite: 'f3aea12ff4b412deca67bb5d52aa458e',
    postgres: '5d11ce018129421c73eb1ccec44ee5e0',
  },
  UserData1763600000005: {
    sqlite: 'f81cb697b9e78523b64f1e11233e357b',
    postgres: 'a2a7fd023ad81f2e49895aea2a333751',
  },
  Audit1763600000006: {
    sqlite: '07c803ced4d4f1aa9f2801c5c7689666',
    postgres: '4cca3da20ff8acb39af50df1ab8b724e',
  },
  Sealing1763600000007: {
    sqlite: 'e2efab67f32c062a4836d2ae9aabd5cf',
    postgres: '94be14f523b6f3c4dfa378919d28f33f',
  },
  Deletions1763600000008: {
    sqlite: '5d79be716abaeeafee82cb967db96c16',
    postgres: 'd6a61f6fefa269a0a2e8f69853a17db5',
  },
  Webhooks1763600000009: {
    sqlite: 'b80a2b48d069be928126496daf873e95',
    postgres: '309785e8661290bb61abc50147ea0acc',
  },
  Keys1763600000010: {
    sqlite: '78c327c990ecabb23604539219509230',
    postgres: 'ce7b1bcc58ee050c4e249a76b1facaa9',
  },
  JobLeases1763600000011: {
    sqlite: 'edde77c0d95109e9ebfd70d50646b818',
    postgres: '1378115b7154a095ad2a3beca04f6e59',
  },
};

const CHANGES = /^\s*(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|SELECT setval)\b/i;
const HAS_RUN = 'INSERT INTO "migrations"';

/** The digests of what the migrations do to an empty database, by their names. */
async function digests(): Promise<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  const database = await bareDatabase(directory);
  const found: Record<string, string> = {};
  let hash = createHash('sha256');
  const names = allMigrations().map(({ name }) => name);
  const logQuery: Logger['logQuery'] = (query, parameters) => {
    if (query.startsWith(HAS_RUN)) {
      found[names[Object.keys(found).length] ?? ''] = hash.digest('hex').slice(0, 32);
      hash = createHash('sha256');
    } else if (CHANGES.test(query) && !query.includes('"migrations"')) {
      hash.update(`${JSON.stringify([query.replace(/\s+/g, ' '), parameters ?? []])}\n`);
    }
  };
  const logger: Logger = { ...SILENT, logQuery };
  try {
    await onSchema(database, (source) => source.runMigrations({ transaction: 'all' }), { logger });
  } finally {
    await database.drop();
    rmSync(directory, { recursive: true });
  }
  return found;
}

describe('a migration', () => {
  it('does what it did when it was released, statement by statement', async () => {
    const frozen = Object.entries(FROZEN).map(([name, digest]) => [name, digest[engine]]);
    expect(await digests()).toStrictEqual(Object.fromEntries(frozen));
  });

  it('is brought by the module of its library', () => {
    const files = readdirSync(LIBS, { recursive: true, encoding: 'utf8' });
    const times = files.map((path) => /^\d{13}(?=-.+\.ts$)/.exec(basename(path))?.[0]);
    const brought = allMigrations().map(({ name }) => name.slice(-13));
    expect(times.filter((time) => time !== undefined).sort()).toStrictEqual(brought);
    expect(new Set(brought).size).toBe(brought.length);
  });
});
