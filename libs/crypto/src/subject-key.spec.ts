import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SystemClock, SystemRandom } from '@app/kernel';
import { UnreadableSecretError } from './aead';
import { encryptedBy } from './encryption-key';
import { type InstallationKeys, SubjectDigests } from './installation-keys';
import { KeyCache, SubjectKey } from './subject-key';

const random = new SystemRandom(new SystemClock());
/** The key overwrites the secret that it is given. */
const newKey = (id = 'key-1', secret = random.bytes(32)): SubjectKey =>
  new SubjectKey(id, Buffer.from(secret), random);

describe('SubjectKey', () => {
  const key = newKey();
  const encrypted = key.encrypt('{"a":1}', 'user_data/bot/guild/user/category');

  it('decrypts what it encrypted, and tells by which key', () => {
    expect(key.decrypt(encrypted, 'user_data/bot/guild/user/category')).toBe('{"a":1}');
    expect(encryptedBy(encrypted)).toBe('key-1');
    expect(encryptedBy('{"a":1}')).toBeUndefined();
  });

  it('overwrites the secret from which it is derived', () => {
    const secret = random.bytes(32);
    new SubjectKey('key-1', secret, random);
    expect(secret).toStrictEqual(Buffer.alloc(32));
  });

  it.each([
    'user_data/other/guild/user/category',
    'user_data/bot/other/user/category',
    'user_data/bot/guild/other/category',
    'user_data/bot/guild/user/other',
    'audit_events/bot/guild/user/category',
    '',
  ])('opens nothing in another place: %s', (context) => {
    expect(() => key.decrypt(encrypted, context)).toThrow(UnreadableSecretError);
  });

  it('opens nothing of which a single bit was changed, wherever it is', () => {
    for (let at = 0; at < encrypted.length; at++) {
      const changed = encrypted.slice(0, at) + (encrypted[at] === 'A' ? 'B' : 'A') + encrypted.slice(at + 1);
      expect(() => key.decrypt(changed, 'user_data/bot/guild/user/category')).toThrow(UnreadableSecretError);
    }
    for (const cut of [
      '',
      's2.',
      's2.key-1',
      's2.key-1.',
      's2.key-1.AAAA',
      's1.key-1.AAAA',
      encrypted.slice(0, -4),
    ])
      expect(() => key.decrypt(cut, 'user_data/bot/guild/user/category')).toThrow(UnreadableSecretError);
  });

  it('opens nothing of another key, not even of one with the same id', () => {
    expect(() => newKey().decrypt(encrypted, 'user_data/bot/guild/user/category')).toThrow(
      UnreadableSecretError,
    );
  });

  it('is overwritten in memory when nothing can use it any more, and not before', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const bytesOf = (of: SubjectKey): Buffer => of['key'].bytes;
    const held = newKey();
    const lost = bytesOf(newKey());
    while (lost.some((byte) => byte !== 0)) {
      collect();
      await nextTurn();
    }
    expect(bytesOf(held).some((byte) => byte !== 0)).toBe(true);
    expect(held.decrypt(held.encrypt('x', 'c'), 'c')).toBe('x');
  });

  it('is of no use once it was wiped: it decrypts nothing, encrypts nothing and has no salts', () => {
    const wiped = newKey();
    const text = wiped.encrypt('x', 'c');
    wiped.wipe();
    expect(() => wiped.decrypt(text, 'c')).toThrow('Another unit of work');
    expect(() => wiped.encrypt('x', 'c')).toThrow('Another unit of work');
    expect(() => wiped.salts('event')).toThrow('Another unit of work');
  });

  it('never encrypts with a nonce twice, in a hundred thousand texts', () => {
    const nonces = new Set<string>();
    for (let count = 0; count < 100_000; count++)
      nonces.add(key.encrypt('', 'c').split('.')[2]?.slice(0, 16) ?? '');
    expect(nonces.size).toBe(100_000);
  });

  it('has salts that differ by place and by key, and stay the same otherwise', () => {
    const secret = random.bytes(32);
    const [one, same] = [newKey('a', secret), newKey('a', secret)];
    expect(one.salts('event')).toStrictEqual(same.salts('event'));
    const { user, guild, details } = one.salts('event');
    const all = [user, guild, details, one.salts('other').user, newKey().salts('event').user];
    expect(new Set(all.map((salt) => salt.toString('hex'))).size).toBe(5);
  });
});

