import { Clock } from '@app/kernel';
import {
  type Attempt,
  ConsentRequiredError,
  createWebhookHandler,
  Lethe,
  RateLimitedError,
} from '@lethe/sdk';
import { verifyAuditExport, verifyAuditProof, verifyCertificate } from '@lethe/sdk/evidence';
import { signedCall } from '@lethe/sdk/testing';
import { useServiceInProcess } from '../support/service';
import { snowflake, type SubjectIds, subject } from '../support/snowflakes';

// The client and the service over connections that fail.

const service = useServiceInProcess();

const category = {
  label_de: 'Profil',
  label_en: 'Profile',
  fields: [{ key: 'value', type: 'string', label_de: 'Wert', label_en: 'Value' }],
} as const;

/** Loses the request or the answer of each first attempt. */
function lossy(loses: 'the request' | 'the answer'): typeof globalThis.fetch {
  const begun = new Set<string>();
  return async (input, init) => {
    const request = `${input as string} ${init?.body as string}`;
    const isFirst = !begun.has(request);
    begun.add(request);
    if (isFirst && loses === 'the request') throw new TypeError('fetch failed');
    const answer = await fetch(input, init);
    if (isFirst) throw new TypeError('terminated');
    return answer;
  };
}

async function client(given: Partial<ConstructorParameters<typeof Lethe>[0]> = {}) {
  const bot = await service.registerBot();
  const options = { url: service.url, key: bot.key, ...given };
  return { bot, lethe: new Lethe(options), other: new Lethe({ url: service.url, key: bot.key }) };
}

async function consenting(lethe: Lethe, who: SubjectIds = subject()): Promise<SubjectIds> {
  await lethe.consents.request({ ...who, consent_version: '1.0' });
  await lethe.consents.accept({ ...who, consent_version: '1.0' });
  return who;
}

describe.each(['the request', 'the answer'] as const)('a connection that loses %s at first', (loses) => {
  it('does every act once', async () => {
    const { lethe, other } = await client({ fetch: lossy(loses) });
    await lethe.categories.register({ key: 'profile', ...category });
    const who = await consenting(lethe);
    await lethe.data.submit({ ...who, category: 'profile', data: { value: 'x' } });
    await lethe.audit.write({ ...who, event_type: 'data_deleted' });
    await lethe.consents.revoke(who);
    await lethe.privacy.forget(who);
    const types = (await other.audit.events(who).toArray()).map(({ event_type }) => event_type).reverse();
    expect(types).toEqual([
      ...['consent_requested', 'consent_accepted', 'data_submitted', 'data_deleted', 'consent_revoked'],
      ...['deletion_requested', 'deletion_completed'],
    ]);
  });
});

describe('the limiter of the service', () => {
  const limited = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=2' });

  it('is the error at once if its reset is behind the end of the call, and says when to come back', async () => {
    const bot = await limited.registerBot();
    const lethe = new Lethe({ url: limited.url, key: bot.key, timeoutMs: 30_000 });
    // The limiter stays at the beginning of its window, however long the calls take.
    const clock = limited.app.get(Clock, { strict: false });
    jest.spyOn(clock, 'monotonicMs').mockReturnValue(clock.monotonicMs());
    await lethe.bots.me();
    await lethe.bots.me();
    const error = await lethe.bots.me().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RateLimitedError);
    expect((error as RateLimitedError).retryAfterSeconds).toBe(60);
  });
});

describe('large answers and requests', () => {
  it('splits a batch that is larger than a body may be, and streams the export of a file', async () => {
    const { lethe } = await client();
    const keys = Array.from({ length: 25 }, (_, at) => `c${at}`);
    for (const key of keys) await lethe.categories.register({ key, ...category });
    const who = await consenting(lethe);
    const items = keys.map((key) => ({ ...who, category: key, data: { value: `ä${key}`.repeat(10_000) } }));
    const results = [];
    for await (const { ok } of lethe.data.submitMany(items)) results.push(ok);
    expect(results).toEqual(keys.map(() => true));
    const streamed = await new Response(await lethe.data.exportStream(who)).text();
    const exported = await lethe.data.export(who);
    const { exportedAt, ...file } = JSON.parse(streamed) as typeof exported;
    expect(exportedAt).toEqual(expect.any(String));
    expect(file).toEqual({ ...exported, exportedAt: undefined });
    const everywhere = await new Response(await lethe.data.exportStream({ user_id: who.user_id })).text();
    expect(JSON.parse(everywhere)).toMatchObject({ guilds: [{ data: exported.data }] });
  });
});

describe('evidence', () => {
  it('is fetched by the client and verified without the service', async () => {
    const { bot, lethe } = await client();
    const who = await consenting(lethe);
    const { request_id: id, certificate_salt: salt } = await lethe.privacy.forget(who);
    const keys = await lethe.publicKeys();
    const { certificate } = await lethe.privacy.certificate(id);
    const named = { salt, botId: bot.id, userId: who.user_id, guildId: who.guild_id };
    expect(verifyCertificate(certificate, keys, named)).toMatchObject({ request_id: id });
    const log = await verifyAuditExport(lethe.audit.export(), keys);
    expect(log).toMatchObject({ botId: bot.id, events: 4 });
    const [event] = await lethe.audit.events(who).toArray();
    const proof = await lethe.audit.proof(event?.id ?? '');
    expect(verifyAuditProof(proof, keys)).toMatchObject({
      bot_id: bot.id,
    });
  });
});

