import { Signer } from '@app/crypto';
import { Dispatcher } from '@app/webhooks';
import { type KeySet, Lethe, verifyWebhook } from '@lethe/sdk';
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Bot } from '../support/bot';
import { expectFailure } from '../support/expected';
import { type Call, useReceiver } from '../support/receiver';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';
import { until } from '../support/until';

const service = useServiceInProcess();
const receiver = useReceiver();
let bot: Bot;

beforeEach(async () => {
  receiver.reset();
  bot = await service.registerBot({ webhook_url: receiver.url });
});

afterEach(() => jest.restoreAllMocks());

const PATH = '/.well-known/lethe-webhook-keys';
const fetched = (id: string): Promise<Response> => fetch(`${service.url}${PATH}/${id}`);
const keysOf = async (id: string): Promise<KeySet> => (await (await fetched(id)).json()) as KeySet;

async function called(): Promise<Call> {
  await bot.hasForgotten(subject());
  const calls = await receiver.received(1);
  return calls.at(-1)!;
}

const given = ({ rawBody, headers }: Call) => ({ rawBody, headers });
const refused = (call: Parameters<typeof verifyWebhook>[0]) =>
  expect(verifyWebhook(call)).rejects.toMatchObject({ fault: 'wrong_signature' });

describe('The entry v1a of webhook-signature', () => {
  it('follows v1, and a call verifies by both', async () => {
    const call = await called();
    expect(call.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1a,[A-Za-z0-9+/]{86}==$/);
    const publicKeys = await keysOf(bot.id);
    expect((await verifyWebhook({ ...given(call), publicKeys })).event).toEqual(call.body);
    expect((await verifyWebhook({ ...given(call), secrets: bot.webhookSecret })).event).toEqual(call.body);
    const standard = new Webhook(bot.webhookSecret);
    expect(standard.verify(call.rawBody, call.headers as Record<string, string>)).toEqual(call.body);
  });

  it('is Ed25519 over id, time and body, as any library verifies it with the key in the set', async () => {
    const { headers, rawBody } = await called();
    const [jwk] = (await keysOf(bot.id)).keys;
    const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${rawBody}`;
    const signature = Buffer.from(String(headers['webhook-signature']).split(' v1a,')[1]!, 'base64');
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    expect(verify(null, Buffer.from(content), key, signature)).toBe(true);
  });

  it('refuses another body, id and time', async () => {
    const call = given(await called());
    const publicKeys = await keysOf(bot.id);
    await refused({ ...call, rawBody: call.rawBody.replace('user_forgotten', 'user_forgotteN'), publicKeys });
    for (const [name, value] of Object.entries({ 'webhook-id': bot.id, 'webhook-timestamp': '1767225600' }))
      await refused({ ...call, headers: { ...call.headers, [name]: value }, publicKeys });
  });

  it('of a call to one bot verifies no call to another, so that a bot cannot have calls to others signed', async () => {
    const other = await service.registerBot();
    await refused({ ...given(await called()), publicKeys: await keysOf(other.id) });
  });

  it('is made by a key that signs no statement of the service', async () => {
    const { keys } = await service.app.get(Signer).keySet();
    const own = (await keysOf(bot.id)).keys;
    expect(keys.map(({ x }) => x)).not.toContain(own[0]?.x);
    await expect(verifyWebhook({ ...given(await called()), publicKeys: { keys } })).rejects.toMatchObject({
      fault: 'bad_keys',
    });
  });

  it('is that of the new key after a rotation of the signing key, and the set has both', async () => {
    const [old] = (await keysOf(bot.id)).keys;
    const before = given(await called());
    await service.app.get(Signer).rotate();
    receiver.reset();
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
    const after = given(await called());
    const publicKeys = await keysOf(bot.id);
    expect(publicKeys.keys).toEqual([
      expect.not.objectContaining({ kid: old?.kid }),
      { ...old, retired_at: expect.any(String) },
    ]);
    for (const call of [before, after]) await verifyWebhook({ ...call, publicKeys });
    await refused({ ...after, publicKeys: { keys: [old!] } });
    // A copy of the retired key signs nothing that is accepted later.
    const calledMs = Number(before.headers['webhook-timestamp']) * 1000;
    const longAgo = { ...old!, retired_at: new Date(calledMs - 61_000).toISOString() };
    await refused({ ...before, publicKeys: { keys: [publicKeys.keys[0]!, longAgo] } });
  });

  it('is left out while the signing key cannot be read, and the secret still verifies the call', async () => {
    // Its checkpoints are signed with the same key.
    await withoutSealing(service);
    const signer = service.app.get<{ present: unknown; read: () => Promise<unknown> }>(Signer);
    const dispatcher = service.app.get<{ running: ReadonlySet<Promise<void>> }>(Dispatcher);
    const failing = jest.spyOn(signer, 'read').mockRejectedValue(new Error('the database is away'));
    signer.present = undefined;
    // The certificate of an erasure would need the key, too.
    await bot.post('/webhooks/test', {});
    await until(() => failing.mock.calls.length > 0 || receiver.calls.length > 0);
    // The call was made once its attempt has ended. One that fails for want of the key makes none.
    await Promise.allSettled(dispatcher.running);
    const [call] = receiver.calls;
    expect(call).toBeDefined();
    expect(call?.headers['webhook-signature']).toMatch(/^v1,[^ ]{44}$/);
    await verifyWebhook({ ...given(call!), secrets: bot.webhookSecret });
  });
});

describe(`GET ${PATH}/{bot_id}`, () => {
  it('answers a key set without a key, outside the envelope, to be kept for five minutes', async () => {
    const response = await fetched(bot.id);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('x-ratelimit-limit')).not.toBeNull();
    const { keys } = (await response.json()) as KeySet;
    const x = String(keys[0]?.x);
    const members = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
    expect(keys[0]).toEqual({
      ...{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', x },
      kid: createHash('sha256').update(members).digest('base64url'),
      webhook_key: `whpk_${Buffer.from(x, 'base64url').toString('base64')}`,
    });
    expect(await new Lethe({ url: service.url }).webhookKeys(bot.id)).toEqual({ keys });
  });

  it('answers the same keys after a restart, and for the id in upper case', async () => {
    const keys = await keysOf(bot.id);
    await service.restart();
    expect(await keysOf(bot.id)).toEqual(keys);
    expect(await keysOf(bot.id.toUpperCase())).toEqual(keys);
  });

  it('answers keys for the id of no bot too, so that it tells nothing about which bots exist', async () => {
    const absent = await fetched('0198c0de-0000-7000-8000-0000000000aa');
    expect(absent.status).toBe(200);
    expect(((await absent.json()) as KeySet).keys[0]?.webhook_key).toMatch(/^whpk_/);
  });

  it('answers 400 for what is no id, and 404 beside it and below the prefix', async () => {
    const bad = await service.anonymous.send('GET', `${PATH}/${snowflake()}`);
    expectFailure(bad, 400, 'invalid_request');
    expectFailure(await service.anonymous.send('GET', `${PATH}/${bot.id}/x`), 404, 'not_found');
    expectFailure(await service.anonymous.get(`${PATH}/${bot.id}`), 404, 'not_found');
  });
});
