import { setImmediate as pause } from 'node:timers/promises';
import type { Tx, UnitOfWork } from '@app/database';
import { SettledOrder } from './settled-order';

/** A played log with its last place and its writers; a list of writers can be held back. */
class Log {
  last = 0;
  writers: string[] = [];
  server = 'a';
  private held: Promise<void> | undefined;

  readonly order = new SettledOrder({
    read: (work: (tx: Tx) => Promise<unknown>) => work(this as unknown as Tx),
  } as unknown as UnitOfWork);

  readonly engine = 'postgres';

  get(): Promise<{ seq: number; server: string }> {
    return Promise.resolve({ seq: this.last, server: this.server });
  }

  async all(): Promise<{ id: string }[]> {
    const found = this.writers.map((id) => ({ id }));
    const held = this.held;
    this.held = undefined;
    await held;
    return found;
  }

  /** Holds back the next list of writers until the answer is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.held = new Promise((resolve) => (release = resolve));
    return release;
  }
}

describe('SettledOrder', () => {
  it('settles at once when no transaction is writing', async () => {
    const log = new Log();
    log.last = 5;
    expect(await log.order.look()).toEqual({ upTo: 5, settled: 5 });
  });

  it('waits for all writers at the look, and for none that began later', async () => {
    const log = new Log();
    [log.last, log.writers] = [5, ['1/1', '2/1']];
    expect(await log.order.look()).toEqual({ upTo: 5, settled: 0 });
    [log.last, log.writers] = [7, ['2/1', '3/1']];
    expect(await log.order.look()).toEqual({ upTo: 7, settled: 0 });
    [log.last, log.writers] = [8, ['1/2', '3/1']];
    expect(await log.order.look()).toEqual({ upTo: 8, settled: 5 });
    [log.last, log.writers] = [9, ['1/2']];
    expect(await log.order.look()).toEqual({ upTo: 9, settled: 7 });
  });

  it('does not count a writer as ended because an earlier look has not listed it', async () => {
    const log = new Log();
    log.last = 5;
    const release = log.hold();
    const first = log.order.look();
    await pause();
    [log.last, log.writers] = [6, ['1/1']];
    const second = log.order.look();
    await pause();
    release();
    expect([(await first).settled, (await second).settled]).toEqual([5, 5]);
    expect(await log.order.look()).toEqual({ upTo: 6, settled: 5 });
  });

  it('shares the next look between all that wait for it', async () => {
    const log = new Log();
    const release = log.hold();
    const looks = [log.order.look()];
    await pause();
    const get = jest.spyOn(log, 'get');
    looks.push(...Array.from({ length: 20 }, () => log.order.look()));
    release();
    await Promise.all(looks);
    expect(get).toHaveBeenCalledTimes(1);
  });

  it('goes on after a look that failed, and believes nothing of before', async () => {
    const log = new Log();
    [log.last, log.writers] = [5, ['1/1']];
    await log.order.look();
    jest.spyOn(log, 'get').mockRejectedValueOnce(new Error('gone'));
    await expect(log.order.look()).rejects.toThrow('gone');
    expect(await log.order.look()).toEqual({ upTo: 5, settled: 0 });
    log.writers = [];
    expect(await log.order.look()).toEqual({ upTo: 5, settled: 5 });
  });

  it('begins anew where the places go back, as they do behind a server that has lost the last ones', async () => {
    const log = new Log();
    log.last = 40;
    expect((await log.order.look()).settled).toBe(40);
    [log.last, log.writers] = [38, ['1/1']];
    expect(await log.order.look()).toEqual({ upTo: 38, settled: 0 });
    log.writers = [];
    expect((await log.order.look()).settled).toBe(38);
  });

  it('begins anew on another server, also where the places that it gave again are beyond the last look', async () => {
    const log = new Log();
    log.last = 120;
    expect((await log.order.look()).settled).toBe(120);
    // The standby continued at 98, and 115 belongs to this writer.
    [log.server, log.last, log.writers] = ['b', 130, ['1/1']];
    expect(await log.order.look()).toEqual({ upTo: 130, settled: 0 });
    [log.last, log.writers] = [131, []];
    expect((await log.order.look()).settled).toBe(131);
  });
});