describe('withConsent', () => {
  async function counting() {
    const asked: string[] = [];
    const onRequest = ({ route }: Attempt): void => void asked.push(route);
    const { bot, lethe, other } = await client({ onRequest, consentCacheMs: 600_000 });
    await other.categories.register({ key: 'profile', ...category });
    const who = await consenting(other);
    const run = (act: () => unknown = () => 'done') => lethe.withConsent(who, 'profile', act);
    return { asked, bot, lethe, other, who, run };
  }

  it('asks once for a short time, until a webhook says that the consent has ended', async () => {
    const { asked, bot, lethe, other, who, run } = await counting();
    expect([await run(), await run()]).toEqual(['done', 'done']);
    expect(asked).toEqual(['GET /consents/status', 'GET /data/refusals/{user_id}']);
    await other.consents.revoke(who);
    const event = { event: 'consent_revoked', ...who, revoked_at: '2026-01-01T00:00:00.000Z' } as const;
    const handler = createWebhookHandler({ secrets: bot.webhookSecret, on: {}, lethe });
    await handler.handle(await signedCall({ event, secret: bot.webhookSecret }));
    await expect(run()).rejects.toBeInstanceOf(ConsentRequiredError);
  });

  it('asks again after a 403, and after an act of the client that ends consents', async () => {
    const { lethe, other, who, run } = await counting();
    await run();
    await other.consents.revoke(who);
    const submit = () => lethe.data.submit({ ...who, category: 'profile', data: { value: 'x' } });
    await expect(run(submit)).rejects.toMatchObject({ requestId: expect.any(String) });
    const act = jest.fn();
    await expect(run(act)).rejects.toMatchObject({ currentStatus: 'revoked', requestId: undefined });
    await consenting(other, who);
    await run();
    await lethe.privacy.forget(who);
    await expect(run(act)).rejects.toMatchObject({ currentStatus: 'none' });
    expect(act).not.toHaveBeenCalled();
  });

  it('asks again after an item of a batch that was refused as a 403', async () => {
    const { lethe, other, who, run } = await counting();
    const act = jest.fn();
    const batch = async (): Promise<unknown[]> => {
      const codes = [];
      for await (const result of lethe.data.submitMany([{ ...who, category: 'profile', data: {} }]))
        codes.push(result.ok || result.error.code);
      return codes;
    };
    await run();
    await other.data.restrict(who);
    expect(await batch()).toEqual(['processing_refused']);
    await expect(run(act)).rejects.toMatchObject({ reason: 'restriction' });
    await other.data.unrestrict(who);
    await run();
    await other.consents.revoke(who);
    expect(await batch()).toEqual(['consent_required']);
    await expect(run(act)).rejects.toMatchObject({ currentStatus: 'revoked' });
    expect(act).not.toHaveBeenCalled();
  });

  it('asks again after a consent to more, and after the end of a category', async () => {
    const { lethe, run } = await counting();
    await lethe.categories.register({ key: 'stats', ...category });
    const who = { user_id: snowflake(), guild_id: snowflake() };
    const agreed = async (key: string) => {
      const asked = { ...who, consent_version: `for-${key}` };
      await lethe.consents.request({ ...asked, categories: ['profile', 'stats'] });
      await lethe.consents.accept({ ...asked, categories: [key] });
    };
    const done = () => lethe.withConsent(who, 'profile', () => 'done');
    await agreed('stats');
    await expect(done()).rejects.toBeInstanceOf(ConsentRequiredError);
    await agreed('profile');
    expect([await done(), await run()]).toEqual(['done', 'done']);
    await lethe.categories.delete('profile');
    await expect(done()).rejects.toBeInstanceOf(ConsentRequiredError);
  });
});

describe('a registration that the operator admits by a token', () => {
  const token = 'a-token-of-the-operator-0123456789';
  const guarded = useServiceInProcess({ REGISTRATION: 'token', REGISTRATION_TOKEN: token });

  it('carries the token', async () => {
    const given = { platform_bot_id: snowflake(), name: 'Greeter' };
    await expect(Lethe.register({ url: guarded.url }, given)).rejects.toMatchObject({ status: 401 });
    const options = { url: guarded.url, registrationToken: token };
    expect(await Lethe.register(options, given)).toMatchObject({ name: 'Greeter' });
  });
});

describe('keys', () => {
  it('follow a rotation without a new client', async () => {
    const { bot } = await client();
    let key = bot.key;
    const lethe = new Lethe({ url: service.url, key: () => key });
    ({ api_key: key } = await lethe.keys.rotate({ overlap_seconds: 0 }));
    expect(await lethe.bots.me()).toMatchObject({ id: bot.id });
    expect(await lethe.keys.list().toArray()).toHaveLength(1);
    const { webhook_secret: secret } = await lethe.webhooks.rotateSecret();
    expect(secret).toMatch(/^whsec_/);
    expect(await lethe.bots.processingRecordText()).toMatch(/^# Record of /);
    expect(await lethe.bots.processingRecordText({ language: 'de' })).toMatch(/^# Verzeichnis von /);
    expect(await lethe.bots.processingRecordText({ format: 'html', language: 'de' })).toMatch(
      /^<!doctype html>/,
    );
    expect((await lethe.bots.reviewDossier({ language: 'de' })).language).toBe('de');
    expect(await lethe.bots.reviewDossierText()).toMatch(/^# Data protection dossier\n/);
    expect(await lethe.bots.reviewDossierText({ format: 'html', language: 'de' })).toMatch(
      /^<!doctype html>/,
    );
  });
});
