import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseEngine, DiskWatch } from '@app/database';
import { Degradations, readConfig } from '@app/kernel';
import { lastBackups } from '@app/operations';
import { Health } from '@app/runtime';
import { schemaSource } from '../../ormconfig';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { adminHere } from '../support/here';
import { Service } from '../support/service';
import { describeOnSmallDisk } from '../support/small-disk';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

// A file system that is really full, and SQLite on it.

const DISK_MIB = 32;
/** An eighth of the disk. */
const BALLAST_BYTES = 2 ** 22;
const USERS = 60;

function expectErased(answers: readonly Answer<{ status: string; deleted_categories: string[] }>[]): void {
  const ends = answers.map(({ status, body }) => [
    status,
    (body as { data?: { status: string } }).data?.status,
  ]);
  expect(ends).toEqual(answers.map(() => [200, 'completed']));
}

describeOnSmallDisk('on a full disk', DISK_MIB, (disk) => {
  let service: Service;
  let bot: Bot;
  let users: SubjectIds[];

  const ballast = () => statSync(join(disk.directory, 'lethe.db.ballast')).size;
  const look = () => service.app.get(DiskWatch).look();
  const ready = () => {
    service.app.get(Health).isServing = true;
    return service.app.get(Health).ready();
  };
  const forget = (who: SubjectIds) =>
    bot.post<{ status: string; deleted_categories: string[] }>('/gdpr/forget-user', who);
  const submit = (who: SubjectIds, value: string) =>
    bot.post('/data/submit', { ...who, category: 'notes', data: { value } });

  beforeAll(async () => {
    service = await new Service(
      { LETHE_MASTER_KEY: Buffer.alloc(32, 'k').toString('base64') },
      undefined,
      disk.directory,
    ).start();
    bot = await service.registerBot();
    await bot.hasCategory('notes');
  });
  beforeEach(async () => {
    await look();
    expect(ballast()).toBe(BALLAST_BYTES);
    const guild_id = snowflake();
    await bot.post('/servers/register', { guild_id });
    users = Array.from({ length: USERS }, () => ({ ...subject(), guild_id }));
    for (const who of users) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'notes', { value: 'x'.repeat(200) });
    }
  });
  afterEach(async () => {
    disk.clear();
    await look();
  });
  afterAll(() => service.app.close());

  it('20 of 20 users are erased, one after the other and at once', async () => {
    disk.fill();
    const answers: Answer<{ status: string; deleted_categories: string[] }>[] = [];
    for (const who of users.slice(0, 10)) answers.push(await forget(who));
    answers.push(...(await Promise.all(users.slice(10, 20).map(forget))));
    expectErased(answers);
    expect(ballast()).toBeLessThan(BALLAST_BYTES);
    for (const who of users.slice(0, 20)) expect((await bot.export(who)).status).toBe(404);
  });

  it('users are erased though another program takes what is released', async () => {
    disk.fill();
    expectErased([await forget(users[0]!)]);
    disk.fill();
    expectErased([await forget(users[1]!), await forget(users[2]!)]);
  });

  it('a consent is withdrawn and a guild is deleted', async () => {
    disk.fill();
    const [who] = users;
    expect((await bot.post('/consents/revoke', who!)).status).toBe(200);
    expect(await bot.delete(`/servers/${who!.guild_id}`)).toMatchObject({ status: 200 });
    for (const each of users) expect((await bot.export(each)).status).toBe(404);
  });

  it('the deletion of a guild is cancelled, and a webhook secret is replaced', async () => {
    const guild = `/servers/${users[0]!.guild_id}`;
    expect((await bot.delete(`${guild}?grace_days=7`)).status).toBe(200);
    disk.fill();
    await look();
    expect((await submit(users[1]!, 'y')).status).toBe(503);
    expect((await bot.post(`${guild}/cancel-deletion`, {})).status).toBe(200);
    expect((await bot.post(`/bots/${bot.id}/webhook-secret/rotate`, {})).status).toBe(200);
  });

  it('what would store more is refused, readers are answered, and readiness and the log say why', async () => {
    disk.fill();
    await forget(users[0]!);
    const refused = await submit(users[1]!, 'y');
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
    expect(refused.text).toContain('what stores more is refused, and erasures and withdrawals are accepted');
    expect(Number(refused.header('retry-after'))).toBeGreaterThan(0);
    const items = [{ ...users[1]!, category: 'profile', data: { value: 'y' } }];
    expect((await bot.post('/data/submit/batch', { items })).status).toBe(503);
    expect((await bot.export(users[1]!)).status).toBe(200);
    const { guild_id, user_id } = users[1]!;
    expect((await bot.post('/consents/status/batch', { items: [{ user_id, guild_id }] })).status).toBe(200);
    expect(await ready()).toMatchObject({
      status: 'degraded',
      conditions: expect.arrayContaining(['disk_low']),
    });
    expect(service.logLines.join('')).toContain('The disk of the database is almost full');
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^lethe_degraded{condition="disk_low"} 1$/m);
    expect(Number(/^lethe_database_disk_free_bytes (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  });

  it('everything is accepted again once there is room, with a whole ballast and without a restart', async () => {
    disk.fill();
    await forget(users[0]!);
    expect((await submit(users[1]!, 'y')).status).toBe(503);
    disk.clear();
    await look();
    expect(service.app.get(Degradations).has('disk_low')).toBe(false);
    expect(ballast()).toBe(BALLAST_BYTES);
    expect((await submit(users[1]!, 'y')).status).toBe(200);
  });

  it('little room is noticed before it is full, and the ballast is kept', async () => {
    disk.fill();
    await look();
    expect(await ready()).toMatchObject({
      status: 'degraded',
      conditions: expect.arrayContaining(['disk_low']),
    });
    expect((await submit(users[1]!, 'y')).status).toBe(503);
    expect(ballast()).toBe(BALLAST_BYTES);
    expectErased([await forget(users[2]!)]);
  });
});

