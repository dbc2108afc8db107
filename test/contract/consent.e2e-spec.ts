import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import {
  A_JWS,
  consentRecord,
  consentRequested,
  consentStatus,
  expectFailure,
  expectFaults,
  expectSuccess,
} from '../support/expected';
import {
  ABSENT,
  BAD_SNOWFLAKES,
  BAD_SNOWFLAKE_TEXTS,
  type Case,
  GOOD_SNOWFLAKES,
  itRefuses,
  itTakes,
  UNKNOWN_UUID,
} from '../support/inputs';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});

const request = (version: unknown = '1.0') =>
  bot.post('/consents/request', { ...who, consent_version: version });
const accept = (version: unknown = '1.0') =>
  bot.post('/consents/accept', { ...who, consent_version: version });
const revoke = () => bot.post('/consents/revoke', who);
const status = async () => (await bot.status(who)).data;

const BAD_VERSIONS: readonly Case[] = [
  ...ABSENT,
  ['empty', ''],
  ['of 65 characters', 'v'.repeat(65)],
  ['with a space', '1 0'],
  ['with a slash', '1/0'],
  ['with an umlaut', 'fünf'],
  ['with a line break', '1.0\n'],
  ['with a comma', '1,0'],
  ['a number', 1],
  ['an array', ['1.0']],
  ['an object', {}],
  ['a boolean', true],
];
const GOOD_VERSIONS: readonly Case[] = [
  ['one character', '1'],
  ['of 64 characters', 'v'.repeat(64)],
  ['of every kind of character', 'Az09._+:-'],
  ['a name of Object.prototype', '__proto__'],
];

describe('POST /api/v1/consents/request', () => {
  const send = (body: Json) => bot.post('/consents/request', body);
  const valid = (): Json => ({ ...subject(), consent_version: '1.0' });

  it('answers 201 with a pending request: id, status, version, requested_at', async () => {
    expectSuccess(await request(), 201, consentRequested('1.0'));
    expect(await status()).toStrictEqual(consentStatus(who, { status: 'pending', version: '1.0' }));
  });

  it('answers 201 with the same record when the same version is pending', async () => {
    const first = await request();
    expectSuccess(await request(), 201, first.data);
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested']);
  });

  it('answers 201 with a new request in place of a pending one of another version, which cannot be accepted any more', async () => {
    const first = await request('1');
    const second = await request('2');
    expectSuccess(second, 201, consentRequested('2'));
    expect(second.data['id']).not.toBe(first.data['id']);
    expectFailure(await accept('1'), 404, 'not_found', { current_status: 'pending' });
    expect((await accept('2')).status).toBe(200);
  });

  it('answers 201 with the accepted record when the same version is accepted: asking twice withdraws nothing', async () => {
    await bot.hasConsent(who);
    const before = await status();
    expectSuccess(await request(), 201, consentRequested('1.0', { status: 'accepted' }));
    expect(await status()).toStrictEqual(before);
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested', 'consent_accepted']);
  });

  it('answers the id and requested_at of the request that was accepted', async () => {
    const requested = (await request()).data;
    await accept();
    expectSuccess(await request(), 201, { ...requested, status: 'accepted' });
  });

  it('answers 201 pending for another version than the accepted one, which stays in force until the new one is accepted', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who, '1');
    expectSuccess(await request('2'), 201, consentRequested('2'));
    const inForce = consentStatus(who, {
      status: 'accepted',
      version: '1',
      accepted_at: expect.any(String) as unknown,
    });
    expect(await status()).toStrictEqual({ ...inForce, pending_version: '2' });
    await bot.hasData(who, 'profile', { value: 'still allowed' });
    expect((await bot.export(who)).data['consent']).toMatchObject({ status: 'accepted', version: '1' });
    await accept('2');
    expect(await status()).toStrictEqual({ ...inForce, version: '2' });
  });

  it('answers the accepted record for the accepted version while a newer one is pending', async () => {
    const first = (await request('1')).data;
    await accept('1');
    await request('2');
    expectSuccess(await request('1'), 201, { ...first, status: 'accepted' });
    expect(await status()).toMatchObject({ status: 'accepted', version: '1' });
  });

  it('answers 201 with the same newer request when it is asked for twice', async () => {
    await bot.hasConsent(who, '1');
    const first = await request('2');
    expectSuccess(await request('2'), 201, first.data);
  });

  it('answers 201 with a third version in place of the waiting second one', async () => {
    await bot.hasConsent(who, '1');
    await request('2');
    await request('3');
    expect(await status()).toMatchObject({ version: '1', pending_version: '3' });
    expectFailure(await accept('2'), 404, 'not_found', { current_status: 'accepted' });
    expect((await accept('3')).data).toMatchObject({ version: '3', status: 'accepted' });
  });

  it('answers 201 pending after a revocation, also for the version that was revoked', async () => {
    await bot.hasConsent(who);
    const revoked = (await revoke()).data;
    const again = await request();
    expectSuccess(again, 201, consentRequested('1.0'));
    expect(again.data['id']).not.toBe(revoked['id']);
    expect(await status()).toMatchObject({ status: 'pending', version: '1.0' });
  });

  it('keeps guilds, users and bots apart', async () => {
    const other = await service.registerBot();
    await bot.hasConsent(who);
    for (const [caller, one] of [
      [bot, { ...who, guild_id: subject().guild_id }],
      [bot, { ...who, user_id: subject().user_id }],
      [other, who],
    ] as const)
      expectSuccess(await caller.status(one), 200, consentStatus(one));
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/consents/request', valid()), 401, 'unauthorized');
  });

  it('names every bad field at once', async () => {
    expectFaults(await send({ user_id: 1, consent_version: '' }), 'user_id', 'guild_id', 'consent_version');
  });

  itRefuses('user_id', BAD_SNOWFLAKES, send, valid);
  itTakes('user_id', GOOD_SNOWFLAKES, send, valid, 201);
  itRefuses('guild_id', BAD_SNOWFLAKES, send, valid);
  itTakes('guild_id', GOOD_SNOWFLAKES, send, valid, 201);
  itRefuses('consent_version', BAD_VERSIONS, send, valid);
  itTakes('consent_version', GOOD_VERSIONS, send, valid, 201);
});

