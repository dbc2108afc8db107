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
  const { rows, total } = await page.inParts<undefined, string>({
    begin: '',
    unit: (work) => work(undefined),
    count: async (_, place) => {
      asked.push(`count ${place}`);
      setImmediate(() => asked.push('turn'));
      return PARTS[place]!;
    },
    read: async (_, place, skip, take) => {
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

  it.each(['a page by its number', 'a walk'])(
    'has each row of %s once, whatever is added or removed meanwhile',
    async (kind) => {
      // The list shows the places that a number ends, and looks at four behind a place at a time.
      const all = ['a', 'b1', 'c', 'd1', 'e1', 'f', 'g1', 'h1', 'i1'];
      const isShown = (place: string): boolean => /\d/.test(place);
      for (const moved of ['a', 'c', 'ca']) {
        let stored = all;
        const part = (seen: readonly string[], place: string) =>
          seen.filter((one) => one > place).slice(0, 4);
        const page = new Page<readonly [string]>(
          { page_size: '9' },
          () => '',
          kind === 'a walk' ? [''] : undefined,
          4,
        );
        const { rows } = await page.inParts<{ seen: readonly string[] }, string>({
          begin: '',
          unit: (work) => {
            const unit = { seen: stored };
            stored = (all.includes(moved) ? all.filter((one) => one !== moved) : [...all, moved]).sort();
            return work(unit);
          },
          count: async ({ seen }, place) => {
            const looked = part(seen, place);
            const next = looked.length < 4 ? undefined : looked.at(-1);
            return { shown: looked.filter(isShown).length, next };
          },
          read: async ({ seen }, place, skip, take) =>
            part(seen, place)
              .filter(isShown)
              .slice(skip, skip + take),
        });
        expect(rows).toEqual(all.filter(isShown));
      }
    },
  );
});
