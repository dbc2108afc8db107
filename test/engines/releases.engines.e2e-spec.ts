/**
 * The time is that of the fixture, in the modules of this suite alone.
 *
 * @own-modules
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations } from '@app/database';
import { contentsOf } from '../support/contents';
import { bareDatabase, type TestDatabase } from '../support/database';
import { migrateUp } from '../support/migrating';
import { sections, sectionsOf, unreleasedVersion } from '../support/releases/changelog';
import { expectKept } from '../support/releases/expected';
import { Fixture } from '../support/releases/fixture';
import { makeFixture } from '../support/releases/made';
import { opened } from '../support/releases/opened';
import { schemaOf } from '../support/schema-dump';

jest.setTimeout(180_000);

/** Tables whose rows do not last, or are in one of two. */
const PASSING = ['webhook_url_changes', 'keys.subject_keys_a', 'keys.subject_keys_b', 'keys.removed_keys'];

let directory: string;
let database: TestDatabase | undefined;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterEach(async () => {
  await database?.drop();
  database = undefined;
  rmSync(directory, { recursive: true, force: true });
});

if (process.env['TEST_FIXTURES'] === 'write')
  it('the fixture of the version to come is written from the present code', async () => {
    database = await (await makeFixture(unreleasedVersion(sections()))).restore(directory);
  });

it('there is a fixture of every release of the changelog, and of no version that it does not name', () => {
  const releases = sections().filter(({ isReleased }) => isReleased);
  const names = (of: readonly { readonly version: string }[]) => of.map(({ version }) => version);
  expect(Fixture.releases()).toEqual(expect.arrayContaining(names(releases)));
  expect(names(sections())).toEqual(expect.arrayContaining(Fixture.releases()));
});

describe('the version of which a fixture is written', () => {
  const versionOf = (changelog: string) => unreleasedVersion(sectionsOf(changelog));

  it('is the unreleased one at the top of the changelog, whatever package.json has', () => {
    expect(versionOf('# C\n\n## 0.2.0 - unreleased\n\n- A.\n\n## 0.1.0 - 2027-01-31\n')).toBe('0.2.0');
  });

  it.each([
    '# C\n',
    '# C\n\n## 0.1.0 - 2027-01-31\n',
    '# C\n\n## 0.2.0 - 2027-02-01\n\n## 0.1.0 - unreleased\n',
  ])('is none in %j, so that the fixture of a release stays as it is', (changelog) => {
    expect(() => versionOf(changelog)).toThrow('never changed');
  });
});

describe.each(Fixture.releases())('the database of release %s', (release) => {
  const fixture = new Fixture(release);

  it('has the schema that its migrations still make, and rows in every table', async () => {
    database = await fixture.restore(directory);
    const names = await database.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    const then = names.map(({ name }) => allMigrations().find((each) => each.name === name));
    const other = await bareDatabase(mkdtempSync(join(directory, 'other-')));
    await migrateUp(
      other,
      then.filter((each) => each !== undefined),
    );
    expect(then).not.toContain(undefined);
    expect(await schemaOf(database)).toStrictEqual(await schemaOf(other));
    await other.drop();
    const empty = Object.entries(await contentsOf(database)).filter(([, rows]) => rows.length === 0);
    expect(empty.map(([name]) => name).filter((name) => !PASSING.includes(name))).toStrictEqual([]);
  });

  it('is opened by the present code: all that it has answered and proven is still so', async () => {
    database = await fixture.restore(directory);
    const { manifest } = fixture;
    await opened(database, manifest.made_at, (service) => expectKept(manifest, service));
  });
});
