import { StreamSlots } from './stream-slots';

/** What has happened to a slot until now. */
async function stateOf(taken: Promise<void>): Promise<'open' | 'waits' | 'refused'> {
  const waits = new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'));
  return Promise.race([
    taken.then(
      () => 'open' as const,
      () => 'refused' as const,
    ),
    waits,
  ]);
}

describe('the open streams', () => {
  afterEach(() => jest.useRealTimers());

  it('are bounded for each bot: as many more wait, and further ones are refused', async () => {
    const slots = new StreamSlots({ streamsMax: 100, streamsPerBot: 2 });
    const taken = Array.from({ length: 5 }, () => slots.take('one'));
    expect(await Promise.all(taken.map(stateOf))).toEqual(['open', 'open', 'waits', 'waits', 'refused']);
    expect(await stateOf(slots.take('other'))).toBe('open');
    slots.free('one');
    expect(await Promise.all(taken.map(stateOf))).toEqual(['open', 'open', 'open', 'waits', 'refused']);
  });

  it('are bounded in all, and those that wait for others hold up no bot with room', async () => {
    const slots = new StreamSlots({ streamsMax: 3, streamsPerBot: 2 });
    const [, , waiting] = ['one', 'one', 'one'].map((bot) => slots.take(bot));
    const last = slots.take('other');
    const late = slots.take('third');
    expect(await Promise.all([waiting!, last, late].map(stateOf))).toEqual(['waits', 'open', 'waits']);
    slots.free('other');
    expect(await Promise.all([waiting!, late].map(stateOf))).toEqual(['waits', 'open']);
  });

  it('give the room of an ended one to one answer, not also to one that asks in the same moment', async () => {
    const slots = new StreamSlots({ streamsMax: 1, streamsPerBot: 1 });
    await slots.take('one');
    const waiting = slots.take('other');
    slots.free('one');
    const late = slots.take('third');
    expect(await Promise.all([waiting, late].map(stateOf))).toEqual(['open', 'waits']);
  });

  it('are waited for at most five seconds, then answered 503', async () => {
    jest.useFakeTimers();
    const slots = new StreamSlots({ streamsMax: 1, streamsPerBot: 1 });
    await slots.take('one');
    const waiting = slots.take('one');
    jest.advanceTimersByTime(5_000);
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    slots.free('one');
    await slots.take('one');
  });
});