describeOnSmallDisk('on a full disk of the keys alone', DISK_MIB, (disk) => {
  it('users are erased with the ballast beside the keys, readiness says disk_low, and both end with room', async () => {
    const data = mkdtempSync(join(tmpdir(), 'lethe-test-'));
    symlinkSync(join(disk.directory, 'keys.db'), join(data, 'keys.db'));
    const settings = {
      LETHE_MASTER_KEY: Buffer.alloc(32, 'k').toString('base64'),
      DATABASE_BALLAST_MIB: '4',
    };
    const service = await new Service(settings, undefined, data).start();
    const look = () => service.app.get(DiskWatch).look();
    const ballasts = () =>
      [join(disk.directory, 'keys.db'), join(data, 'lethe.db')].map(
        (file) => statSync(`${file}.ballast`).size,
      );
    const bot = await service.registerBot();
    await bot.hasCategory('notes');
    const users = Array.from({ length: 21 }, () => subject());
    for (const who of users) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'notes', { value: 'x' });
    }
    const kept = users.pop()!;
    const forget = (who: SubjectIds) =>
      bot.post<{ status: string; deleted_categories: string[] }>('/gdpr/forget-user', who);
    const submit = () => bot.post('/data/submit', { ...kept, category: 'notes', data: { value: 'y' } });
    await look();
    expect(ballasts()).toEqual([BALLAST_BYTES, BALLAST_BYTES]);

    disk.fill();
    const answers: Answer<{ status: string; deleted_categories: string[] }>[] = [];
    for (const who of users.slice(0, 10)) answers.push(await forget(who));
    answers.push(...(await Promise.all(users.slice(10).map(forget))));
    expectErased(answers);
    const [keys, values] = ballasts();
    expect([keys! < BALLAST_BYTES, values]).toEqual([true, BALLAST_BYTES]);
    service.app.get(Health).isServing = true;
    expect(await service.app.get(Health).ready()).toEqual({ status: 'degraded', conditions: ['disk_low'] });
    expect((await submit()).status).toBe(503);

    disk.clear();
    await look();
    expect(await service.app.get(Health).ready()).toEqual({ status: 'ok' });
    expect(ballasts()).toEqual([BALLAST_BYTES, BALLAST_BYTES]);
    expect((await submit()).status).toBe(200);
    await service.app.close();
    rmSync(data, { recursive: true });
  });
});

