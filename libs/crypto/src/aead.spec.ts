import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import sodium from 'libsodium';
import {
  CIPHER_KEY_BYTES,
  decrypted,
  decryptedAes,
  decryptedText,
  encrypted,
  expanded,
  NONCE_BYTES,
  UnreadableSecretError,
} from './aead';

const key = randomBytes(CIPHER_KEY_BYTES);
const encrypt = (plain: string | Buffer, context = 'c', by = key): string =>
  encrypted(by, randomBytes(NONCE_BYTES), plain, context);

/** The same by the cipher of Node.js. */
function reference(nonce: Buffer, plain: string, context: string): string {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  const bytes = Buffer.from(plain);
  cipher.setAAD(Buffer.from(context), { plaintextLength: bytes.length });
  const all = [nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(all).toString('base64url');
}

describe('the keys of a secret', () => {
  it.each([1, 64, 96, 200])('are those of HKDF-Expand, whatever was made before (%i bytes)', (length) => {
    const secret = randomBytes(CIPHER_KEY_BYTES);
    const all: Buffer[] = [];
    for (let count = 1; all.length * 64 < length; count++) {
      const hmac = createHmac('sha512', secret).update(all.at(-1) ?? '');
      all.push(hmac.update('lethe/test').update(Buffer.of(count)).digest());
    }
    encrypt('x'.repeat(3_000));
    expect(expanded(secret, 'lethe/test', length)).toStrictEqual(Buffer.concat(all, length));
    for (const trace of [secret, expanded(secret, 'lethe/test', length).subarray(0, 32)])
      if (trace.length > 1) expect(Buffer.from(sodium.HEAPU8.buffer).includes(trace)).toBe(false);
  });
});

describe('the encryption of texts', () => {
  it('is the example of RFC 8439, section 2.8.2', () => {
    const plain =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');
    const nonce = hex('07000000 4041424344454647');
    const body = encrypted(
      hex('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f'),
      nonce,
      plain,
      // The bytes of the example are no text; those of a text are compared with the cipher of Node.js below.
      'PQRS',
    );
    const bytes = Buffer.from(body, 'base64url').subarray(NONCE_BYTES, -16);
    expect(bytes.subarray(0, 32).toString('hex')).toBe(
      'd31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6',
    );
    expect(bytes.subarray(-18).toString('hex')).toBe('3ff4def08e4b7a9de576d26586cec64b6116');
  });

  it.each(['', 'x', 'ä€😀', '\ud800', 'x'.repeat(20_000), '€'.repeat(2_000_000), 'y'])(
    'is that of Node.js, and comes back (text %#)',
    (plain) => {
      const nonce = randomBytes(NONCE_BYTES);
      const context = 'user_data/bot/€/user/category';
      const body = encrypted(key, nonce, plain, context);
      expect(body === reference(nonce, plain, context)).toBe(true);
      expect(decryptedText(key, body, context) === Buffer.from(plain).toString()).toBe(true);
      expect(decrypted(key, body, context).equals(Buffer.from(plain))).toBe(true);
    },
  );

  it('takes bytes as they are', () => {
    const bytes = randomBytes(300);
    expect(decrypted(key, encrypt(bytes), 'c')).toStrictEqual(bytes);
  });

  it('opens nothing with another key, in another context, or with one bit or digit changed', () => {
    const body = encrypt('{"a":1}');
    const refused: [Buffer, string, string][] = [
      [randomBytes(CIPHER_KEY_BYTES), body, 'c'],
      [key, body, 'd'],
      [key, body, ''],
      ...['', 'A', `${body}=`, `${body} `, body.slice(0, 30), body.slice(0, -1)].map(
        (text): [Buffer, string, string] => [key, text, 'c'],
      ),
      ...Array.from({ length: body.length }, (_, at): [Buffer, string, string] => {
        const digit = body[at] === 'A' ? 'B' : 'A';
        return [key, body.slice(0, at) + digit + body.slice(at + 1), 'c'];
      }),
    ];
    for (const [by, text, context] of refused)
      for (const open of [decrypted, decryptedText, decryptedAes])
        expect(() => open(by, text, context)).toThrow(UnreadableSecretError);
    expect(decryptedText(key, body, 'c')).toBe('{"a":1}');
  });

  it('leaves neither key nor text in the memory of libsodium, also of a refused text', () => {
    const mark = randomBytes(CIPHER_KEY_BYTES);
    const plain = randomBytes(40).toString('hex');
    const body = encrypt(plain, 'context', mark);
    decryptedText(mark, body, 'context');
    expect(() => decryptedText(mark, body, 'other')).toThrow(UnreadableSecretError);
    const memory = Buffer.from(sodium.HEAPU8.buffer);
    for (const trace of [mark, mark.subarray(0, 16), Buffer.from(plain), Buffer.from(plain.slice(0, 20))])
      expect(memory.includes(trace)).toBe(false);
  });

  it('refuses keys and nonces of another length', () => {
    for (const bytes of [0, 31, 33, 64])
      for (const use of [
        () => encrypt('x', 'c', Buffer.alloc(bytes)),
        () => decryptedText(Buffer.alloc(bytes), encrypt('x'), 'c'),
        () => expanded(Buffer.alloc(bytes), 'c', 32),
        () => encrypted(key, Buffer.alloc(bytes), 'x', 'c'),
      ])
        expect(use).toThrow(RangeError);
  });

  it('refuses a text for which there is no memory, and encrypts the next one', () => {
    const memory = jest.spyOn(sodium, '_malloc').mockReturnValue(0);
    const before = encrypt('before');
    expect(() => encrypt('x'.repeat(30_000_000))).toThrow(RangeError);
    memory.mockRestore();
    expect(decryptedText(key, before, 'c')).toBe('before');
    expect(decryptedText(key, encrypt('after'), 'c')).toBe('after');
  });

  it('leaves no key in the memory of libsodium when a text is too long for its answer', () => {
    const mark = randomBytes(CIPHER_KEY_BYTES);
    const long = jest.spyOn(Buffer.prototype, 'toString').mockImplementationOnce(() => {
      throw new RangeError('too long');
    });
    expect(() => encrypt('x', 'c', mark)).toThrow('too long');
    long.mockRestore();
    expect(Buffer.from(sodium.HEAPU8.buffer).includes(mark)).toBe(false);
  });

  it('refuses a context for which it has no room', () => {
    expect(() => encrypt('x', 'c'.repeat(342))).toThrow(RangeError);
    expect(decryptedText(key, encrypt('x', '€'.repeat(341)), '€'.repeat(341))).toBe('x');
  });
});
