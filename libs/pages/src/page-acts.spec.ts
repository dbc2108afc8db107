import { ApiError } from '@app/kernel';
import { PageActs } from './page-acts';
import type { OpenLink } from './privacy-links.service';

/** A page whose user is erased, and whose link `remove` ends. */
function actsWith(remove: () => Promise<never>): PageActs {
  const about = { bot: { name: 'Bot' }, purposes: [], holders: [] };
  const erased = { request_id: 'request', certificate_salt: 'salt' };
  const given: Record<string, object> = {
    reading: { about: () => Promise.resolve(about) },
    links: { remove },
    erasing: { erase: () => Promise.resolve(erased) },
    servers: { names: () => Promise.reject(new Error('not now')) },
    requests: { certificate: () => Promise.reject(new Error('not now')) },
  };
  const names =
    'reading links acts accepting declining requesting revoking exports erasing values everywhere requests servers clock';
  const parts = names.split(' ').map((name) => given[name] ?? {});
  return new PageActs(...(parts as unknown as ConstructorParameters<typeof PageActs>));
}

/** What the process has in memory. */
const kept = (acts: PageActs): unknown[] => [
  ...(acts as unknown as { readonly erasures: ReadonlyMap<string, unknown> }).erasures,
];

describe('an erasure on the page', () => {
  afterEach(() => jest.useRealTimers());
  const link = { token: 'token', subject: { ids: { guild_id: '1', user_id: '2' } } } as OpenLink;

  it.each(['service_unavailable', 'not_found'] as const)(
    'shows the salt, which is answered once, although the end of the link is refused: %s',
    async (code) => {
      const acts = actsWith(() => Promise.reject(new ApiError(code, 'no')));
      expect(await acts.forget(link)).toMatchObject({
        erasures: [{ request_id: 'request', certificate_salt: 'salt' }],
        isWhole: true,
      });
    },
  );

  it('is shown again for a minute, and then not kept, although no other user erases', async () => {
    jest.useFakeTimers();
    const acts = actsWith(() => Promise.reject(new ApiError('not_found', 'no')));
    const done = acts.forget(link);
    expect(acts.forget(link)).toBe(done);
    await done;
    await jest.advanceTimersByTimeAsync(59_999);
    expect(acts.repeated('token')).toBe(done);
    await jest.advanceTimersByTimeAsync(1);
    expect(kept(acts)).toEqual([]);
  });
});
