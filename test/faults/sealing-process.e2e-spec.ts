import { AuditService } from '@app/audit';
import { SubjectDigests } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { verified, withoutSealing } from '../support/sealing';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'sealing').toString('base64');
const build = useBuild();

interface Ready {
  readonly data: { readonly status: string };
}

describe('a process that finds many events to be sealed', () => {
  it('seals them as another process verifies them, erased ones too', async () => {
    const service = await new Service({ LETHE_MASTER_KEY }).start();
    await withoutSealing(service);
    const bot = await service.registerBot();
    const gone = subject();
    await bot.post('/audit/event', { ...gone, event_type: 'data_exported', details: { note: 'gone' } });
    await bot.hasForgotten(gone);
    await service.app.get(UnitOfWork).write(async (tx) => {
      const named = service.app.get(SubjectDigests).named(bot.id, subject());
      for (let at = 0; at < 250; at++)
        await service.app.get(AuditService).record(tx, named, 'data_exported', at % 3 === 0 ? null : { at });
    });
    await service.app.close();

    const child = new ChildService(build.directory, service.databasePath, {
      LETHE_MASTER_KEY,
      DATABASE_URL: service.database.url,
    });
    await child.start();
    const batches = () => service.database.rows<{ events: number }>('SELECT events FROM audit_batches');
    await until(async () => (await batches()).some(({ events }) => Number(events) >= 250));
    const ready = async () => (await fetch(`${child.url}/health/ready`)).json() as Promise<Ready>;
    await until(async () => (await ready()).data.status === 'ok');
    expect((await child.end('SIGTERM')).code).toBe(0);

    await service.start();
    const summary = await verified(service, bot);
    expect(summary).toMatchObject({ faults: 0, unsealed: 0, found: [] });
    // All of the erased user: what the bot posted, the request and its end.
    expect(summary.erased).toBe(3);
    await service.stop();
  });
});
