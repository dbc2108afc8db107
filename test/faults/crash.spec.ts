import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { Crashes } from '../support/crashes';

const build = useBuild();
let service: Crashes;
beforeEach(async () => {
  service = await new Crashes(build).open();
});
afterEach(() => service.remove());

describe('a second process on the same file', () => {
  it('is refused with a message that names the reason, and the first continues', async () => {
    const bot = await Bot.register((await service.start()).url);
    const { code, stderr } = await service.refused();
    expect(code).toBe(1);
    expect(stderr).toContain('Another process is using');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });

  it('can start as soon as the first was killed', async () => {
    await service.start();
    await service.kill();
    await expect(service.start()).resolves.toBeDefined();
  });
});

describe('a file that is no database of Lethe', () => {
  it.each([
    ['garbage', Buffer.from('this is no database, but somebody may want it back'.repeat(100))],
    ['a header and garbage', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8192, 'x')])],
  ])('is left untouched, with a message that says what to do (%s)', async (_, bytes) => {
    writeFileSync(service.path, bytes);
    const { code, stderr } = await service.refused();
    expect(code).toBe(1);
    expect(stderr).toMatch(/damaged or no SQLite database/);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(readFileSync(service.path).equals(bytes)).toBe(true);
  });

  it('is left untouched when a newer Lethe has written it', async () => {
    await service.start();
    await service.terminate();
    await service.database.run(
      `INSERT INTO migrations (timestamp, name) VALUES (4000000000000, 'Later4000000000000')`,
    );
    const before = readFileSync(service.path);
    const { code, stderr } = await service.refused();
    expect(code).toBe(1);
    expect(stderr).toContain('Later4000000000000');
    expect(readFileSync(service.path).equals(before)).toBe(true);
  });
});

describe('a start that cannot succeed', () => {
  it('is refused with one readable line for each wrong setting', async () => {
    const { code, stderr } = await service.refused({
      RATE_LIMIT_TIERS: 'free',
      WEBHOOK_TYPO: '1',
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(1);
    for (const name of ['RATE_LIMIT_TIERS', 'WEBHOOK_TYPO', 'LOG_LEVEL'])
      expect(stderr.split('\n').filter((line) => line.includes(`- ${name}`))).toHaveLength(1);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('SIGTERM', () => {
  it('ends the process in order with code 0, and the file is whole without its log', async () => {
    const bot = await Bot.register((await service.start()).url);
    expect(await service.terminate()).toMatchObject({ code: 0, signal: null });
    expect(existsSync(`${service.path}-wal`)).toBe(false);
    service.requireWhole();
    await service.start();
    expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });
});