describeOnSmallDisk('at a start on a full disk', DISK_MIB, (disk) => {
  it('the schema is looked at and users are erased, with room of the ballast', async () => {
    const settings = { LETHE_MASTER_KEY: Buffer.alloc(32, 'k').toString('base64') };
    const service = await new Service(settings, undefined, disk.directory).start();
    const ballast = () => statSync(join(disk.directory, 'lethe.db.ballast')).size;
    const bot = await service.registerBot();
    await bot.hasCategory('notes');
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'notes', { value: 'x' });
    await service.app.get(DiskWatch).look();
    expect(ballast()).toBe(BALLAST_BYTES);
    await service.app.close();

    disk.fill();
    const config = readConfig({ ...settings, ...service.database.settings });
    await databaseEngine(config).despiteFullDisk(async () =>
      (await schemaSource(config).initialize()).destroy(),
    );
    disk.fill();
    await service.start();
    expectErased([
      await bot.post<{ status: string; deleted_categories: string[] }>('/gdpr/forget-user', who),
    ]);
    expect(ballast()).toBeLessThan(BALLAST_BYTES);

    disk.clear();
    await service.app.get(DiskWatch).look();
    expect(ballast()).toBe(BALLAST_BYTES);
    await service.app.close();
  });
});

describeOnSmallDisk('a restore and a drill on a full disk', DISK_MIB, (disk) => {
  it('say where room is missing and what was replaced, and go on once there is room', async () => {
    const home = mkdtempSync(join(tmpdir(), 'lethe-test-'));
    const environment = {
      LETHE_MASTER_KEY: Buffer.alloc(32, 'k').toString('base64'),
      DATABASE_BALLAST_MIB: '0',
    };
    const admin = (data: string, ...args: string[]) =>
      adminHere(args, { ...environment, DATABASE_URL: `sqlite:${join(data, 'lethe.db')}` });
    const source = join(home, 'source');
    mkdirSync(source);
    const service = await new Service(environment, undefined, source).start();
    await service.registerBot();
    await service.app.close();
    const backups = join(home, 'backups');
    expect(await admin(source, 'backup', '--to', join(backups, 'b'))).toMatchObject({ code: 0 });
    const from = ['--from', join(backups, 'b')];

    expect(await admin(disk.directory, 'restore', ...from)).toMatchObject({ code: 0 });
    // Enough for the files of a lock, and too little for a copy of the data.
    disk.fill(2 ** 17);
    const full = (folder: string): unknown =>
      expect.stringMatching(
        `cannot be written \\(\\w+\\)\\. Nothing was replaced\\. Make room on the disk of ${folder}`,
      );
    expect(await admin(disk.directory, 'restore', ...from, '--force')).toMatchObject({
      code: 1,
      stderr: full(disk.directory),
    });
    expect(await admin(disk.directory, 'backup:drill', ...from)).toMatchObject({
      code: 1,
      stderr: full(disk.directory),
    });
    expect(lastBackups(join(disk.directory, 'lethe.db')).drill).toBeUndefined();
    disk.clear();
    expect(await admin(disk.directory, 'restore', ...from, '--force')).toMatchObject({ code: 0 });

    // The keys are on a disk of their own: the data are in place before it refuses them.
    const data = join(home, 'data');
    mkdirSync(data);
    symlinkSync(join(disk.directory, 'apart.db'), join(data, 'keys.db'));
    disk.fill(2 ** 14);
    const begun = await admin(data, 'restore', ...from);
    expect([begun.code, begun.stderr]).toEqual([
      1,
      expect.stringMatching(
        /cannot be written \(\w+\)\. The restore is not finished, and no service starts before its end\. Make room on the disk of \S+ and that of \S+, and run the same command again\.\n$/,
      ),
    ]);
    disk.clear();
    expect(await admin(data, 'restore', ...from)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('A restore that was interrupted is finished.'),
    });
    rmSync(home, { recursive: true });
  });
});
