import { Service } from '../support/service';

describe('a start with another key than the secrets were sealed with', () => {
  it('is refused with a line that says what to restore', async () => {
    const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
    const service = await new Service({ LETHE_MASTER_KEY: key(1) }).start();
    await service.registerBot();
    await service.app.close();
    const { url } = service.database;
    const changed = new Service({ LETHE_MASTER_KEY: `${key(2)},${key(1)}`, DATABASE_URL: url });
    await changed.start();
    await changed.stop();
    // Last, since a process that refuses to start releases the file only at its end.
    const other = new Service({ LETHE_MASTER_KEY: key(2), DATABASE_URL: url });
    await expect(other.start()).rejects.toThrow(/encrypted with another master key/);
    await other.remove();
    await service.remove();
  });
});
