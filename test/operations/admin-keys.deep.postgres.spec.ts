import { Keyring } from '@app/crypto';
import { SystemClock, SystemRandom } from '@app/kernel';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { runScript } from '../support/child-script';
import { ChildService } from '../support/child-service';
import { newDatabase, type TestDatabase } from '../support/database';
import { atDepth, someOf } from '../support/depth';
import { ServiceHere } from '../support/here';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const build = useBuild();
const random = new SystemRandom(new SystemClock());
const [OLD, PRESENT] = [randomBytes(32), randomBytes(32)];
const BOTH = `${PRESENT.toString('base64')},${OLD.toString('base64')}`;

let directory: string;
let database: TestDatabase;
const settings = (LETHE_MASTER_KEY: string) => ({ DATABASE_URL: database.url, LETHE_MASTER_KEY });
/** A service that no command runs beside. */
const serviceHere = (key: Buffer): Promise<ServiceHere> =>
  new ServiceHere(database, settings(key.toString('base64'))).start();

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await newDatabase(directory);
});
afterEach(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

describe('npm run admin -- keys:rotate beside running processes', () => {
  it('loses nothing that they write meanwhile: with the new key alone everything can be read', async () => {
    const first = await serviceHere(OLD);
    const bot = await Bot.register(first.url);
    await bot.hasCategory('profile');
    const people: SubjectIds[] = [];
    const lives = async (on: Bot): Promise<void> => {
      const who = subject();
      await on.hasConsent(who);
      await on.hasData(who, 'profile', { value: who.user_id });
      people.push(who);
    };
    for (let count = 0; count < atDepth(10, 50); count++) await lives(bot);
    await first.end();

    const path = join(directory, 'lethe.db');
    const running = await new ChildService(build.directory, path, settings(BOTH)).start();
    const there = bot.at(running);
    const rotation = runScript(build, 'admin', ['keys:rotate'], settings(BOTH));
    let done = false;
    void rotation.then(() => (done = true));
    while (!done) await lives(there);
    expect((await rotation).code).toBe(0);
    await running.end('SIGTERM');

    const last = await serviceHere(PRESENT);
    const then = bot.at(last);
    for (const who of someOf(people, 4))
      expect((await then.export<{ data: object }>(who)).data.data).toEqual({
        profile: { value: who.user_id },
      });
    await last.end();
  });

  it('keeps a webhook secret that was changed while it waited for its row', async () => {
    const first = await serviceHere(OLD);
    const bot = await Bot.register(first.url);
    await first.end();
    const changed = new Keyring([OLD], random).encrypt('whsec_changed', `bots/${bot.id}/webhook_secret`);
    const rival = new Client({ connectionString: database.url });
    await rival.connect();
    await rival.query('BEGIN');
    await rival.query('UPDATE bots SET webhook_secret = $1', [changed]);
    const rotation = runScript(build, 'admin', ['keys:rotate'], settings(BOTH));
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE bots%'
      AND datname = current_database()`;
    await until(async () => (await database.rows(waiting)).length > 0);
    await rival.query('COMMIT');
    await rival.end();
    expect((await rotation).code).toBe(0);
    const [row] = await database.rows<{ webhook_secret: string }>('SELECT webhook_secret FROM bots');
    const opened = new Keyring([PRESENT], random).decrypt(
      row?.webhook_secret ?? '',
      `bots/${bot.id}/webhook_secret`,
    );
    expect(opened).toBe('whsec_changed');
  });
});
