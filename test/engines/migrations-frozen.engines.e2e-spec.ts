import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { allMigrations } from '@app/database';
import type { Logger } from 'typeorm';
import { bareDatabase, engine } from '../support/database';
import { expectOfModules } from '../support/further-modules';
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
    sqlite: 'dfb24430b4329e2dd9925bbe9f6d400f',
    postgres: 'e449065f3b19bbe8e8d8a76f77bf4daa',
  },
  Categories1763600000003: {
    sqlite: '0fa7dd52c8e1bba39515d67377e1ec27',
    postgres: 'a3a63468cfb43994a9055fca67a129d6',
  },
  Consents1763600000004: {
    sqlite: '1436392a8f8170bad87efb1bf93595c3',
    postgres: 'a50e5056a078af8c1825443bf03e25c3',
  },
  UserData1763600000005: {
    sqlite: 'f81cb697b9e78523b64f1e11233e357b',
    postgres: 'a2a7fd023ad81f2e49895aea2a333751',
  },
  Audit1763600000006: {
    sqlite: '013c7da3b716153028eb656f9d993467',
    postgres: 'b4d081d1bdb23082edfe71697f302b06',
  },
  Sealing1763600000007: {
    sqlite: 'e2efab67f32c062a4836d2ae9aabd5cf',
    postgres: '94be14f523b6f3c4dfa378919d28f33f',
  },
  Deletions1763600000008: {
    sqlite: '77595121fc46abcc8518b1d09e8b494a',
    postgres: 'e3fb88189b25a24df8ad75dbcc6bc63e',
  },
  Webhooks1763600000009: {
    sqlite: 'b80a2b48d069be928126496daf873e95',
    postgres: '309785e8661290bb61abc50147ea0acc',
  },
  Keys1763600000010: {
    sqlite: '537fdcfa3e6bace3076bda53c56b8427',
    postgres: 'f902bd823d108ba9df3c7c4b4b4d828e',
  },
  JobLeases1763600000011: {
    sqlite: 'edde77c0d95109e9ebfd70d50646b818',
    postgres: '1378115b7154a095ad2a3beca04f6e59',
  },
  Subjects1763600000012: {
    sqlite: 'e2aaf891063cb0737a43614594645da0',
    postgres: 'e5fa57cbab8279bc4ddfd77649c0d3be',
  },
  IdempotencyKeys1763600000013: {
    sqlite: '021fcec845a6ee877e50aa83b7c1fc85',
    postgres: '54e69760d61c4247e2ca7a8bc8edb66c',
  },
  KeysAndStanding1763600000020: {
    sqlite: 'e993b75e0547b34f9c1eda8e051f116a',
    postgres: '65258cb4a8862b8f087c22808200a615',
  },
  Stats1763600000021: {
    sqlite: '6b1ef438ea62c5166139d4a6ba940ad8',
    postgres: 'f1c9bc6c0eb59198af2e1b2e5666bb8f',
  },
  PrivacyLinks1763600000022: {
    sqlite: 'd59af31578849e212d39280eefad58ae',
    postgres: '5c1f0401e27687e5f68a67e653c7b322',
  },
  Purposes1763600000023: {
    sqlite: '9d8123f232145221ec0963c302d8cd39',
    postgres: '43e0cca14fcf210dfed15b4b608d307e',
  },
  ReservedSources1763600000024: {
    sqlite: 'b5d9cc6a59a99fda22b1c5825f37954b',
    postgres: 'b5d9cc6a59a99fda22b1c5825f37954b',
  },
  StorageSamples1763600000025: {
    sqlite: 'b90c70d1c3fb1eb8b529e7696190171a',
    postgres: '0d444116db45b798c423610399b096ff',
  },
  BotNotices1763600000026: {
    sqlite: '2717b2933b939e7d61cc78cfab8dd6be',
    postgres: '1f6a08720f7b3f29c6b632d8589c3a10',
  },
  KeyNames1763600000028: {
    sqlite: 'd668ce290daee426c3d75b9c4bf9da06',
    postgres: '9e5817791637f90cfb2279d9f1f715b4',
  },
  BotHolders1763600000029: {
    sqlite: '07350c9cb47230cd1b1d08779acd1ebd',
    postgres: '47daf882431e2a54390a5708c447a29e',
  },
  StatsConsents1763600000031: {
    sqlite: '3c257cc2aae947de7dc838c98f019535',
    postgres: '3d5fb7a67f326413098c7ee6c7e9cc88',
  },
  HolderExports1763600000033: {
    sqlite: '008269c514a636103f1c5fc4e25f2d0c',
    postgres: 'f769799e1ea88fc69033571d1288189c',
  },
  WithoutConsent1763600000034: {
    sqlite: 'd651e3ab69ae934511cc981c73136b91',
    postgres: 'b9c3a893e6c40b95fed059bfb422d2ef',
  },
  ProcessingRefusals1763600000035: {
    sqlite: 'd3dfc17e721ecf965d76c1196e8bb840',
    postgres: 'aaf14774d366ea32804f977752e5d7cd',
  },
  CategoryDeletions1763600000036: {
    sqlite: '1df8bad7a46624ddbbe6b7c73e621892',
    postgres: '247a639e5602332454ee49ee5ec838c1',
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
    const found = await digests();
    expect(found).toMatchObject(Object.fromEntries(frozen));
    expectOfModules(Object.keys(found).filter((name) => !(name in FROZEN)));
  });

  it('is brought by the module of its library', () => {
    const files = readdirSync(LIBS, { recursive: true, encoding: 'utf8' });
    const times = files.map((path) => /^\d{13}(?=-.+\.ts$)/.exec(basename(path))?.[0]);
    const brought = allMigrations().map(({ name }) => name.slice(-13));
    expect(times.filter((time) => time !== undefined).sort()).toStrictEqual(brought);
    expect(new Set(brought).size).toBe(brought.length);
  });
});
