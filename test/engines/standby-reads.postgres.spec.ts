import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inPortions, UnitOfWork } from '@app/database';
import { Readiness } from '@app/runtime';
import { Tracing } from '@app/tracing';
import type { Bot } from '../support/bot';
import { Collector } from '../support/collector';
import type { TestDatabase } from '../support/database';
import { atDepth, itAtFullDepth } from '../support/depth';
import { Replicated } from '../support/replicated';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// DATABASE_READ_URL: what a standby serves is never older than what any process has answered before.

/** How long a read waits for a standby, in milliseconds, and the time between two looks at it. */
const [WAIT_MS, LOOK_MS] = [100, 1_000];

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
let replicated: Replicated;
let services: Service[];
let bot: Bot;

const urls = () => ({
  DATABASE_URL: replicated.primary.url('lethe'),
  DATABASE_READ_URL: replicated.standby.url('lethe'),
});
const at = (index: number): Service => services[index] as Service;

beforeAll(async () => {
  replicated = await Replicated.create({ isSynchronous: false });
  const { primary } = replicated;
  await primary.sql('postgres', 'CREATE DATABASE lethe');
  const database = { drop: async () => undefined } as unknown as TestDatabase;
  const settings = { ...urls(), JOBS: 'off' };
  services = [1, 2].map(() => new Service(settings, database));
  for (const service of services) {
    await service.start();
    service.app.get(Readiness, { strict: false }).ready = true;
  }
  bot = await at(0).registerBot();
  await bot.hasCategory('profile');
  await servesAgain();
});
afterAll(async () => {
  for (const service of services) await service.app.close();
  await replicated.remove();
  rmSync(directory, { recursive: true });
});

/** How many reads each server has served for a process. */
async function served(service = at(0)): Promise<{ standby: number; primary: number }> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const count = (server: string): number =>
    Number(new RegExp(`standby_reads_total{server="${server}"} (\\d+)`).exec(text)?.[1] ?? 0);
  return { standby: count('standby'), primary: count('primary') };
}

const list = (service = at(0)) =>
  bot.at(service).get<{ values: { user_id: string }[] }>(`/data/values?guild_id=${GUILD}&category=profile`);
const GUILD = subject().guild_id;

/** Resolves when the standby serves the reads of both processes. */
async function servesAgain(): Promise<void> {
  for (const service of services)
    await until(async () => {
      const before = (await served(service)).standby;
      await list(service);
      return (await served(service)).standby > before;
    });
}

describe('a list on a standby', () => {
  it('has what was answered before by another process, each of many times at once', async () => {
    const before = await served();
    const missing: string[] = [];
    const one = async (): Promise<void> => {
      const who = { ...subject(), guild_id: GUILD };
      for (let times = 0; times < atDepth(10, 40); times++) {
        const { id } = (
          await bot.at(at(0)).post<{ id: string }>('/audit/event', { ...who, event_type: 'data_exported' })
        ).data;
        const { events } = (
          await bot
            .at(at(1))
            .get<{ events: { id: string }[] }>(`/audit/events?user_id=${who.user_id}&page_size=1`)
        ).data;
        if (events[0]?.id !== id) missing.push(id);
      }
    };
    await Promise.all(Array.from({ length: 6 }, one));
    expect(missing).toEqual([]);
    const after = await served(at(1));
    expect(after.standby).toBeGreaterThan(before.standby + after.primary);
  });

  it('never shows a user whose erasure was answered, however late the standby is', async () => {
    const who = { ...subject(), guild_id: GUILD };
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await servesAgain();
    const shows = async (service: Service): Promise<boolean> =>
      (await list(service)).data.values.some(({ user_id }) => user_id === who.user_id);
    expect(await shows(at(1))).toBe(true);
    await replicated.standby.sql('lethe', 'SELECT pg_wal_replay_pause()');
    await bot.hasForgotten(who);
    const before = await served(at(1));
    const begunMs = performance.now();
    expect(await shows(at(1))).toBe(false);
    expect(performance.now() - begunMs).toBeLessThan(WAIT_MS + 1_000);
    expect((await served(at(1))).primary).toBeGreaterThan(before.primary);
    // The standby itself still has the row.
    const held = 'SELECT 1 FROM user_data';
    expect(await replicated.standby.sql('lethe', held)).toHaveLength(1);
    await replicated.standby.sql('lethe', 'SELECT pg_wal_replay_resume()');
    await servesAgain();
    expect(await shows(at(1))).toBe(false);
  });

  it('costs the wait for a late standby once in each look, not in each read', async () => {
    await replicated.standby.sql('lethe', 'SELECT pg_wal_replay_pause()');
    await bot.post('/audit/event', { ...subject(), event_type: 'data_exported' });
    const begunMs = performance.now();
    for (let times = 0; times < 30; times++) await list();
    const waits = Math.ceil((performance.now() - begunMs) / LOOK_MS) + 1;
    expect(performance.now() - begunMs).toBeLessThan(waits * WAIT_MS + 1_500);
    await replicated.standby.sql('lethe', 'SELECT pg_wal_replay_resume()');
    await servesAgain();
  });
});

