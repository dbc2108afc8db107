import { ApiError, type Clock } from '@app/kernel';
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
    requests: { certificate: () => Promise.reject(new Error('not now')) },
    clock: { monotonicMs: () => 0 } satisfies Partial<Clock>,
  };
  const names =
    'reading links acts accepting declining requesting revoking exports erasing values everywhere requests clock';
  const parts = names.split(' ').map((name) => given[name] ?? {});
  return new PageActs(...(parts as unknown as ConstructorParameters<typeof PageActs>));
}

describe('an erasure on the page', () => {
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
});
