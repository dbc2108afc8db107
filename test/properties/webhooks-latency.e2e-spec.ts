import { useReceiver } from '../support/receiver';
import { Service, useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

describe('the first attempt', () => {
  const service = useServiceInProcess();
  const receiver = useReceiver();

  it('follows the commit at once: in under 50 ms for every other call', async () => {
    const bot = await service.registerBot({ webhook_url: receiver.url });
    const latencies: number[] = [];
    for (let n = 1; n <= 41; n++) {
      await bot.hasForgotten(subject());
      const answeredMs = performance.now();
      await receiver.received(n);
      latencies.push(performance.now() - answeredMs);
    }
    expect(latencies.sort((a, b) => a - b)[20]).toBeLessThan(50);
  });
});

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