describe('KeyCache', () => {
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('keeps no more than two generations, and of these the keys that are asked for', () => {
    const cache = new KeyCache();
    for (let n = 0; n < 60_000; n++) {
      cache.set({ id: `key-${n}` } as SubjectKey);
      cache.get('key-0');
    }
    expect(cache.get('key-0')).toBeDefined();
    expect(cache.get('key-1')).toBeUndefined();
    expect(cache.get('key-9999')).toBeUndefined();
    expect(cache.get('key-59999')).toBeDefined();
  });

  it('drops a key that was not used for ten minutes', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const cache = new KeyCache();
    cache.set(newKey('idle'));
    for (const [at, other] of [
      [300_001, 'a'],
      [600_003, 'b'],
    ] as const) {
      now.mockReturnValue(at);
      cache.set(newKey(other));
    }
    expect(cache.get('idle')).toBeUndefined();
    expect(cache.get('b')).toBeDefined();
  });

  it('drops a key ten minutes after its last use at the latest, also where no other key is opened meanwhile', () => {
    jest.useFakeTimers();
    const cache = new KeyCache();
    cache.onModuleInit();
    // From each moment of a generation.
    for (let phase = 0; phase < 60; phase++) {
      cache.set(newKey(`idle-${phase}`));
      cache.set(newKey('used'));
      for (let minute = 0; minute < 10; minute++) {
        jest.advanceTimersByTime(60_000);
        expect(cache.get('used')).toBeDefined();
      }
      expect(cache.get(`idle-${phase}`)).toBeUndefined();
      jest.advanceTimersByTime(7_000);
    }
    cache.onModuleDestroy();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('overwrites a key that it drops', () => {
    const cache = new KeyCache();
    const key = newKey();
    const text = key.encrypt('x', 'c');
    cache.set(key);
    cache.drop(key.id);
    expect(cache.get(key.id)).toBeUndefined();
    expect(() => key.decrypt(text, 'c')).toThrow('Another unit of work');
  });

  it('keeps the key that it has, which is the one that a drop overwrites', () => {
    const cache = new KeyCache();
    const [first, second] = [newKey(), newKey()];
    expect(cache.set(first)).toBe(first);
    expect(cache.set(second)).toBe(first);
    cache.drop('key-1');
    expect(() => first.encrypt('x', 'c')).toThrow('Another unit of work');
  });

  it('caches no key that was read before its drop, and others of the same time', () => {
    const cache = new KeyCache();
    cache.drop('key-1');
    const late = newKey();
    expect(cache.set(late)).toBe(late);
    cache.set(newKey('key-2'));
    expect(cache.get('key-1')).toBeUndefined();
    expect(cache.get('key-2')).toBeDefined();
  });
});

describe('SubjectDigests', () => {
  const digestsOf = (secret: Buffer) => new SubjectDigests({ digest: secret } as InstallationKeys);
  const digests = digestsOf(Buffer.alloc(32, 1));

  it('differ by key, bot, kind and value, and are the same for the same', () => {
    const ids = { guild_id: '1', user_id: '1' };
    const of = (botId: string, from = digests): string[] => {
      const { guildId, userId } = from.named(botId, ids);
      return [guildId, userId];
    };
    const all = [
      ...of('bot'),
      ...of('other'),
      digests.user('bot', '2'),
      digests.guild('bot', '2'),
      ...of('bot', digestsOf(Buffer.alloc(32, 2))),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(of('bot')).toStrictEqual(all.slice(0, 2));
  });

  it('fit into a column of ids', () => {
    expect(digests.user('bot', '123456789012345678')).toMatch(/^[\w-]{20}$/);
  });
});
