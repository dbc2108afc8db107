import type { Lethe } from '@lethe/sdk';
import type { Session } from '../session';
import { serverOf } from './server';

const GUILDS = 2_000;
const notice = 'n'.repeat(300);

/** A service that holds as much as no result may have. */
const lethe = {
  users: { list: () => ({ page: () => Promise.resolve({ items: [], next: null }) }) },
  request: () =>
    Promise.resolve({ categories: Array.from({ length: GUILDS }, () => ({ notice })), pagination: {} }),
  privacy: {
    forgetEverywhere: () =>
      Promise.resolve({ requests: Array.from({ length: GUILDS }, () => ({ status: 'completed', notice })) }),
  },
} as unknown as Lethe;
const session = { url: 'https://lethe.example', envFile: '.env', client: () => lethe } as Session;
const call = {
  ...{ signal: new AbortController().signal, canAsk: true },
  confirm: () => Promise.resolve('confirmed' as const),
};

interface Result {
  readonly isError: boolean;
  readonly structuredContent?: { readonly erasure_id?: string; readonly requests?: readonly object[] };
}

describe('a result that is larger than 512 KiB', () => {
  const server = serverOf(session, { allowErase: true });
  const answered = async (name: string, given: object = {}): Promise<Result> =>
    (await server.call(name, { ...given }, call)) as Result;

  it('is refused of a tool that reads', async () => {
    const result = await answered('list_categories');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('page_size') as string }],
    });
  });

  it('is answered of an erasure, which has taken place and has salts that are not answered again', async () => {
    const given = { user_id: '123456789012345678', everywhere: true };
    const { structuredContent: { erasure_id } = {} } = await answered('prepare_erasure', given);
    const result = await answered('confirm_erasure', { erasure_id });
    expect(result).toMatchObject({ isError: false, structuredContent: { erased: true } });
    expect(result.structuredContent?.requests).toHaveLength(GUILDS);
  });
});
