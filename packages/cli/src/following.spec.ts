import { NotFoundError, RateLimitedError } from '@lethe/sdk';
import { bring } from './commands/listen.command';
import { beginOf, follow, NewRows } from './following';
import type { Session } from './session';

// What follows a list that grows while it is read: every row once, and only the latest ones are kept in mind.

const at = (seconds: number): string => new Date(1_800_000_000_000 + seconds * 1000).toISOString();
const FROM_MS = Date.parse(at(0));

interface Row {
  readonly id: string;
  readonly created_at: string;
}

const row = (seconds: number): Row => ({ id: String(seconds), created_at: at(seconds) });

/** A list, newest first, and how many of its rows were read. */
function listOf(rows: Row[]) {
  const read = { count: 0 };
  const list = async function* (): AsyncGenerator<Row> {
    for (const one of [...rows].reverse()) {
      read.count += 1;
      yield await Promise.resolve(one);
    }
  };
  return { list, read };
}

/** The rows since the beginning, by a service whose clock is some seconds after it. */
const followed = (list: () => AsyncIterable<Row>, now = (): number => 100_000): NewRows<Row> =>
  new NewRows(list, FROM_MS, () => FROM_MS + now() * 1000);

async function idsOf(following: NewRows<Row>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of following.next()) ids.push(id);
  return ids;
}

describe('rows that are followed', () => {
  it('come once each and oldest first, also those that become visible behind newer ones', async () => {
    const rows = [row(-1), row(1), row(30)];
    const following = followed(listOf(rows).list);
    expect(await idsOf(following)).toEqual(['1', '30']);
    rows.splice(2, 0, row(5));
    rows.push(row(31));
    expect(await idsOf(following)).toEqual(['5', '31']);
    expect(await idsOf(following)).toEqual([]);
  });

  it('come again where what is done with one has failed', async () => {
    const following = followed(listOf([row(1), row(2)]).list);
    await expect(
      (async () => {
        for await (const { id } of following.next()) if (id === '2') throw new Error('refused');
      })(),
    ).rejects.toThrow('refused');
    expect(await idsOf(following)).toEqual(['2']);
  });

  it('are forgotten once they are too old to be met again, and are not read any more', async () => {
    const rows: Row[] = [];
    const { list, read } = listOf(rows);
    const following = followed(list);
    let answered = 0;
    for (let seconds = 1; seconds <= 1000; seconds++) {
      rows.push(row(seconds));
      answered += (await idsOf(following)).length;
    }
    expect(answered).toBe(1000);
    expect(following.remembered).toBeLessThan(200);
    read.count = 0;
    await idsOf(following);
    expect(read.count).toBeLessThan(200);
  });
});

describe('a row whose time is a year ahead', () => {
  const AHEAD = { id: 'ahead', created_at: at(365 * 86_400) };

  it.each(['newest', 'oldest'])(
    'hides no later row and brings none again, as the %s of the list',
    async (place) => {
      const rows = [row(1)];
      let now = 1;
      const following = followed(listOf(rows).list, () => now);
      expect(await idsOf(following)).toEqual(['1']);
      rows.push(AHEAD);
      expect(await idsOf(following)).toEqual(['ahead']);
      if (place === 'newest') rows.pop();
      for (now = 10; now < 3_000; now += 200) {
        rows.push(row(now), ...(place === 'newest' ? [AHEAD] : []));
        expect(await idsOf(following)).toEqual([String(now)]);
        // One that becomes visible late.
        rows.splice(-1, 0, row(now - 1));
        expect(await idsOf(following)).toEqual([String(now - 1)]);
        if (place === 'newest') rows.pop();
      }
    },
  );

  it('makes no look read more than the latest rows', async () => {
    const { list, read } = listOf([...Array.from({ length: 5_000 }, (_, n) => row(n + 1)), AHEAD]);
    const following = followed(list, () => 5_000);
    expect(await idsOf(following)).toHaveLength(5_001);
    read.count = 0;
    expect(await idsOf(following)).toEqual([]);
    expect(read.count).toBeLessThan(200);
    expect(following.remembered).toBeLessThan(6_000);
  });
});

