import { Signer } from '@app/crypto';
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { expectFailure } from '../support/expected';
import { Service, useServiceInProcess } from '../support/service';
import { passes } from '../support/time';

const service = useServiceInProcess();
const PATH = '/.well-known/lethe-keys.json';
const SIGNED_BY_ALL = `SELECT id, sealed, public_part FROM keys.service_keys WHERE name = 'signing'`;

interface Jwk extends JsonWebKey {
  readonly kid: string;
  readonly retired_at?: string;
}

const fetched = () => fetch(service.url + PATH);
const keys = async () => ((await (await fetched()).json()) as { keys: Jwk[] }).keys;
const signer = () => service.app.get(Signer);

function parsed(part = ''): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
}

/** The payload of a JWS that one of the keys has signed. */
function verified(jws: string, among: readonly Jwk[]): Record<string, unknown> {
  const [header, payload, signature = ''] = jws.split('.');
  const jwk = among.find(({ kid }) => kid === parsed(header)['kid']);
  if (jwk === undefined) throw new Error('the key is not in the set');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  if (!verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong');
  return parsed(payload);
}

describe(`GET ${PATH}`, () => {
  it('answers the key set of RFC 7517 without a key, outside the envelope, to be kept for five minutes', async () => {
    const response = await fetched();
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-request-id')).not.toBeNull();
    expect(response.headers.get('x-ratelimit-limit')).not.toBeNull();
    const { keys: all } = (await response.json()) as { keys: Jwk[] };
    expect(all).toStrictEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        alg: 'EdDSA',
        use: 'sig',
        kid: expect.stringMatching(/^[\w-]{43}$/),
        x: expect.stringMatching(/^[\w-]{43}$/),
      },
    ]);
  });

  it('names each key by its thumbprint of RFC 7638', async () => {
    const [jwk] = await keys();
    const members = `{"crv":"Ed25519","kty":"OKP","x":"${jwk?.x}"}`;
    expect(jwk?.kid).toBe(createHash('sha256').update(members).digest('base64url'));
  });

  it('answers 404 beside it, like any unknown path', async () => {
    expectFailure(await service.anonymous.send('GET', `${PATH}/x`), 404, 'not_found');
    expectFailure(await service.anonymous.get(PATH), 404, 'not_found');
  });

  it('publishes no key that the keyring has not encrypted, whatever is in the database', async () => {
    const before = await keys();
    const [{ public_part: ours } = { public_part: '' }] = await service.database.rows<{
      public_part: string;
    }>(SIGNED_BY_ALL);
    const theirs = ours.replace(/"x":"./, (found) => found.slice(0, -1) + (found.endsWith('A') ? 'B' : 'A'));
    await service.database.run(
      `INSERT INTO keys.service_keys (name, id, sealed, public_part, created_at, retired_at)
       VALUES ('signing', 'theirs', 'v1.x.y', ?, '2000-01-01T00:00:00.000Z', '2000-01-01T00:00:00.000Z')`,
      theirs,
    );
    await service.database.run(
      `UPDATE keys.service_keys SET public_part = ? WHERE name = 'signing' AND id <> 'theirs'`,
      theirs,
    );
    expect(await keys()).toStrictEqual(before);
    await service.database.run(`DELETE FROM keys.service_keys WHERE id = 'theirs'`);
  });
});

describe('Signer', () => {
  it('signs what the key set verifies, with its purpose and its key in the header', async () => {
    const jws = await signer().sign({ a: 'ü', b: [1, null] }, 'lethe-test+jwt');
    const all = await keys();
    expect(verified(jws, all)).toStrictEqual({ a: 'ü', b: [1, null] });
    expect(parsed(jws.split('.')[0])).toStrictEqual({
      alg: 'EdDSA',
      typ: 'lethe-test+jwt',
      kid: all[0]?.kid,
    });
  });

  it('verifies a statement for the purpose that it was signed for, and for no other', async () => {
    const jws = await signer().sign({ a: 1 }, 'lethe-test+jwt');
    expect(await signer().verified(jws, 'lethe-test+jwt')).toStrictEqual({ a: 1 });
    expect(await signer().verified(jws, 'lethe-other+jwt')).toBeUndefined();
  });

  it('signs with the same key after a restart', async () => {
    const before = await keys();
    await service.restart();
    expect(await keys()).toStrictEqual(before);
  });

  it('signs with a new key after a rotation, and what the old one has signed stays verifiable', async () => {
    const [old] = await keys();
    const signedBefore = await signer().sign({ at: 'before' }, 'lethe-test+jwt');
    const kid = await signer().rotate();
    const signedAfter = await signer().sign({ at: 'after' }, 'lethe-test+jwt');
    const all = await keys();
    expect(all).toStrictEqual([expect.objectContaining({ kid }), { ...old, retired_at: expect.any(String) }]);
    expect(parsed(signedAfter.split('.')[0])['kid']).toBe(kid);
    expect(verified(signedBefore, all)).toStrictEqual({ at: 'before' });
    expect(verified(signedAfter, all)).toStrictEqual({ at: 'after' });
  });

  // The monotonic clock stops while the machine is suspended; the other one can be set back.
  it.each(['monotonicMs', 'wallMs'] as const)(
    'signs half a minute after a rotation by another process, as %s shows it, with the new key',
    async (clockOf) => {
      await signer().sign({}, 'lethe-test+jwt');
      const { unitOfWork, keyring, clock, random } = signer() as unknown as Record<string, never>;
      const kid = await (await Signer.open(unitOfWork!, keyring!, clock!, random!)).rotate();
      const later = passes(service, 30_100, clockOf);
      expect(parsed((await signer().sign({}, 'lethe-test+jwt')).split('.')[0])['kid']).toBe(kid);
      later.mockRestore();
    },
  );

  it('shows its secret nowhere in the database', async () => {
    const rows = await service.database.rows<{ id: string; sealed: string }>(SIGNED_BY_ALL);
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) expect(sealed).toMatch(/^v2\.[\w-]+\.[\w-]+$/);
  });

  it('is one key for processes that open it at once', async () => {
    const other = await new Service().start();
    const { unitOfWork, keyring, clock, random } = other.app.get<Record<string, never>>(Signer);
    await other.database.run(`DELETE FROM keys.service_keys WHERE name = 'signing'`);
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => Signer.open(unitOfWork!, keyring!, clock!, random!)),
    );
    const sets = await Promise.all(opened.map((one) => one.keySet()));
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(1);
    expect(sets[0]?.keys).toHaveLength(1);
    await other.stop();
  });
});