describe('POST /api/v1/consents/accept', () => {
  const send = (body: Json) => bot.post('/consents/accept', body);
  const valid = (): Json => ({ ...who, consent_version: '1.0' });

  it('answers 200 with the accepted record', async () => {
    const { id, requested_at } = (await request()).data;
    expectSuccess(
      await accept(),
      200,
      consentRecord(who, { id, status: 'accepted', version: '1.0', requested_at, receipt: A_JWS }),
    );
  });

  it('answers times in the order of the acts', async () => {
    await request();
    const { requested_at, accepted_at } = (await accept()).data as Record<string, string>;
    expect(Date.parse(accepted_at ?? '')).toBeGreaterThanOrEqual(Date.parse(requested_at ?? ''));
  });

  it('answers 404 with current_status none when nothing was requested', async () => {
    expectFailure(await accept(), 404, 'not_found', { current_status: 'none' });
  });

  it('answers 404 with current_status pending for another version than the pending one', async () => {
    await request('1');
    expectFailure(await accept('2'), 404, 'not_found', { current_status: 'pending' });
    expect(await status()).toMatchObject({ status: 'pending', version: '1' });
  });

  it('answers 404 with current_status accepted when it is accepted already', async () => {
    await bot.hasConsent(who);
    const before = await status();
    expectFailure(await accept(), 404, 'not_found', { current_status: 'accepted' });
    expect(await status()).toStrictEqual(before);
  });

  it('answers 404 with current_status revoked after a revocation', async () => {
    await bot.hasConsent(who);
    await bot.hasRevoked(who);
    expectFailure(await accept(), 404, 'not_found', { current_status: 'revoked' });
  });

  it('answers 404 with the current_status of the user whom the call names, whatever the consent_id is', async () => {
    const ids = [UNKNOWN_UUID, await bot.hasRequest(subject())];
    for (const [act, current_status] of [
      [() => Promise.resolve(), 'none'],
      [() => bot.hasRequest(who), 'pending'],
      [() => bot.hasConsent(who), 'accepted'],
      [() => bot.hasRevoked(who), 'revoked'],
    ] as const) {
      await act();
      for (const consent_id of ids)
        for (const path of ['accept', 'decline'])
          expectFailure(await bot.post(`/consents/${path}`, { ...who, consent_id }), 404, 'not_found', {
            current_status,
          });
    }
    expectFailure(await send({ consent_id: UNKNOWN_UUID }), 404, 'not_found', { current_status: 'none' });
  });

  it.each([
    ['1.0', '1.00'],
    ['v1', 'V1'],
    ['1', '1.0'],
  ])('compares versions byte for byte: %s is not %s', async (asked, other) => {
    await request(asked);
    expectFailure(await accept(other), 404, 'not_found');
  });

  it('answers 404 for a request of another bot, guild or user', async () => {
    const other = await service.registerBot();
    await request();
    const body = { ...who, consent_version: '1.0' };
    expectFailure(await other.post('/consents/accept', body), 404, 'not_found', { current_status: 'none' });
    for (const field of ['user_id', 'guild_id'])
      expectFailure(await send({ ...body, [field]: subject().user_id }), 404, 'not_found');
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/consents/accept', valid()), 401, 'unauthorized');
  });

  it('names every missing field at once', async () => {
    expectFaults(await send({}), 'user_id', 'guild_id', 'consent_version');
  });

  itRefuses('user_id', BAD_SNOWFLAKES, send, valid);
  itRefuses('guild_id', BAD_SNOWFLAKES, send, valid);
  itRefuses('consent_version', BAD_VERSIONS, send, valid);
});