describe('rows of a process whose clock is behind by more than the overlap', () => {
  const behind = (seconds: number): Row => ({ id: `behind ${seconds}`, created_at: at(seconds - 300) });

  it('come once each, and hide none of the others', async () => {
    const rows = [row(1000)];
    const following = followed(listOf(rows).list, () => 1_000);
    await idsOf(following);
    rows.push(row(1001), behind(1002), row(1003));
    expect(await idsOf(following)).toEqual(['1001', 'behind 1002', '1003']);
    for (let seconds = 1004; seconds < 2_000; seconds += 4) {
      expect(await idsOf(following)).toEqual([]);
      rows.push(behind(seconds), row(seconds + 1));
      expect(await idsOf(following)).toEqual([`behind ${seconds}`, String(seconds + 1)]);
    }
  });

  it('come once each where many of them are added between two looks', async () => {
    const rows = [row(1000)];
    const { list, read } = listOf(rows);
    const following = followed(list, () => 1_000);
    await idsOf(following);
    const many = Array.from({ length: 500 }, (_, n) => behind(1001 + n / 10));
    rows.push(row(1001), ...many);
    expect(await idsOf(following)).toEqual(['1001', ...many.map(({ id }) => id)]);
    for (let times = 0; times < 3; times++) expect(await idsOf(following)).toEqual([]);
    read.count = 0;
    expect(await idsOf(following)).toEqual([]);
    expect(read.count).toBeLessThan(200);
  });
});

describe('rows that are erased', () => {
  it('bring no older ones again', async () => {
    const rows: Row[] = [];
    const following = followed(listOf(rows).list);
    for (let seconds = 1; seconds <= 1000; seconds++) {
      rows.push(row(seconds));
      await idsOf(following);
    }
    rows.splice(-200);
    expect(await idsOf(following)).toEqual([]);
  });
});

describe('a command that follows a list', () => {
  it('goes on after a limit of the service', async () => {
    const { list } = listOf([row(1)]);
    let isLimited = true;
    const limited = async function* (): AsyncGenerator<Row> {
      if (isLimited) {
        isLimited = false;
        throw new RateLimitedError('Too many requests.', { status: 429, code: 'rate_limit_exceeded' });
      }
      yield* list();
    };
    const notes: string[] = [];
    const session = { url: '', output: { note: (text: string) => notes.push(text) } } as unknown as Session;
    const act = ({ id }: Row): never => {
      throw new Error(`brought ${id}`);
    };
    await expect(follow(session, followed(limited), 0, act)).rejects.toThrow('brought 1');
    expect(notes).toEqual([expect.stringContaining('Trying again')]);
  });

  it('makes no call of a delivery whose body the service cannot read, and says so', async () => {
    const delivery = async () => ({ event: 'consent_revoked', payload: {} });
    const notes: string[] = [];
    const session = { output: { note: (text: string) => notes.push(text) } } as unknown as Session;
    await bring(session, { webhooks: { delivery } } as never, 'http://127.0.0.1:9', '', 'id');
    expect(notes).toEqual([expect.stringContaining('consent_revoked  id  The service cannot read')]);
  });

  it('passes over a delivery that was erased after it was listed', async () => {
    const delivery = () => Promise.reject(new NotFoundError('x', { status: 404, code: 'not_found' }));
    await expect(
      bring({} as Session, { webhooks: { delivery } } as never, 'http://127.0.0.1:9', '', 'id'),
    ).resolves.toBeUndefined();
  });
});

describe('the time at which a command begins', () => {
  // The service has answered at the end of a slow request.
  const clock = { serviceMs: FROM_MS, hereMs: FROM_MS + 8_500, answeredMs: FROM_MS + 10_000 };

  it('is never later than the time of the service', () => {
    jest.spyOn(Date, 'now').mockReturnValueOnce(clock.answeredMs);
    expect(beginOf({ clock } as Session, undefined)).toBe(FROM_MS);
    expect(beginOf({ clock } as Session, at(10))).toBe(FROM_MS);
  });

  it('is `since` itself where the clock of this computer is behind', () => {
    const behind = { serviceMs: FROM_MS, hereMs: FROM_MS - 600_000, answeredMs: FROM_MS - 600_000 };
    expect(beginOf({ clock: behind } as Session, at(10))).toBe(FROM_MS + 10_000);
  });

  it('is that of this computer before the first answer', () => {
    expect(beginOf({} as Session, at(3))).toBe(FROM_MS + 3_000);
  });
});
