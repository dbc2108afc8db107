import { createPrivateKey, createPublicKey } from 'node:crypto';
import { webhookSeed } from './webhook-signatures';

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

describe('webhookSeed', () => {
  it('never changes, since receivers keep the public key: the one of docs/webhook-vectors.json', () => {
    const signingSeed = Buffer.from(Array.from({ length: 32 }, (_, at) => at));
    const seed = webhookSeed(signingSeed, '0198c0de-0000-7000-8000-000000000001');
    const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
    const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
    expect(Buffer.from(x, 'base64url').toString('base64')).toBe(
      'fmz/q3gA8xlNUD5oLbLDu2JFtSITmGWdgLxHLehs2Mc=',
    );
  });

  it('is another one for each bot and each signing key', () => {
    const seeds = [1, 2].flatMap((byte) =>
      ['a', 'b'].map((bot) => webhookSeed(Buffer.alloc(32, byte), bot).toString('hex')),
    );
    expect(new Set(seeds).size).toBe(4);
  });
});
