import { keysDestroyedUntil, noteDeletedBot } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { useServiceInProcess } from '../support/service';

const service = useServiceInProcess();

describe('a bot that is deleted again after a restore', () => {
  it('has the later time on record, whichever process has the clock that is behind', async () => {
    const found: string[] = [];
    await service.app.get(UnitOfWork).write(async (tx) => {
      for (const day of ['02', '01', '03']) {
        await noteDeletedBot(tx, 'restored', `2026-01-${day}T00:00:00.000Z`);
        found.push((await keysDestroyedUntil(tx, 'restored')).slice(8, 10));
      }
    });
    expect(found).toEqual(['02', '02', '03']);
  });
});
