import timers from 'node:timers/promises';
import { type Lease, LEASE_MS } from '@app/database';
import { KeyRewriteJob } from './key-rewrite.job';

const HOUR_MS = 3_600_000;

describe('a rewrite of the keys', () => {
  it.each([
    ['nine times as long as a unit took', 100, 900, 40_000],
    ['less than its lease, however long a unit took', HOUR_MS, undefined, 24 * HOUR_MS],
    ['hardly after units that took no time', 1, 9, 15_000],
  ])('rests %s, and is due again after 200 times their work', async (_, tookMs, restMs, dueMs) => {
    const rests: unknown[] = [];
    const pause = jest.spyOn(timers, 'setTimeout').mockImplementation(async (ms) => void rests.push(ms));
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const rewrite = {
      begin: async () => 'a',
      // The second page is the last one.
      move: async (_tx: unknown, _from: string, page: number) => {
        nowMs += tookMs;
        return page === 0 ? 1 : undefined;
      },
      removeFile: async () => undefined,
      forgetRemoved: async () => 0,
    };
    const lease = {
      batch: (work: (tx: never) => unknown) => work(undefined as never),
      keep: async () => true,
    };
    const unitOfWork = { engine: 'postgres', read: async () => [] };
    const job = new KeyRewriteJob(rewrite as never, unitOfWork as never, {} as never);
    await job.run(lease as unknown as Lease, new AbortController().signal);
    clock.mockRestore();
    pause.mockRestore();
    expect(job.everyMs).toBe(dueMs);
    expect(rests).toHaveLength(2);
    for (const rest of rests) {
      expect(rest).toBeLessThan(LEASE_MS / 2);
      if (restMs !== undefined) expect(rest).toBe(restMs);
    }
  });
});