describe('POST /api/v1/consents/revoke', () => {
  const send = (body: Json) => bot.post('/consents/revoke', body);

  it('answers 200 with the revoked record, accepted_at still shown', async () => {
    await request();
    const { receipt, ...accepted } = (await accept()).data;
    expect(receipt).toEqual(expect.any(String));
    const answer = await revoke();
    expectSuccess(answer, 200, { ...accepted, status: 'revoked', revoked_at: expect.any(String) as unknown });
    const { accepted_at, revoked_at } = answer.data;
    expect(await status()).toStrictEqual(
      consentStatus(who, { status: 'revoked', version: '1.0', accepted_at, revoked_at }),
    );
  });

  it('answers 404 with current_status none when nothing was ever asked', async () => {
    expectFailure(await revoke(), 404, 'not_found', { current_status: 'none' });
  });

  it('answers 404 with current_status pending for a request that was never accepted: it is no consent', async () => {
    await request();
    expectFailure(await revoke(), 404, 'not_found', { current_status: 'pending' });
    expect((await accept()).status).toBe(200);
  });

  it('answers 404 with current_status revoked the second time', async () => {
    await bot.hasConsent(who);
    await bot.hasRevoked(who);
    const before = await status();
    expectFailure(await revoke(), 404, 'not_found', { current_status: 'revoked' });
    expect(await status()).toStrictEqual(before);
  });

  it('cancels a newer request that waits', async () => {
    await bot.hasConsent(who, '1');
    await request('2');
    await bot.hasRevoked(who);
    expect(await status()).toStrictEqual(
      consentStatus(who, {
        status: 'revoked',
        version: '1',
        accepted_at: expect.any(String) as unknown,
        revoked_at: expect.any(String) as unknown,
      }),
    );
    expectFailure(await accept('2'), 404, 'not_found', { current_status: 'revoked' });
  });

  it('answers 404 for the consent of another bot and leaves it', async () => {
    const other = await service.registerBot();
    await bot.hasConsent(who);
    expectFailure(await other.post('/consents/revoke', who), 404, 'not_found', { current_status: 'none' });
    expect(await status()).toMatchObject({ status: 'accepted' });
  });

  it('leaves the consent of other guilds', async () => {
    const elsewhere = { ...who, guild_id: subject().guild_id };
    await bot.hasConsent(who);
    await bot.hasConsent(elsewhere);
    await bot.hasRevoked(who);
    expect((await bot.status(elsewhere)).data).toMatchObject({ status: 'accepted' });
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/consents/revoke', who), 401, 'unauthorized');
  });

  it('names every missing field at once', async () => {
    expectFaults(await send({}), 'user_id', 'guild_id');
  });

  itRefuses('user_id', BAD_SNOWFLAKES, send, () => ({ ...who }));
  itRefuses('guild_id', BAD_SNOWFLAKES, send, () => ({ ...who }));
});

describe('GET /api/v1/consents/status', () => {
  it('answers 200 none with nulls when nothing was ever asked', async () => {
    expectSuccess(await bot.status(who), 200, consentStatus(who));
  });

  it('answers 200 pending, accepted, revoked and pending again along a life', async () => {
    const seen: unknown[] = [];
    const note = async () => seen.push((await status())['status']);
    await note();
    await request();
    await note();
    await accept();
    await note();
    await revoke();
    await note();
    await request();
    await note();
    expect(seen).toStrictEqual(['none', 'pending', 'accepted', 'revoked', 'pending']);
  });

  it('answers 200 none after an erasure', async () => {
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    expectSuccess(await bot.status(who), 200, consentStatus(who));
  });

  it.each(['user_id', 'guild_id'])('answers 400 naming %s when it is missing', async (name) => {
    const query = new URLSearchParams({ ...who });
    query.delete(name);
    expectFaults(await bot.get(`/consents/status?${query.toString()}`), name);
  });

  it('answers 400 naming both when both are missing', async () => {
    expectFaults(await bot.get('/consents/status'), 'user_id', 'guild_id');
  });

  describe.each(['user_id', 'guild_id'])('%s', (name) => {
    it.each([...BAD_SNOWFLAKE_TEXTS, ['empty', ''] as const])(
      'answers 400 naming it (%s)',
      async (_, text) => {
        const query = new URLSearchParams({ ...who, [name]: String(text) });
        expectFaults(await bot.get(`/consents/status?${query.toString()}`), name);
      },
    );
  });

  it('answers 401 without a key', async () => {
    const query = new URLSearchParams({ ...who });
    expectFailure(await service.anonymous.get(`/consents/status?${query.toString()}`), 401, 'unauthorized');
  });
});