describe('a read whose snapshot the replay has to end', () => {
  it('is run again on the primary', async () => {
    await replicated.standby.sql(
      'postgres',
      'ALTER SYSTEM SET max_standby_streaming_delay = 0',
      'SELECT pg_reload_conf()',
    );
    await replicated.primary.sql(
      'lethe',
      'CREATE TABLE notes AS SELECT g AS id FROM generate_series(1, 500) g',
    );
    await servesAgain();
    let runs = 0;
    const places: boolean[] = [];
    const found = await at(0)
      .app.get(UnitOfWork)
      .readAnywhere(async (tx) => {
        places.push(tx.isOnStandby);
        const before = await tx.all('SELECT id FROM notes');
        if (++runs === 1) await replicated.primary.sql('lethe', 'DELETE FROM notes', 'VACUUM notes');
        for (let more = 0; more < 50; more++) await tx.all('SELECT id, pg_sleep(0.01) FROM notes LIMIT 1');
        return before.length;
      });
    expect({ found, places }).toEqual({ found: 0, places: [true, false] });
  });
});

describe('an export in portions', () => {
  it('goes on where the standby ends in its middle', async () => {
    const who = { ...subject(), guild_id: GUILD };
    await bot.hasConsent(who);
    const details = { text: 'x'.repeat(3_000) };
    for (let event = 0; event < 400; event++)
      await bot.post('/audit/event', { ...who, event_type: 'data_exported', details });
    await servesAgain();
    const before = await served();
    let isKilled = false;
    const ended = replicated.standby.kill().then(() => (isKilled = true));
    const answer = await bot.export<{ audit_events: unknown[] }>(who, '&format=full');
    await ended;
    expect({ status: answer.status, isKilled }).toEqual({ status: 200, isKilled: true });
    const text = JSON.stringify(answer.body);
    expect(text.split('x'.repeat(3_000)).length - 1).toBe(400);
    expect((await served()).primary).toBeGreaterThan(before.primary);
    await replicated.standby.start();
    await servesAgain();
  });
});

describe('a portion whose standby ends in its middle', () => {
  it.each(['without traces', 'with traces'])('goes on on the primary, %s', async (traces) => {
    const collector = await new Collector().start();
    const settings = {
      ...urls(),
      JOBS: 'off',
      ...(traces === 'with traces' && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
    };
    const service = await new Service(settings, at(0).database).start();
    const unitOfWork = service.app.get(UnitOfWork);
    const tracing = service.app.get(Tracing);
    expect(tracing.isOn).toBe(traces === 'with traces');
    await until(() => unitOfWork.readAnywhere(async (tx) => tx.isOnStandby));
    const places: boolean[] = [];
    const pieces = inPortions(unitOfWork, async function* (tx) {
      const isAStandby = async () =>
        (await tx.get<{ is: boolean }>('SELECT pg_is_in_recovery() AS is'))?.is === true;
      places.push(await isAStandby());
      yield 'first';
      await replicated.standby.kill();
      places.push(await isAStandby());
      yield 'second';
    });
    const read = tracing.trace({ name: 'export' }, async () => {
      const portions: string[] = [];
      for await (const portion of pieces) portions.push(...portion);
      return portions;
    });
    expect(await read).toEqual(['first', 'second']);
    expect(places).toEqual([true, false]);
    await service.app.close();
    await collector.stop();
    await replicated.standby.start();
    await servesAgain();
  });
});

describe('a standby that falls silent', () => {
  it('holds no read for longer than one that is late, on an open connection and on new ones', async () => {
    await servesAgain();
    replicated.standby.freeze();
    const begunMs = performance.now();
    const answers = await Promise.all([list(), list(), list(), list(), list(), list()]);
    const tookMs = performance.now() - begunMs;
    replicated.standby.thaw();
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(tookMs).toBeLessThan(3 * WAIT_MS + 1_000);
    await servesAgain();
  });
});

describe('a standby that is away', () => {
  itAtFullDepth(
    'makes no request fail, and the process degraded after ten seconds until it is back',
    async () => {
      await replicated.standby.kill();
      const ready = async () =>
        (await at(0).anonymous.send<{ status: string; conditions?: string[] }>('GET', '/health/ready')).data;
      expect((await list()).status).toBe(200);
      expect(await ready()).toEqual({ status: 'ok' });
      await until(async () => (await ready()).conditions?.includes('standby_away') === true, 200);
      expect((await list()).status).toBe(200);
      await replicated.standby.start();
      await until(async () => (await ready()).status === 'ok', 200);
      await servesAgain();
    },
  );

  it('is not used while it is promoted: what the primary answers is not there', async () => {
    await replicated.standby.promote();
    const who = { ...subject(), guild_id: GUILD };
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'y' });
    const before = await served();
    const { values } = (await list()).data;
    expect(values.map(({ user_id }) => user_id)).toContain(who.user_id);
    expect((await served()).standby).toBe(before.standby);
  });

  it('that is another database is never used', async () => {
    const other = await Replicated.create({ isSynchronous: false });
    await other.primary.sql('postgres', 'CREATE DATABASE lethe');
    const settings = {
      DATABASE_URL: replicated.primary.url('lethe'),
      DATABASE_READ_URL: other.standby.url('lethe'),
      JOBS: 'off',
    };
    const service = await new Service(settings, at(0).database).start();
    expect((await list(service)).status).toBe(200);
    expect(await served(service)).toEqual({ standby: 0, primary: 2 });
    await service.app.close();
    await other.remove();
  });
});
