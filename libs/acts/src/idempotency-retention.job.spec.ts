import { IdempotencyRetention } from './idempotency-retention.job';

it('the removal of old keys can be stopped after each look at 500 young ones', async () => {
  let looks = 0;
  const read = async (): Promise<object[]> => {
    looks += 1;
    return Array.from({ length: looks < 9 ? 500 : 0 }, () => ({ id: 'id', created_at: '2026-11-20' }));
  };
  const job = new IdempotencyRetention({ read } as never, { daysAgoIso: () => '2026-11-19' } as never);
  expect(await job.batches('bot').next(0)).toStrictEqual({ value: undefined, done: false });
  expect(looks).toBe(1);
});
