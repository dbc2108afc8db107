import {
  ConflictError,
  ConsentRequiredError,
  createWebhookHandler,
  InvalidRequestError,
  Lethe,
  NotFoundError,
  ProcessingRefusedError,
  UnauthorizedError,
  type WebhookEvent,
} from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { LIVES, lived } from '../support/written-lives';
import { BANS, describeOnPlaces, PROFILE, thrown } from '../support/sdk-places';
import { snowflake, subject } from '../support/snowflakes';

const fake = new FakeLethe();

describeOnPlaces('the life of a bot', fake, (bot) => {
  let lethe: Lethe;
  beforeEach(() => ({ lethe } = bot));
  const asked = (given?: object) => bot.asked(given);
  const consenting = (given?: object) => bot.consenting(given);

  it('knows its bot, and refuses another key and a second registration', async () => {
    const me = await lethe.bots.me();
    expect(me).toMatchObject({ name: 'Greeter', webhook_url: expect.stringContaining('http') as string });
    expect(await lethe.bots.get(me.id)).toMatchObject({ id: me.id });
    const stranger = new Lethe({ ...bot.options(), key: 'sk_live_unknown' });
    expect(await thrown(stranger.bots.me())).toBeInstanceOf(UnauthorizedError);
    const again = Lethe.register(bot.options(), { platform_bot_id: me.platform_bot_id, name: 'Other' });
    expect(await thrown(again)).toMatchObject({ status: 409, reason: 'bot_exists' });
  });

  it('declares labels and purposes in several languages, and reads them again', async () => {
    const words = {
      ...{ labels: { fr: 'Compte' }, description_de: 'Zum Gruß', description_en: 'To greet' },
      descriptions: { fr: 'Pour saluer' },
    };
    expect(await lethe.categories.register({ ...PROFILE, key: 'words', ...words })).toMatchObject(words);
    expect(await lethe.categories.get('words')).toMatchObject(words);
    const all = await lethe.categories.list().toArray();
    expect(Object.keys(all.find(({ key }) => key === 'profile') ?? {})).not.toContain('description_de');
  });

  it('warns at a registration where values need a consent beside another legal basis, and nowhere else', async () => {
    const duty = { ...PROFILE, key: 'duty', legal_basis: 'public_task' } as const;
    expect(await lethe.categories.register(duty)).toMatchObject({
      warnings: [
        'Values of this category need a consent, although its legal_basis is another one: where none is needed, say so by requires_consent: false with reason_de and reason_en',
      ],
    });
    expect(await lethe.categories.get('duty')).not.toHaveProperty('warnings');
    for (const other of [BANS, { ...PROFILE, key: 'plain' }])
      expect(await lethe.categories.register(other)).not.toHaveProperty('warnings');
  });

  it.each(Object.entries(LIVES))('answers as it is written of %s', async (_name, calls) => {
    const { got, written } = await lived(bot, calls);
    expect(got).toEqual(written);
  });

  it('asks, stores, merges and exports', async () => {
    const who = await asked();
    const values = { ...who, category: 'profile', data: { nickname: 'Robin' } };
    const refused = await thrown(lethe.data.submit(values));
    expect(refused).toBeInstanceOf(ConsentRequiredError);
    expect(refused).toMatchObject({ currentStatus: 'pending' });
    expect(await lethe.consents.accept({ ...who, consent_version: '1.0' })).toMatchObject({
      ...{ status: 'accepted', version: '1.0', revoked_at: null, ...who },
    });
    expect(await lethe.data.submit(values)).toMatchObject({ ...who, category: 'profile', stored: true });
    await lethe.data.merge({ ...values, data: { birthday: '2000-02-29' } });
    const profile = { nickname: 'Robin', birthday: '2000-02-29' };
    expect(await lethe.data.export(who)).toMatchObject({
      ...{ userId: who.user_id, guildId: who.guild_id, bot: { name: 'Greeter' } },
      ...{ consent: { status: 'accepted', version: '1.0' }, data: { profile } },
    });
    const everywhere = await lethe.data.exportEverywhere({ user_id: who.user_id });
    expect(everywhere.guilds).toMatchObject([{ guildId: who.guild_id, data: { profile } }]);
    const text = await new Response(await lethe.data.exportStream(who)).text();
    expect(JSON.parse(text)).toMatchObject({ userId: who.user_id, data: { profile } });
    await lethe.data.merge({ ...values, data: { nickname: null } });
    expect((await lethe.data.export(who)).data).toEqual({ profile: { birthday: '2000-02-29' } });
  });

  it('names every value that does not fit its category', async () => {
    const who = await consenting();
    const data = { nickname: 1, birthday: '2001-02-29', colour: 'red' };
    const error = await thrown(lethe.data.submit({ ...who, category: 'profile', data }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    const { fields } = error as InvalidRequestError;
    expect(fields.map(({ field }) => field).sort()).toEqual([
      'data.birthday',
      'data.colour',
      'data.nickname',
    ]);
    expect(await thrown(lethe.data.submit({ ...who, category: 'other', data: {} }))).toBeInstanceOf(
      NotFoundError,
    );
    expect(await thrown(lethe.categories.register(PROFILE))).toMatchObject({ reason: 'category_exists' });
  });

  it('keeps a consent in force while a newer one is asked for', async () => {
    const who = await consenting();
    expect(await lethe.consents.request({ ...who, consent_version: '1.0' })).toMatchObject({
      status: 'accepted',
    });
    expect(await lethe.consents.request({ ...who, consent_version: '2' })).toMatchObject({
      status: 'pending',
    });
    const status = { status: 'accepted', version: '1.0', pending_version: '2' };
    expect(await lethe.consents.status(who)).toMatchObject(status);
    expect(await thrown(lethe.consents.accept({ ...who, consent_version: '3' }))).toMatchObject({
      ...{ status: 404, details: { current_status: 'accepted' } },
    });
    const unknown = { ...who, consent_id: '00000000-0000-7000-8000-000000000000' };
    expect(await thrown(lethe.consents.accept(unknown))).toMatchObject({
      details: { current_status: 'accepted' },
    });
    await lethe.consents.accept({ ...who, consent_version: '2' });
    expect(await lethe.consents.status(who)).toMatchObject({ status: 'accepted', version: '2' });
  });

  it('stores by category what was consented to, and no more', async () => {
    await lethe.categories.register({ ...PROFILE, key: 'stats' });
    const who = await consenting({ categories: ['profile', 'stats'] });
    const partly = await lethe.consents.revoke({ ...who, categories: ['stats'] });
    expect(partly).toMatchObject({
      status: 'accepted',
      categories: expect.arrayContaining([
        expect.objectContaining({ key: 'profile', status: 'accepted' }),
        expect.objectContaining({ key: 'stats', status: 'revoked' }),
      ]),
    });
    const values = { ...who, data: { nickname: 'Robin' } };
    const results = [];
    for await (const { item, ...result } of lethe.data.submitMany([
      { ...values, category: 'profile' },
      { ...values, category: 'stats' },
    ]))
      results.push([item.category, result.ok ? 'stored' : result.error.code]);
    expect(results).toEqual([
      ['profile', 'stored'],
      ['stats', 'consent_required'],
    ]);
    expect(await lethe.withConsent(who, 'profile', () => 'done')).toBe('done');
    expect(await thrown(lethe.withConsent(who, 'stats', () => 'done'))).toBeInstanceOf(ConsentRequiredError);
  });

  it('runs without a consent what needs none, and asks for no category twice in a short time', async () => {
    await lethe.categories.register(BANS);
    const routes: string[] = [];
    const onRequest = ({ route }: { route: string }): void => void routes.push(route);
    const own = new Lethe({ ...bot.options(), key: bot.key, onRequest, consentCacheMs: 600_000 });
    const who = await bot.asked();
    expect(await own.withConsent(who, 'bans', () => 'done')).toBe('done');
    expect(await own.withConsent(await bot.asked(), 'bans', () => 'done')).toBe('done');
    expect(await thrown(own.withConsent(who, 'profile', () => 'done'))).toMatchObject({
      ...{ code: 'consent_required', currentStatus: 'pending' },
    });
    expect(await thrown(own.withConsent(who, 'nowhere', () => 'done'))).toBeInstanceOf(ConsentRequiredError);
    const [status, category] = ['GET /consents/status', 'GET /data/categories/{key}'];
    const refusals = 'GET /data/refusals/{user_id}';
    expect(routes).toEqual([status, category, refusals, refusals, status, category, status, category]);
    await own.categories.register({ ...BANS, key: 'nowhere' });
    expect(await own.withConsent(who, 'nowhere', () => 'done')).toBe('done');
  });

  it('runs nothing for what the user has restricted or objected to', async () => {
    await lethe.categories.register(BANS);
    const [who, other] = [await consenting(), await consenting()];
    const run = (category: string, subject = who) =>
      lethe.withConsent(subject, category, () => 'done').catch((error: unknown) => error);
    expect([await run('profile'), await run('bans')]).toEqual(['done', 'done']);
    await lethe.data.restrict({ ...who, category: 'profile' });
    const refused = await run('profile');
    expect(refused).toBeInstanceOf(ProcessingRefusedError);
    expect(refused).toMatchObject({ status: 403, reason: 'restriction' });
    expect(await run('bans')).toBe('done');
    await lethe.data.unrestrict(who);
    expect(await run('profile')).toBe('done');
    await lethe.data.restrict(who);
    expect([await run('profile'), await run('bans')]).toMatchObject(Array(2).fill({ reason: 'restriction' }));
    // An objection to everything is about the categories that it can be made to.
    await lethe.data.object(other);
    expect(await run('bans', other)).toMatchObject({ code: 'processing_refused', reason: 'objection' });
    expect(await run('profile', other)).toBe('done');
  });

  it('withdraws and erases, and each call that follows verifies', async () => {
    const events: WebhookEvent[] = [];
    const keep = (event: WebhookEvent): void => void events.push(event);
    const handler = createWebhookHandler({
      secrets: bot.secret,
      on: { consent_revoked: keep, user_forgotten: keep },
    });
    const who = await consenting();
    await lethe.data.submit({ ...who, category: 'profile', data: { nickname: 'Robin' } });
    expect(await lethe.consents.revoke(who)).toMatchObject({ status: 'revoked', ...who });
    expect(await thrown(lethe.consents.revoke(who))).toMatchObject({
      details: { current_status: 'revoked' },
    });
    expect(await thrown(lethe.withConsent(who, 'profile', () => 'done'))).toBeInstanceOf(
      ConsentRequiredError,
    );
    const erased = await lethe.privacy.forget(who);
    expect(erased).toMatchObject({ status: 'completed', deleted_categories: ['profile'] });
    expect(await lethe.privacy.waitFor(erased.request_id)).toMatchObject({ status: 'completed', ...who });
    expect(await thrown(lethe.data.export(who))).toBeInstanceOf(NotFoundError);
    expect(await lethe.consents.status(who)).toMatchObject({ status: 'none', version: null });
    for (const call of await bot.received(2))
      expect(await handler.handle(call as Parameters<typeof handler.handle>[0])).toMatchObject({
        status: 204,
      });
    expect(events.sort((one, other) => one.event.localeCompare(other.event))).toMatchObject([
      { event: 'consent_revoked', ...who, previous_version: '1.0' },
      { event: 'user_forgotten', ...who, request_id: erased.request_id },
    ]);
  });

  it('says that the receiver has confirmed an erasure only where there is one', async () => {
    const { api_key: key } = await Lethe.register(bot.options(), {
      ...{ platform_bot_id: snowflake(), name: 'Without a receiver' },
    });
    const silent = new Lethe({ ...bot.options(), key });
    const { request_id } = await silent.privacy.forget(subject());
    expect(await silent.privacy.waitFor(request_id)).toMatchObject({ webhook_sent: false });
  });

  it('erases a user in every guild', async () => {
    const [here, there] = [await consenting(), subject()];
    const elsewhere = { ...there, user_id: here.user_id };
    await lethe.consents.request({ ...elsewhere, consent_version: '1.0' });
    const { requests } = await lethe.privacy.forgetEverywhere({ user_id: here.user_id });
    expect(requests.map(({ guild_id }) => guild_id).sort()).toEqual([here.guild_id, there.guild_id].sort());
  });

  it('lists page by page, and reads many consents at once', async () => {
    const guilds = Array.from({ length: 101 }, snowflake);
    for (const guild_id of guilds) await lethe.servers.register({ guild_id, name: 'Guild' });
    const listed = await lethe.servers.list().toArray();
    expect(listed.map(({ guild_id }) => guild_id).sort()).toEqual([...guilds].sort());
    expect(await lethe.servers.list().page(2, 100)).toMatchObject({ total_count: 101, items: [{}] });
    const ended: string[] = [];
    for await (const { guild_id } of lethe.servers.list()) {
      await lethe.servers.delete({ guild_id });
      ended.push(guild_id);
    }
    expect(ended).toEqual(listed.map(({ guild_id }) => guild_id));
    const who = await consenting();
    const others = Array.from({ length: 150 }, subject);
    const statuses = await lethe.consents.statusMany([...others, who]);
    expect(statuses.map(({ status }) => status)).toEqual([...others.map(() => 'none'), 'accepted']);
    const types = (await lethe.audit.events(who).toArray()).map(({ event_type }) => event_type);
    expect(types).toEqual(['consent_accepted', 'consent_requested']);
  });

  it('does an act once for a key of idempotency', async () => {
    const who = await consenting();
    const event = { ...who, event_type: 'data_deleted' } as const;
    const options = { idempotencyKey: snowflake() };
    const [one, other] = [await lethe.audit.write(event, options), await lethe.audit.write(event, options)];
    expect(one.id).toBe(other.id);
    const changed = thrown(lethe.audit.write({ ...event, details: { a: 1 } }, options));
    expect(await changed).toMatchObject({ reason: 'idempotency_key_reused' });
    expect(await changed).toBeInstanceOf(ConflictError);
  });
});

describe('the fake', () => {
  it('refuses what a test wants refused, once', async () => {
    const lethe = new Lethe({ url: fake.url, fetch: fake.fetch, key: 'sk_test_x', retries: 0 });
    fake.refuseNext('service_unavailable');
    expect(await thrown(lethe.bots.me())).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(await thrown(lethe.bots.me())).toMatchObject({ status: 401 });
  });

  it('deletes a server once its time has come', async () => {
    let now = new Date('2026-01-31T08:00:00.000Z');
    const own = new FakeLethe({ now: () => now });
    const options = { url: own.url, fetch: own.fetch };
    const { api_key: key } = await Lethe.register(options, { platform_bot_id: snowflake(), name: 'Greeter' });
    const lethe = new Lethe({ ...options, key });
    const who = subject();
    await lethe.consents.request({ ...who, consent_version: '1.0' });
    const due = '2026-02-07T08:00:00.000Z';
    expect(await lethe.servers.delete({ guild_id: who.guild_id, grace_days: 7 })).toEqual({
      ...{ guild_id: who.guild_id, deleted: false, erased_users: 0, scheduled_for: due },
    });
    now = new Date('2026-02-06T08:00:00.000Z');
    expect(await lethe.consents.status(who)).toMatchObject({ status: 'pending' });
    expect(await lethe.servers.list().toArray()).toMatchObject([{ deletion_scheduled_for: due }]);
    now = new Date(due);
    expect(await lethe.consents.status(who)).toMatchObject({ status: 'none' });
    expect(await lethe.servers.list().toArray()).toEqual([]);
    expect(own.webhooks).toHaveLength(1);
  });
});
