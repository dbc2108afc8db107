import { eachOf, pages } from './pages';

/** The numbers from 1 to `count`, read two at a time; notes behind which number each read began. */
function numbers(count: number) {
  const reads: (number | undefined)[] = [];
  const read = async (after: number | undefined): Promise<number[]> => {
    reads.push(after);
    return [1, 2].map((step) => (after ?? 0) + step).filter((number) => number <= count);
  };
  return { read, reads };
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe('pages', () => {
  it.each([
    ['nothing', 0, [], [undefined]],
    ['less than a page', 1, [[1]], [undefined]],
    ['a last page that is not full', 3, [[1, 2], [3]], [undefined, 2]],
    [
      'a last page that is full',
      4,
      [
        [1, 2],
        [3, 4],
      ],
      [undefined, 2, 4],
    ],
  ])('read each row once and end, with %s', async (_, count, expected, from) => {
    const { read, reads } = numbers(count);
    expect(await all<unknown>(pages(2, read))).toEqual(expected);
    expect(reads).toEqual(from);
    expect(await all<unknown>(eachOf(2, read))).toEqual(expected.flat());
  });

  it('go on behind a short page where only an empty one is the last', async () => {
    const { read, reads } = numbers(3);
    expect(await all<unknown>(pages(1, read))).toEqual([[1, 2], [3]]);
    expect(reads).toEqual([undefined, 2, 3]);
  });

  it('read nothing that is not asked for', async () => {
    const { read, reads } = numbers(9);
    for await (const row of eachOf(2, read)) if (row === 2) break;
    expect(reads).toEqual([undefined]);
  });

  it('end with the fault of a read', async () => {
    const reading = pages(2, () => Promise.reject(new Error('planted')));
    await expect(reading.next()).rejects.toThrow('planted');
  });
});
