import { Bot } from '../support/bot';
import { bareDatabase } from '../support/database';
import { NEWEST, usePackedServer } from '../support/packed-server';
import { LETHE_MASTER_KEY } from '../support/service';

const INSTALL_MAX_MS = 400_000;
const packed = usePackedServer();

describe('@lethe/server with PostgreSQL', () => {
  it(
    'migrates, answers as an api and works as a worker, in processes of their own',
    async () => {
      const database = await bareDatabase(packed.place);
      const server = packed.folder('postgres', NEWEST);
      server.install(packed.tarball);
      server.writeFile('.env', [
        `DATABASE_URL=${database.url}`,
        `LETHE_MASTER_KEY=${LETHE_MASTER_KEY}`,
        'MIGRATE_ON_START=false',
      ]);
      expect(server.server('migrate')).toMatchObject({ code: 0 });
      const api = await server.start('start', { JOBS: 'off' });
      const worker = await server.start('worker', { WORKER_PORT: '0' });
      try {
        const bot = await Bot.register(api.url);
        expect((await fetch(`${worker.url}/health/ready`)).status).toBe(200);
        expect((await fetch(`${worker.url}/api/v1/bots/me`)).status).toBe(404);
        expect(server.server('admin', 'bots:list').stdout).toContain(bot.platformBotId);
      } finally {
        expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
        await database.drop();
      }
    },
    INSTALL_MAX_MS,
  );
});
