import { UnitOfWork } from '@app/database';
import { OrphanKeys } from '@app/gdpr';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { readsAndTurns } from '../support/turns';

const service = useServiceInProcess();
afterEach(() => jest.restoreAllMocks());

const keys = async (): Promise<string[]> =>
  (await service.database.rows<{ id: string }>('SELECT id FROM keys.subject_keys ORDER BY id')).map(
    ({ id }) => id,
  );

/** Keys as a crash between the commits of keys and data leaves them. */
async function hasOrphans(count: number): Promise<void> {
  await service.database.run(
    `INSERT INTO keys.subject_keys (id, sealed)
     WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ?)
     SELECT printf('orphan%06d', at), 'sealed' FROM n`,
    count,
  );
}

describe('keys that no subject has', () => {
  it('are removed by the second run that finds them, and the keys of subjects are not', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasConsent(who);
    const before = await keys();
    await hasOrphans(3);
    expect(await keys()).toHaveLength(before.length + 3);
    await runNow(service, OrphanKeys);
    expect(await keys()).toHaveLength(before.length + 3);
    await runNow(service, OrphanKeys);
    expect(await keys()).toStrictEqual(before);
    expect(await bot.eventTypes(who)).toContain('consent_accepted');
  });

  it('are looked for in reads between which other work runs', async () => {
    await hasOrphans(900);
    const run = () => runNow(service, OrphanKeys);
    const { found } = await readsAndTurns(service.app.get(UnitOfWork), run);
    expect(found).toStrictEqual(['read', 'turn', 'read', 'turn']);
    await runNow(service, OrphanKeys);
    expect((await keys()).filter((id) => id.startsWith('orphan'))).toStrictEqual([]);
  });

  it('are kept where there are many, since the data is then older than the keys', async () => {
    const before = await keys();
    await hasOrphans(1_001);
    for (let runs = 0; runs < 2; runs++) await runNow(service, OrphanKeys);
    expect(await keys()).toHaveLength(before.length + 1_001);
    expect(service.logLines.some((line) => line.includes('the data is older than the keys'))).toBe(true);
  });
});
