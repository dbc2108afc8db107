import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { KeySet } from './key-set';
import { signedCall, type SignedCall } from './testing/signed-call';
import { type VerifyWebhook, verifyWebhook } from './verify-webhook';
import { WebhookVerificationError } from './webhook-error';
import type { WebhookEvent } from './webhook-event';

interface Vector {
  readonly name: string;
  readonly secrets: string[];
  readonly now: number;
  readonly headers: Record<string, string>;
  readonly raw_body: string;
  readonly expect: string;
}
interface PublicKeyVector extends Omit<Vector, 'secrets'> {
  readonly public_keys: KeySet | string;
}
const { vectors, public_key_vectors: publicKeyVectors } = JSON.parse(
  readFileSync(join(__dirname, '../../../docs/webhook-vectors.json'), 'utf8'),
) as { vectors: Vector[]; public_key_vectors: PublicKeyVector[] };

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const event: WebhookEvent = {
  event: 'consent_revoked',
  user_id: '123456789012345678',
  guild_id: '223456789012345678',
  revoked_at: '2026-01-01T00:00:00.000Z',
};

async function refusal(given: VerifyWebhook): Promise<WebhookVerificationError> {
  try {
    await verifyWebhook(given);
  } catch (error) {
    return error as WebhookVerificationError;
  }
  throw new Error('The call was verified');
}

describe('docs/webhook-vectors.json', () => {
  it.each(publicKeyVectors.map((vector) => [vector.name, vector] as const))(
    'with public keys: %s',
    async (_name, vector) => {
      const call = { rawBody: vector.raw_body, headers: vector.headers, now: () => vector.now * 1000 };
      for (const publicKeys of [vector.public_keys, () => Promise.resolve(vector.public_keys)])
        if (vector.expect === 'verified')
          expect((await verifyWebhook({ ...call, publicKeys })).id).toBe(vector.headers['webhook-id']);
        else expect((await refusal({ ...call, publicKeys })).fault).toBe(vector.expect);
    },
  );

  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_name, vector) => {
    const given = { rawBody: vector.raw_body, headers: vector.headers, secrets: vector.secrets };
    const now = () => vector.now * 1000;
    if (vector.expect !== 'verified') expect((await refusal({ ...given, now })).fault).toBe(vector.expect);
    else
      expect(await verifyWebhook({ ...given, now })).toEqual({
        id: vector.headers['webhook-id'],
        sentAt: new Date(Number(vector.headers['webhook-timestamp']) * 1000),
        event: JSON.parse(vector.raw_body) as object,
      });
  });

  it('agree with plain HMAC and with the package standardwebhooks', () => {
    for (const { raw_body: body, headers, secrets, now, expect: expected } of vectors) {
      const hmac = (key: string) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
      const bySecret = secrets.some((one) => {
        jest.useFakeTimers({ now: now * 1000 });
        try {
          new Webhook(one).verify(body, headers);
          return true;
        } catch {
          return false;
        } finally {
          jest.useRealTimers();
        }
      });
      expect(bySecret).toBe(expected === 'verified');
      if (!bySecret) continue;
      const signatures = [headers['x-gdpr-signature'], headers['x-gdpr-signature-next']];
      expect(secrets.some((one) => signatures.includes(hmac(one)))).toBe(true);
    }
  });
});

