import { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import { PostgresUnitOfWork } from './postgres.unit-of-work';

/** A server that answers a connection which is open, and refuses each new one. */
function refusing(idleCount: number, waitingCount = 0) {
  const client = Object.assign(new EventEmitter(), {
    query: async (sql: string) => ({ command: sql, rows: [{}] }),
    release: () => undefined,
  });
  const refused = Object.assign(new Error('password authentication failed'), { code: '28P01' });
  const connect = jest.fn(() => (idleCount > 0 ? Promise.resolve(client) : Promise.reject(refused)));
  const pool = Object.assign(new EventEmitter(), { options: {}, idleCount, waitingCount, connect });
  const source = { driver: { master: pool } } as unknown as DataSource;
  const unitOfWork = new PostgresUnitOfWork(source, {}, () => undefined);
  jest.spyOn(unitOfWork, 'get').mockResolvedValue({});
  return { unitOfWork, pool };
}

describe('the question whether PostgreSQL answers', () => {
  it('is answered 503 while no connection for units is open and none can be opened', async () => {
    await expect(refusing(0).unitOfWork.ping()).rejects.toMatchObject({ status: 503 });
  });

  it.each(['idle', 'held by a unit'])('waits for no unit while a connection is %s', async (what) => {
    const { unitOfWork, pool } = refusing(1);
    if (what === 'idle') await unitOfWork.ping();
    else
      await unitOfWork.read(async () => {
        pool.idleCount = 0;
        await unitOfWork.ping();
      });
    expect(pool.connect).toHaveBeenCalledTimes(what === 'idle' ? 0 : 1);
  });

  it('waits for no unit while others wait for the connections that are being opened', async () => {
    const { unitOfWork, pool } = refusing(0, 1);
    await unitOfWork.ping();
    expect(pool.connect).not.toHaveBeenCalled();
  });

  it('is asked on a new connection once the last one has ended', async () => {
    const { unitOfWork, pool } = refusing(1);
    await unitOfWork.read(async () => undefined);
    pool.idleCount = 0;
    await unitOfWork.ping();
    expect(pool.connect).toHaveBeenCalledTimes(2);
  });
});
