import type { Digest } from '@app/crypto';
import type { Tx } from '@app/database';
import { findPage } from './user-values.sql';

const OF = { botId: 'bot', guildId: 'guild' as Digest, category: 'profile', requiresConsent: true };

describe('the count of the values of a guild', () => {
  it('has a snapshot of its own for each part, and finds the part in which the page begins', async () => {
    const parts = [
      { looked: 5_000, covered: 4_000, last: 'f' },
      { looked: 5_000, covered: 3_000, last: 'm' },
      { looked: 7, covered: 5, last: 'p' },
    ];
    const [read, opened]: [string[], number[]] = [[], []];
    const snapshot = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      const get = (_: string, ...values: string[]) => Promise.resolve(parts[read.push(values[3]!) - 1]);
      const result = await work({ engine: 'sqlite', get } as unknown as Tx);
      opened.push(read.length);
      return result;
    };
    const found = await findPage({ snapshot }, OF, 4_100);
    expect(found).toEqual({ total: 7_005, after: 'f', skipped: 100 });
    expect(read).toEqual(['', 'f', 'm']);
    expect(opened).toEqual([1, 2, 3]);
  });
});