describe('verifyWebhook', () => {
  let signed: SignedCall;
  beforeAll(async () => {
    signed = await signedCall({ event, secret });
  });

  it('takes bytes, text, and headers of node:http, of fetch, and in any case', async () => {
    const { rawBody, headers } = signed;
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const body of [rawBody, Buffer.from(rawBody), new TextEncoder().encode(rawBody)])
      for (const form of [headers, upper, lists, new Headers(headers)])
        expect((await verifyWebhook({ rawBody: body, headers: form, secrets: secret })).event).toEqual(event);
  });

  it('names a body that a parser has been at', async () => {
    const rawBody = JSON.parse(signed.rawBody) as unknown as string;
    const error = await refusal({ rawBody, headers: signed.headers, secrets: secret });
    expect([error.fault, error.message]).toEqual(['parsed_body', expect.stringContaining('express.raw')]);
  });

  it('names a body that was written again', async () => {
    const rawBody = JSON.stringify(event, null, 2);
    const error = await refusal({ rawBody, headers: signed.headers, secrets: secret });
    expect(error.message).toMatch(/parsed and written again/);
  });

  it('names a secret that is none', async () => {
    for (const secrets of ['', 'sk_live_x', [], [secret, ''], 'whsec_A', undefined as unknown as string])
      expect((await refusal({ ...signed, secrets })).fault).toBe('bad_secret');
  });

  it('names how far the clock is off', async () => {
    const now = () => Number(signed.headers['webhook-timestamp']) * 1_000 + 3_600_000;
    expect((await refusal({ ...signed, secrets: secret, now })).message).toMatch('signed 3600 seconds ago');
    const lenient = await verifyWebhook({ ...signed, secrets: secret, now, toleranceSeconds: 4_000 });
    expect(lenient.event).toEqual(event);
  });

  it('says nothing of a time that is not signed', async () => {
    const headers = { ...signed.headers, 'webhook-timestamp': '1' };
    expect((await refusal({ ...signed, headers, secrets: secret })).fault).toBe('wrong_signature');
  });

  it('refuses every call of which any character was changed', async () => {
    const { rawBody, headers } = signed;
    for (let at = 0; at < rawBody.length; at++) {
      const changed =
        rawBody.slice(0, at) + String.fromCharCode(rawBody.charCodeAt(at) ^ 1) + rawBody.slice(at + 1);
      expect((await refusal({ rawBody: changed, headers, secrets: secret })).fault).toBe('wrong_signature');
    }
  });
});

describe('verifyWebhook with public keys', () => {
  const [first] = publicKeyVectors;
  const { raw_body: rawBody, headers, public_keys: publicKeys } = first!;
  const call = { rawBody, headers, now: () => first!.now * 1000 };

  it('refuses every call of which any character was changed', async () => {
    for (let at = 0; at < rawBody.length; at += 7) {
      const changed =
        rawBody.slice(0, at) + String.fromCharCode(rawBody.charCodeAt(at) ^ 1) + rawBody.slice(at + 1);
      const error = await refusal({ ...call, rawBody: changed, publicKeys });
      expect(error.fault).toBe('wrong_signature');
    }
  });

  it('refuses a secret beside them, and names keys that are none', async () => {
    const both = { ...call, publicKeys, secrets: secret } as unknown as VerifyWebhook;
    expect((await refusal(both)).message).toMatch('not both');
    for (const none of ['', 'whpk_A', 'whsec_A', [], {}, null, { keys: {} }, { keys: [null] }, 7])
      expect((await refusal({ ...call, publicKeys: none as unknown as string })).fault).toBe('bad_keys');
  });

  it('takes a key whose time of retirement is null for the present one, and refuses a time that is none', async () => {
    const key = { webhook_key: publicKeyVectors[1]!.public_keys as string };
    const withTime = (retired_at: unknown) => ({ keys: [{ ...key, retired_at }] }) as unknown as KeySet;
    expect((await verifyWebhook({ ...call, publicKeys: withTime(null) })).id).toBe(headers['webhook-id']);
    expect((await refusal({ ...call, publicKeys: withTime('yesterday') })).fault).toBe('bad_keys');
  });

  it('says what to do when the keys are those of before a rotation', async () => {
    const old = `whpk_${Buffer.alloc(32, 9).toString('base64')}`;
    expect((await refusal({ ...call, publicKeys: old })).message).toMatch('Fetch them again');
    expect(
      (await verifyWebhook({ ...call, publicKeys: [old, publicKeyVectors[1]!.public_keys as string] })).id,
    ).toBe(headers['webhook-id']);
  });

  it('tries few signatures of a stranger who sends many', async () => {
    const verify = jest.spyOn(globalThis.crypto.subtle, 'verify');
    const many = Array.from(
      { length: 100 },
      (_, at) => `v1a,${Buffer.alloc(64, at).toString('base64')}`,
    ).join(' ');
    await refusal({ ...call, headers: { ...headers, 'webhook-signature': many }, publicKeys });
    expect(verify).toHaveBeenCalledTimes(4);
    verify.mockRestore();
  });

  it('passes on that the keys could not be fetched', async () => {
    const fetching = (): Promise<never> => Promise.reject(new Error('no network'));
    expect((await refusal({ ...call, publicKeys: fetching })).message).toBe('no network');
  });
});
