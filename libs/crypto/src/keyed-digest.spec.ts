import { createHmac, randomBytes } from 'node:crypto';
import { DigestKey, hmacSha512 } from './keyed-digest';

const hmac = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 20);

describe('a DigestKey', () => {
  it.each([0, 1, 32, 64])(
    'makes the HMAC of RFC 2104 with a key of %s bytes, whatever it made before',
    (length) => {
      const bytes = randomBytes(length);
      const key = new DigestKey(bytes);
      for (const value of ['123456789012345678', '1', '', 'é€', '9'.repeat(60), '2'])
        expect(key.of('bot', 'user', value)).toBe(hmac(bytes, `user/bot/${value}`));
      expect(key.of('bot', 'guild', '1')).toBe(hmac(bytes, 'guild/bot/1'));
    },
  );

  it('refuses what has no room', () => {
    expect(() => new DigestKey(Buffer.alloc(65))).toThrow(RangeError);
    expect(() => new DigestKey(Buffer.alloc(32)).of('bot', 'user', '9'.repeat(130))).toThrow(RangeError);
  });
});

describe('hmacSha512', () => {
  it('is the HMAC of RFC 2104, whatever it made before', () => {
    for (const [length, text] of [
      [128, 'é€'.repeat(40)],
      [32, 'event'],
      [0, ''],
      [32, '9'.repeat(128)],
    ] as const) {
      const key = randomBytes(length);
      expect(hmacSha512(key, text)).toStrictEqual(createHmac('sha512', key).update(text).digest());
    }
  });

  it('refuses what has no room', () => {
    expect(() => hmacSha512(Buffer.alloc(129), 'event')).toThrow(RangeError);
    expect(() => hmacSha512(Buffer.alloc(32), '9'.repeat(129))).toThrow(RangeError);
  });
});
