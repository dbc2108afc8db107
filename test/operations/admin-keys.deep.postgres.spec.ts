import { Keyring } from '@app/crypto';
import { SystemClock, SystemRandom } from '@app/kernel';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import type { ScriptRun } from '../support/child-script';
import { atDepth, someOf } from '../support/depth';
import { useInstallation } from '../support/installation';
import type { SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const random = new SystemRandom(new SystemClock());
const [OLD, PRESENT] = [randomBytes(32), randomBytes(32)];
const BOTH = `${PRESENT.toString('base64')},${OLD.toString('base64')}`;

const lethe = useInstallation({ build: useBuild() });
const key = (bytes: Buffer) => ({ LETHE_MASTER_KEY: bytes.toString('base64') });
/** A rotation beside the processes. */
function rotated(): Promise<ScriptRun> {
  lethe.settings['LETHE_MASTER_KEY'] = BOTH;
  return lethe.adminApart(['keys:rotate']);
}

describe('npm run admin -- keys:rotate beside running processes', () => {
  it('loses nothing that they write meanwhile: with the new key alone everything can be read', async () => {
    const first = await lethe.here(key(OLD)).start();
    const bot = await Bot.register(first.url);
    await bot.hasCategory('profile');
    const people: SubjectIds[] = [];
    const lives = async (on: Bot): Promise<void> => {
      people.push(await on.hasUser());
    };
    for (let count = 0; count < atDepth(10, 50); count++) await lives(bot);
    await first.end();

    const running = await lethe.child({ LETHE_MASTER_KEY: BOTH }).start();
    const there = bot.at(running);
    const rotation = rotated();
    let done = false;
    void rotation.then(() => (done = true));
    while (!done) await lives(there);
    expect((await rotation).code).toBe(0);
    await running.end('SIGTERM');

    const last = await lethe.here(key(PRESENT)).start();
    const then = bot.at(last);
    for (const who of someOf(people, 4))
      expect((await then.export<{ data: object }>(who)).data.data).toEqual({
        profile: { value: who.user_id },
      });
    await last.end();
  });

  it('keeps a webhook secret that was changed while it waited for its row', async () => {
    const first = await lethe.here(key(OLD)).start();
    const bot = await Bot.register(first.url);
    await first.end();
    const changed = new Keyring([OLD], random).encrypt('whsec_changed', `bots/${bot.id}/webhook_secret`);
    const rival = new Client({ connectionString: lethe.database.url });
    await rival.connect();
    await rival.query('BEGIN');
    await rival.query('UPDATE bots SET webhook_secret = $1', [changed]);
    const rotation = rotated();
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE bots%'
      AND datname = current_database()`;
    await until(async () => (await lethe.database.rows(waiting)).length > 0);
    await rival.query('COMMIT');
    await rival.end();
    expect((await rotation).code).toBe(0);
    const [row] = await lethe.database.rows<{ webhook_secret: string }>('SELECT webhook_secret FROM bots');
    const opened = new Keyring([PRESENT], random).decrypt(
      row?.webhook_secret ?? '',
      `bots/${bot.id}/webhook_secret`,
    );
    expect(opened).toBe('whsec_changed');
  });
});
