import { Page } from './pagination';

/** A list in three parts, by the place of each: what it shows, and where the next one begins. */
const PARTS: Readonly<Record<string, { readonly shown: number; readonly next: string | undefined }>> = {
  '': { shown: 4, next: 'f' },
  f: { shown: 0, next: 'm' },
  m: { shown: 3, next: undefined },
};

/** The rows and the total of a page, and what was asked for it. */
async function paged(query: { page?: string; page_size: string }, after?: string) {
  const asked: string[] = [];
  const page = new Page<readonly [string]>(
    query,
    () => 'cursor',
    after === undefined ? undefined : [after],
    7,
  );
  const { rows, total } = await page.inParts<string>({
    begin: '',
    count: async (place) => {
      asked.push(`count ${place}`);
      setImmediate(() => asked.push('turn'));
      return PARTS[place]!;
    },
    read: async (place, skip, take) => {
      asked.push(`read ${place}`);
      const shown = Array.from({ length: PARTS[place]!.shown }, (_, at) => `${place}${at}`);
      return shown.slice(skip, skip + take);
    },
  });
  return { rows, total, asked: asked.join(', ') };
}

describe('a page of a list in parts', () => {
  it('counts every part, with a turn for others after each, and reads only those that have its rows', async () => {
    expect(await paged({ page: '2', page_size: '3' })).toEqual({
      rows: ['3', 'm0', 'm1', 'm2'],
      total: 7,
      asked: 'count , read , turn, count f, turn, count m, read m, turn',
    });
  });

  it('reads nothing behind the end', async () => {
    expect(await paged({ page: '9', page_size: '3' })).toMatchObject({
      rows: [],
      total: 7,
      asked: 'count , turn, count f, turn, count m, turn',
    });
  });

  it('of a walk ends where it is full, and counts only to pass over a part', async () => {
    expect(await paged({ page_size: '3' }, '')).toMatchObject({ rows: ['0', '1', '2', '3'], asked: 'read ' });
    expect(await paged({ page_size: '4' }, '')).toMatchObject({
      rows: ['0', '1', '2', '3', 'm0'],
      asked: 'read , count , turn, read f, count f, turn, read m',
    });
  });
});
