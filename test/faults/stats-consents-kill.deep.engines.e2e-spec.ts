import { useBuild } from '../support/build';
import { killedAt, type Moment } from '../support/child-script';
import { manyConsents } from '../support/consent-acts';
import { directoryOnDisk } from '../support/disk';
import { useOneInstallation } from '../support/installation';
import { amidCountedDay } from '../support/time';
import { until } from '../support/until';

const lethe = useOneInstallation({ build: useBuild(), makeDirectory: directoryOnDisk });
const CONSENTS = 2_500;
/** The last part of a count has no end of its own. */
const LAST_PART =
  'SELECT COUNT\\(\\*\\) AS subjects FROM consents WHERE bot_id = \\S+ AND \\(guild_id, user_id\\) > \\(\\S+, \\S+\\)\\s+AND erasing';

const moments: readonly [string, Moment][] = [
  ['before the last part of a count', { at: LAST_PART }],
  ['before the number of the day', { at: 'INSERT INTO stats_consents' }],
  ['before the number of the present day', { at: 'INSERT INTO stats_consents', count: 2 }],
];

describe('a process that is killed while it counts users under consent', () => {
  beforeEach(amidCountedDay);

  it.each(moments)(
    '%s: the number of a day is whole or absent, and the next run has it',
    async (_, moment) => {
      const { database, service } = lethe;
      const bot = await lethe.withBot();
      await service.end();
      // A statement of another bot would be the one that is waited for.
      await database.run('DELETE FROM bots WHERE id <> ?', bot.id);
      await manyConsents(database, bot, CONSENTS);
      await database.run('DELETE FROM job_leases');
      const numbers = async () => {
        const rows = await database.rows<{ total: number }>('SELECT total FROM stats_consents');
        return rows.map(({ total }) => Number(total));
      };
      const { stderr } = await lethe.child(killedAt(moment, lethe.root)).refused();
      expect(stderr).toContain('HELD');
      expect((await numbers()).filter((subjects) => subjects !== CONSENTS)).toEqual([]);
      await database.run('DELETE FROM job_leases');
      await service.start();
      await until(async () => (await numbers()).length === 2);
      expect(await numbers()).toEqual([CONSENTS, CONSENTS]);
      await service.end();
    },
  );
});
