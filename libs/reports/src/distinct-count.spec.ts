import { DistinctCount } from './distinct-count';

function counted(texts: Iterable<string>): DistinctCount {
  const counter = new DistinctCount();
  for (const text of texts) counter.add(text);
  return counter;
}

const many = (count: number, of: (index: number) => string): Iterable<string> =>
  Array.from({ length: count }, (_, index) => of(index));

describe('DistinctCount', () => {
  it('counts each text once, exactly, up to 50,000', () => {
    const counter = counted([...many(50_000, String), ...many(50_000, String)]);
    expect({ count: counter.count, isExact: counter.isExact }).toStrictEqual({
      count: 50_000,
      isExact: true,
    });
  });

  it('counts nothing as 0', () => {
    expect(new DistinctCount()).toMatchObject({ count: 0, isExact: true });
  });

  it.each([
    ['snowflakes in a row', (index: number) => String(900_000_000_000_000_000n + BigInt(index))],
    ['pairs that differ at their beginning', (index: number) => `${index}/123456789012345678`],
    ['digests', (index: number) => `~${Buffer.from(`${index * 7919}`).toString('base64url')}`],
  ])('is off by less than 3 %% beyond that, and says that it estimates (%s)', (_, of) => {
    for (const size of [50_001, 200_000]) {
      const counter = counted(many(size, of));
      expect(counter.isExact).toBe(false);
      expect(Math.abs(counter.count / size - 1)).toBeLessThan(0.03);
    }
  });

  it('counts no text twice beyond that either', () => {
    const once = counted(many(100_000, String));
    const twice = counted([...many(100_000, String), ...many(100_000, String)]);
    expect(twice.count).toBe(once.count);
  });
});
