/**
 * The migrations of a later release are in the modules of this suite alone.
 *
 * @own-modules
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseModule } from '@app/database';
import { useBuild } from '../support/build';
import { runScript } from '../support/child-script';
import { ChildService } from '../support/child-service';
import { contentsOf, type Rows, within } from '../support/contents';
import { engine, type TestDatabase } from '../support/database';
import { NextKeys1790000000002, NextRelease1790000000001 } from '../support/next-release';
import { expectKept } from '../support/releases/expected';
import { Fixture } from '../support/releases/fixture';
import { FIXTURE_SETTINGS, opened } from '../support/releases/opened';
import { schemaOf } from '../support/schema-dump';

// Each statement is the last one of a process of its own.
jest.setTimeout(300_000);

const NEXT = [NextRelease1790000000001, NextKeys1790000000002];
DatabaseModule.forFeature([], NEXT);

/** What changes the schema or its rows, or makes that durable. */
const STEP = '^\\s*(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|COMMIT)';
/** A statement of SQLite is looked at when it is prepared, and again when it runs. */
const LOOKS = engine === 'sqlite' ? 2 : 1;

const present = useBuild();
const later = useBuild({ file: 'next-release', migrations: NEXT.map(({ name }) => name) });

let directory: string;
let database: TestDatabase;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterEach(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

const settings = () => ({ ...FIXTURE_SETTINGS, DATABASE_URL: database.url });

/** `db:migrate` of the later release in a process that is killed before its `count`th step, if it has as many. */
async function killedAt(count: number): Promise<boolean> {
  const { code, output } = await runScript(later, 'admin', ['db:migrate'], settings(), { at: STEP, count });
  if (!output.includes('HELD')) expect(output).toContain('up to date');
  return code === null;
}

/** Without the time stamps that only the keys of SQLite have: they are committed first, as an empty table. */
async function expectUntouched(before: Rows): Promise<void> {
  const { 'keys.next_keys': early = [], ...now } = await contentsOf(database);
  expect(early).toStrictEqual([]);
  expect(now).toStrictEqual(before);
}

describe.each(Fixture.releases())('the database of release %s', (release) => {
  const fixture = new Fixture(release);

  it('is upgraded to a later release by one that was killed before each of its statements, and has lost nothing', async () => {
    database = await fixture.restore(directory);
    const before = await contentsOf(database);
    let kills = 0;
    for (let count = 1; await killedAt(count); count += LOOKS, kills += 1) {
      if (kills % 5 === 0) await expectUntouched(before);
    }
    expect(kills).toBeGreaterThan(11);
    expect(within(await contentsOf(database), before)).toStrictEqual(before);
    const { manifest } = fixture;
    await opened(database, manifest.made_at, (service) => expectKept(manifest, service));
  });

  it('is refused by the older release once a later one has upgraded it, in words, and left as it is', async () => {
    database = await fixture.restore(directory);
    expect((await runScript(later, 'admin', ['db:migrate'], settings())).code).toBe(0);
    const state = async (): Promise<unknown> =>
      engine === 'sqlite'
        ? ['lethe.db', 'keys.db'].map((name) =>
            createHash('sha256')
              .update(readFileSync(join(directory, name)))
              .digest('hex'),
          )
        : [await contentsOf(database), await schemaOf(database)];
    const before = await state();
    const refusal =
      'was written by a newer Lethe, or by one with another module (NextKeys1790000000002, NextRelease1790000000001)';
    const service = new ChildService(present.directory, join(directory, 'lethe.db'), settings());
    const start = await service.refused();
    expect(start).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) as string });
    for (const command of ['db:migrate', 'db:revert', 'status']) {
      const { code, output } = await runScript(present, 'admin', [command], settings());
      expect([command, code]).toStrictEqual([command, 1]);
      expect(output).toContain(refusal);
    }
    expect(await state()).toStrictEqual(before);
  });
});
