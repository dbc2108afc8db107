import { BatchSealer } from './batch-sealer';

const BOT = 'bot';

/** A sealer of which each turn takes a minute. A turn answers what `turns` says, and then that nothing is left. */
function slowSealer(...turns: readonly string[][]): { sealer: BatchSealer; sealed: jest.SpyInstance } {
  const none = undefined as never;
  const order = { look: () => Promise.resolve({ upTo: 7, settled: 7 }) } as never;
  let minutes = 0;
  const clock = { monotonicMs: () => minutes++ * 60_000 } as never;
  const sealer = new BatchSealer(none, none, none, order, clock, none, none);
  const sealed = jest.spyOn(sealer, 'seal').mockResolvedValue([]);
  for (const turn of turns) sealed.mockResolvedValueOnce(turn);
  return { sealer, sealed };
}

describe('a seal at once on a machine that stops for longer than a caller waits', () => {
  it('is made although another process was faster, or the log has more than a batch', async () => {
    const { sealer, sealed } = slowSealer([BOT], [BOT]);
    expect(await sealer.sealNow(BOT)).toBe(true);
    expect(sealed).toHaveBeenCalledTimes(3);
  });

  it('is given up while the log grows', async () => {
    const { sealer, sealed } = slowSealer();
    sealed.mockResolvedValue([BOT]);
    expect(await sealer.sealNow(BOT)).toBe(false);
  });
});
