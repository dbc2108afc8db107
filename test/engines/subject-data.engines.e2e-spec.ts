import { KEY_TABLES } from '@app/database';
import { HoldsSubjectData, SubjectDataHolders } from '@app/crypto';
import { useServiceInProcess } from '../support/service';

const service = useServiceInProcess();

/** Tables about users without a holder. */
function unclaimed(
  tables: readonly { name: string; columns: string[] }[],
  claimed: readonly string[],
): string[] {
  return tables
    .filter(({ columns }) => columns.some((column) => /user_id|subject/.test(column)))
    .map(({ name }) => name)
    .filter((name) => !claimed.includes(name));
}

const claimed = () =>
  service.app
    .get(SubjectDataHolders)
    .all()
    .flatMap((holder) => holder.tables);

describe('SubjectDataHolders', () => {
  it('claim every table that has a user id, so that export and erasure reach all of it', async () => {
    // The erasure itself destroys the key with its row in `subjects`, and keeps digests in the ledger.
    const own = ['subjects', ...Object.keys(KEY_TABLES).map((name) => `keys.${name}`)];
    expect(unclaimed(await service.database.tables(), [...claimed(), ...own])).toStrictEqual([]);
  });

  it('claim no table twice and none that is not there', async () => {
    const tables = claimed();
    expect(new Set(tables).size).toBe(tables.length);
    const existing = (await service.database.tables()).map(({ name }) => name);
    expect(existing).toEqual(expect.arrayContaining(tables));
  });

  it('would be found wanting for a table that nobody claims', () => {
    const horoscopes = { name: 'horoscopes', columns: ['bot_id', 'user_id', 'at'] };
    const cities = { name: 'cities', columns: ['name'] };
    expect(unclaimed([horoscopes, cities], claimed())).toStrictEqual(['horoscopes']);
  });

  it('are found by their decorator, whichever module brings them', () => {
    expect(HoldsSubjectData.KEY).toBeDefined();
    expect(service.app.get(SubjectDataHolders).all().length).toBeGreaterThanOrEqual(3);
  });
});
