import { DueQueue } from './due-queue';

const noWait = (): number => 0;

describe('DueQueue', () => {
  it('answer whose time has come, each once, as many as there is room for', () => {
    const due = new DueQueue();
    for (const [bot, dueMs] of [
      ['a', 10],
      ['b', 20],
      ['c', 5],
      ['c', 30],
    ] as const)
      due.wake(bot, dueMs);
    expect(due.nextDueMs).toBe(5);
    expect(due.take(4, 10, noWait)).toEqual([]);
    expect(due.take(20, 2, noWait)).toEqual(['a', 'b']);
    expect(due.take(20, 2, noWait)).toEqual(['c']);
    expect(due.take(100, 2, noWait)).toEqual([]);
    expect(due.nextDueMs).toBe(Infinity);
  });

  it('serve every bot in turn, however much one of them has', () => {
    const due = new DueQueue();
    const served: string[] = [];
    for (const bot of ['greedy', 'b', 'c']) due.wake(bot, 0);
    for (let n = 0; n < 6; n++) {
      const [bot] = due.take(0, 1, noWait);
      served.push(bot!);
      due.wake(bot!, 0);
    }
    expect(served).toEqual(['greedy', 'b', 'c', 'greedy', 'b', 'c']);
  });

  it('let a bot sleep during the pause of its receiver, and delay no other bot by it', () => {
    const due = new DueQueue();
    due.wake('spared', 0);
    due.wake('other', 0);
    expect(due.take(0, 1, (bot) => (bot === 'spared' ? 50 : 0))).toEqual(['other']);
    expect(due.nextDueMs).toBe(50);
    expect(due.take(50, 1, noWait)).toEqual(['spared']);
  });

  it('keep the place of a bot while its receiver is tried', () => {
    const due = new DueQueue();
    due.wake('tried', 0);
    due.wake('other', 0);
    expect(due.take(0, 1, (bot) => (bot === 'tried' ? Infinity : 0))).toEqual(['other']);
    due.wake('other', 0);
    expect(due.take(0, 2, noWait)).toEqual(['tried', 'other']);
  });

  it('keep a bot whose receiver is busy until a call to it has ended', () => {
    const due = new DueQueue();
    due.park('a', { name: 'busy', max: 2 });
    expect(due.take(1_000, 1, noWait)).toEqual([]);
    due.unpark(() => 2);
    expect(due.take(1_000, 1, noWait)).toEqual([]);
    due.unpark((place) => (place === 'busy' ? 1 : 2));
    expect(due.take(1_000, 1, noWait)).toEqual(['a']);
  });

  it('end the waiting of as many bots as there is room for, in turn', () => {
    const due = new DueQueue();
    for (const bot of ['a', 'b', 'c']) due.park(bot, { name: 'share', max: 16 });
    due.unpark(() => 14);
    expect(due.take(0, 5, noWait)).toEqual(['a', 'b']);
    due.unpark(() => 17);
    expect(due.take(0, 5, noWait)).toEqual([]);
    due.unpark(() => 14);
    expect(due.take(0, 5, noWait)).toEqual(['c']);
  });

  it('never put a time off that was known to be earlier', () => {
    const due = new DueQueue();
    due.wake('a', 10);
    due.wake('a', 100);
    expect(due.take(10, 1, noWait)).toEqual(['a']);
  });
});
