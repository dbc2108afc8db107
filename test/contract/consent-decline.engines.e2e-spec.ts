import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import {
  A_TIME,
  consentStatus,
  exportRecord,
  expectFailure,
  expectFaults,
  expectSuccess,
} from '../support/expected';
import { BAD_SNOWFLAKES, itRefuses, UNKNOWN_UUID } from '../support/inputs';
import { forms, get, send } from '../support/privacy-page';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});

const decline = (more: Json = {}) => bot.post('/consents/decline', { ...who, ...more });
const history = async () => {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&page_size=100`;
  return (await bot.get<{ entries: Json[] }>(`/consents/history?${query}`)).data.entries;
};
const accept = (version: string) => bot.post('/consents/accept', { ...who, consent_version: version });
const submit = () => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'a' } });

/** Declines, and expects the status of before the request with the time of the refusal, then and afterwards. */
async function expectAsBefore(before: Json): Promise<void> {
  const answer = await decline();
  expectSuccess(answer, 200, { ...before, declined_at: A_TIME });
  expectSuccess(await bot.status(who), 200, answer.data);
}

/** The time of the last refusal, which the single request and the batch answer alike. */
async function declinedAt(): Promise<unknown> {
  const { data } = await bot.post<{ results: Json[] }>('/consents/status/batch', { items: [subject(), who] });
  const single = (await bot.status(who)).data;
  expect(data.results[0]).toHaveProperty('declined_at', null);
  expect(data.results[1]).toStrictEqual(single);
  return single['declined_at'];
}

describe('POST /api/v1/consents/decline', () => {
  it('ends a first request: the status is none, and nothing can be accepted or stored', async () => {
    await bot.hasCategory('profile');
    await bot.hasRequest(who);
    await expectAsBefore(consentStatus(who));
    expectFailure(await accept('1.0'), 404, 'not_found', { current_status: 'none' });
    expectFailure(await submit(), 403, 'consent_required', { current_status: 'none' });
    expectFailure(await decline(), 404, 'not_found', { current_status: 'none' });
  });

  it('leaves a consent to an older version in force', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    const before = (await bot.status(who)).data;
    await bot.hasRequest(who, '2.0');
    await expectAsBefore(before);
    expect((await submit()).status).toBe(200);
    expectFailure(await accept('2.0'), 404, 'not_found', { current_status: 'accepted' });
  });

  it('restores a revoked consent, with its times, its categories and the erasure of its data', async () => {
    for (const key of ['profile', 'version']) await bot.hasCategory(key);
    const categories = ['profile', 'version'];
    await bot.post('/consents/request', { ...who, consent_version: '1.0', categories });
    await accept('1.0');
    await submit();
    await bot.hasRevoked(who);
    const before = (await bot.status(who)).data;
    expect(before).toMatchObject({ status: 'revoked', version: '1.0', data_erased_at: A_TIME });
    for (const version of ['2.0', '3.0']) await bot.hasRequest(who, version);
    await expectAsBefore(before);
    await bot.delete('/data/categories/version');
    await bot.hasRequest(who, '4.0');
    await bot.delete('/data/categories/profile');
    const left: Json = { ...before, categories: [] };
    delete left['data_erased_at'];
    await expectAsBefore(left);
  });

  it('keeps the refusal in the history, with the words that were shown, and writes no audit event', async () => {
    await bot.post('/consents/texts', { consent_version: '1.0', language: 'en', title: 'a', body: 'b' });
    const id = await bot.hasRequest(who);
    const { data } = await decline({ source: 'button:no' });
    const [declined, requested] = await history();
    expect(declined).toStrictEqual({
      ...requested,
      id: expect.any(String) as string,
      consent_id: id,
      action: 'declined',
      source: 'button:no',
      created_at: data['declined_at'],
    });
    expect(declined!['texts']).toHaveLength(1);
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested']);
  });

  it('lets the user be asked again at once', async () => {
    await bot.hasRequest(who);
    await decline();
    await bot.hasConsent(who);
    expect((await history()).map(({ action }) => action)).toStrictEqual([
      ...['accepted', 'requested', 'declined', 'requested'],
    ]);
  });

  it('answers declined_at with the status until the next request or acceptance, and nothing after an erasure', async () => {
    expect(await declinedAt()).toBeNull();
    await bot.hasRequest(who);
    expect(await declinedAt()).toBeNull();
    const first = (await decline()).data['declined_at'];
    expect(await declinedAt()).toBe(first);
    await bot.hasRequest(who);
    expect(await declinedAt()).toBeNull();
    await accept('1.0');
    expect(await declinedAt()).toBeNull();
    await bot.hasRequest(who, '2.0');
    const second = (await decline()).data['declined_at'];
    expect(await declinedAt()).toBe(second);
    expect((await bot.status(who)).data['status']).toBe('accepted');
    await bot.hasRevoked(who);
    expect(await declinedAt()).toBe(second);
    await bot.hasForgotten(who);
    expect(await declinedAt()).toBeNull();
  });

  it('leaves a history that is exported, and erased with the user', async () => {
    await bot.hasRequest(who);
    await decline();
    const full = (await bot.export<{ consent_history: Json[] }>(who, '&format=full')).data;
    expect(full.consent_history.map(({ action }) => action)).toStrictEqual(['requested', 'declined']);
    expectSuccess(await bot.export(who), 200, exportRecord(who, bot, { consent: null }));
    await bot.hasForgotten(who);
    expect(await history()).toStrictEqual([]);
    expectFailure(await bot.export(who), 404, 'not_found');
  });

  it('answers 404 without a request that waits', async () => {
    expectFailure(await decline(), 404, 'not_found', { current_status: 'none' });
    await bot.hasConsent(who);
    expectFailure(await decline(), 404, 'not_found', { current_status: 'accepted' });
    await bot.hasRevoked(who);
    expectFailure(await decline(), 404, 'not_found', { current_status: 'revoked' });
    const other = await service.registerBot();
    await bot.hasRequest(who);
    expectFailure(await other.post('/consents/decline', who), 404, 'not_found', { current_status: 'none' });
  });

  it('and an acceptance at the same moment: one of them succeeds', async () => {
    for (let round = 0; round < 5; round++) {
      who = subject();
      await bot.hasRequest(who);
      const answers = await Promise.all([decline(), accept('1.0')]);
      expect(answers.map(({ status }) => status).sort()).toStrictEqual([200, 404]);
      const { status } = (await bot.status(who)).data;
      expect(status).toBe(answers[0].status === 200 ? 'none' : 'accepted');
    }
  });

  it('keeps a user closed who is being erased', async () => {
    await bot.hasRequest(who);
    const { guild_id, user_id } = service.stored(bot, who);
    const where = `bot_id = '${bot.id}' AND guild_id = '${guild_id}' AND user_id = '${user_id}'`;
    await service.database.run(`UPDATE consents SET erasing = 1 WHERE ${where}`);
    await expectAsBefore(consentStatus(who));
    const rows = await service.database.rows(`SELECT status, erasing FROM consents WHERE ${where}`);
    expect(
      rows.map((row) => ({ ...(row as Json), erasing: Number((row as Json)['erasing']) })),
    ).toStrictEqual([{ status: 'none', erasing: 1 }]);
  });

  it('takes the consent_id of the request, as accept does, and a repeat with its key gets the same answer', async () => {
    await bot.hasConsent(who);
    const consent_id = await bot.hasRequest(who, '2.0');
    const byId = (more: Json = {}, headers = {}) =>
      bot.post('/consents/decline', { consent_id, ...more }, headers);
    const other = await service.registerBot();
    const theirs = await other.post('/consents/decline', { consent_id });
    expectFailure(theirs, 404, 'not_found', { current_status: 'none' });
    for (const wrong of [{ consent_id: UNKNOWN_UUID }, { user_id: subject().user_id }])
      expectFailure(await byId(wrong), 404, 'not_found');
    const key = { 'idempotency-key': 'a-double-click' };
    const answer = await byId({ source: 'button' }, key);
    expectSuccess(answer, 200, { ...(await bot.status(who)).data, declined_at: A_TIME });
    expect(answer.data).toMatchObject({ ...who, status: 'accepted', version: '1.0' });
    expect((await byId({ source: 'button' }, key)).data).toStrictEqual(answer.data);
    expectFailure(await byId(), 404, 'not_found');
    expectFaults(await bot.post('/consents/decline', {}), 'user_id', 'guild_id');
    expectFaults(await byId({ consent_id: 'x' }), 'consent_id');
  });

  it('takes bot_id in place of guild_id', async () => {
    const asked = { bot_id: bot.id, user_id: who.user_id };
    await bot.post('/consents/request', { ...asked, consent_version: '1.0' });
    const botWide = { ...who, guild_id: '0'.repeat(17) };
    const answer = await bot.post('/consents/decline', asked);
    expectSuccess(answer, 200, { ...consentStatus(botWide, { categories: [] }), declined_at: A_TIME });
  });

  for (const name of ['user_id', 'guild_id'])
    itRefuses(
      name,
      BAD_SNOWFLAKES,
      (body) => bot.post('/consents/decline', body),
      () => ({ ...who }),
    );

  it('answers 400 for a source that is no short name', async () => {
    expectFaults(await decline({ source: 'Button No' }), 'source');
  });
});

describe('a request whose last category is deleted', () => {
  const asks = async (...categories: string[]): Promise<string> => {
    const { status, data } = await bot.post<{ id: string }>('/consents/request', { ...who, categories });
    expect(status).toBe(201);
    return data.id;
  };
  const acceptable = async (): Promise<number> => {
    const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
    return forms(await get(url), 'accept').length;
  };

  beforeEach(async () => {
    for (const key of ['a', 'profile']) await bot.hasCategory(key);
  });

  it('ends, without a refusal in the history: the page has no form for it, and nothing can be accepted', async () => {
    const id = await asks('a');
    expect(await acceptable()).toBe(1);
    await bot.delete('/data/categories/a');
    expectSuccess(await bot.status(who), 200, consentStatus(who));
    expect(await acceptable()).toBe(0);
    const answer = await bot.post('/consents/accept', { consent_id: id });
    expectFailure(answer, 404, 'not_found', { current_status: 'none' });
    expect((await history()).map(({ action }) => action)).toEqual(['requested']);
  });

  it('is not said to be answered to who had its form open, and an answered one is', async () => {
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' })).data;
    const form = async () => forms(await get(url), 'decline')[0]!;
    const noted = async (sending: URLSearchParams) =>
      /note=(\w+)$/.exec((await send(url, 'decline', sending)).headers.get('location') ?? '')?.[1];
    await asks('profile');
    const answered = await form();
    expect(await noted(answered)).toBe('declined');
    await asks('a');
    const ended = await form();
    await bot.delete('/data/categories/a');
    expect([await noted(answered), await noted(ended)]).toEqual(['answered', 'ended']);
    expect((await get(`${url}?note=ended`)).text).toContain('does not exist any more as it was');
    expect((await history()).map(({ action }) => action)).toEqual(['requested', 'declined', 'requested']);
  });

  it('leaves the consent in force beside which it waited, and what is stored under that', async () => {
    await bot.post('/consents/accept', { consent_id: await asks('profile') });
    await submit();
    const before = (await bot.status(who)).data;
    const id = await asks('a');
    await bot.delete('/data/categories/a');
    expectSuccess(await bot.status(who), 200, before);
    const answer = await bot.post('/consents/accept', { consent_id: id });
    expectFailure(answer, 404, 'not_found');
    expect((await bot.status(who)).data).toStrictEqual(before);
    expect((await submit()).status).toBe(200);
  });

  it('leaves the withdrawn consent that it had replaced, and the erasure of its data', async () => {
    await bot.post('/consents/accept', { consent_id: await asks('profile') });
    await submit();
    await bot.hasRevoked(who);
    const before = (await bot.status(who)).data;
    await asks('a');
    await bot.delete('/data/categories/a');
    expectSuccess(await bot.status(who), 200, before);
  });
});
