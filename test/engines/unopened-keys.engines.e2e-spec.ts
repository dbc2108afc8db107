import { BatchSealer } from '@app/sealing';
import { Dispatcher } from '@app/webhooks';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { damaged } from '../support/damaged';
import { expectFailure } from '../support/expected';
import { forgetInMemory } from '../support/opened-keys';
import { act, forms, get, send } from '../support/privacy-page';
import { useReceiver } from '../support/receiver';
import { seal, verified, withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h,1h,1h' });
const receiver = useReceiver();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  receiver.reset();
  bot = await service.registerBot();
  await bot.hasCategory('profile', [field('value', 'string', { editable: true })]);
  who = await bot.hasUser('before');
});

interface Stored {
  readonly id: string;
  readonly sealed: string;
}

async function keyOf(user: SubjectIds): Promise<Stored> {
  const { guild_id, user_id } = service.stored(bot, user);
  const [found] = await service.database.rows<Stored>(
    `SELECT stored.id, stored.sealed FROM subjects JOIN keys.subject_keys stored ON stored.id = key_id
     WHERE bot_id = ? AND guild_id = ? AND user_id = ?`,
    ...[bot.id, guild_id, user_id],
  );
  return found!;
}

/** Changes the stored key of a user; returns it as it was. */
async function change(user: SubjectIds, sealedFrom: (sealed: string) => string): Promise<Stored> {
  const stored = await keyOf(user);
  await put({ id: stored.id, sealed: sealedFrom(stored.sealed) });
  return stored;
}

async function put({ id, sealed }: Stored): Promise<void> {
  await service.database.run('UPDATE keys.subject_keys SET sealed = ? WHERE id = ?', sealed, id);
  forgetInMemory(service, id);
}

/** The master key with this id is given to no process. */
const byMissing = (sealed: string): string => sealed.replace(/^(v2\.)[\w-]{8}/, '$1missing1');

async function lose(user: SubjectIds): Promise<void> {
  const { id } = await keyOf(user);
  await service.database.run('DELETE FROM keys.subject_keys WHERE id = ?', id);
  forgetInMemory(service, id);
}

const submit = (user: SubjectIds, value: string) =>
  bot.post('/data/submit', { ...user, category: 'profile', data: { value } });

/** The calls about erased users. */
async function forgotten(): Promise<Json[]> {
  const { data } = await bot.get<{ deliveries: Json[] }>('/webhooks/deliveries');
  return data.deliveries.filter(({ event }) => event === 'user_forgotten');
}

async function heldRows({ user_id }: Pick<SubjectIds, 'user_id'>): Promise<number[]> {
  const { user_id: digest } = service.stored(bot, { user_id, guild_id: snowflake() });
  const counts: number[] = [];
  for (const table of ['subjects', 'consents', 'user_data']) {
    const [row] = await service.database.rows<{ total: number }>(
      `SELECT COUNT(*) AS total FROM ${table} WHERE bot_id = ? AND user_id = ?`,
      ...[bot.id, digest],
    );
    counts.push(Number(row?.total));
  }
  return counts;
}

describe('a key of a subject whose master key is missing', () => {
  it('is not replaced by any act: with the master key everything is readable again', async () => {
    const stored = await change(who, byMissing);
    const acts = [
      () => submit(who, 'after'),
      () => bot.post('/consents/revoke', who),
      () => bot.post('/consents/request', { ...who, consent_version: '2.0' }),
      () => bot.post('/audit/event', { ...who, event_type: 'data_exported' }),
      () => bot.post('/data/restrict', who),
      () => bot.post('/data/object', who),
      () => bot.export(who),
    ];
    for (const one of acts) expectFailure(await one(), 500, 'internal_error');
    expect((await keyOf(who)).id).toBe(stored.id);
    await put(stored);
    expect((await bot.export<{ data: object }>(who)).data.data).toStrictEqual({
      profile: { value: 'before' },
    });
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    expect((await submit(who, 'after')).status).toBe(200);
  });

  it('seals no event of its subject beyond proof: the log of its bot waits for the master key', async () => {
    await withoutSealing(service);
    who = await bot.hasUser('before');
    const stored = await change(who, byMissing);
    expect(await service.app.get(BatchSealer).sealNow(bot.id)).toBe(false);
    // Nothing of the bot is 500 for one user.
    const listed = await bot.get<{ events: { id: string }[] }>('/audit/events');
    const unsealed = `/audit/proof/${listed.data.events[0]?.id}`;
    for (const path of [unsealed, '/audit/export'])
      expectFailure(await bot.get(path), 503, 'service_unavailable');
    expect((await bot.get('/stats')).status).toBe(200);
    await put(stored);
    await seal(service, bot);
    const { data } = await bot.get<{ events: { id: string }[] }>('/audit/events');
    expect(data.events.length).toBeGreaterThan(0);
    for (const { id } of data.events) {
      const proof = await bot.get<{ event: { parts: unknown } }>(`/audit/proof/${id}`);
      expect(proof.data.event.parts).not.toBeNull();
    }
  });

  it('hinders no erasure of its subject, of its guild or of the user everywhere', async () => {
    const [second, third] = [await bot.hasUser('second'), await bot.hasUser('third')];
    for (const user of [who, second, third]) await change(user, byMissing);
    expect((await bot.post('/gdpr/forget-user', who)).data).toMatchObject({ status: 'completed' });
    const everywhere = { user_id: second.user_id, scope: 'all_guilds' };
    expect((await bot.post('/gdpr/forget-user', everywhere)).data).toMatchObject({ status: 'completed' });
    const guild = await bot.delete(`/servers/${third.guild_id}`);
    expect(guild.status).toBe(200);
    for (const user of [who, second, third]) expect(await heldRows(user)).toStrictEqual([0, 0, 0]);
    const left = await service.database.rows(
      `SELECT id FROM keys.subject_keys WHERE sealed LIKE '%missing1%'`,
    );
    expect(left).toStrictEqual([]);
    await seal(service, bot);
    expect((await verified(service, bot)).found).toStrictEqual([]);
  });

  it.each(['missing', 'damaged', 'lost'])(
    'hinders no user_forgotten of an erasure everywhere: %s',
    async (how) => {
      bot = await service.registerBot({ webhook_url: receiver.url });
      who = { ...subject(), guild_id: '0'.repeat(17) };
      await bot.hasConsent(who);
      await (how === 'lost' ? lose(who) : change(who, how === 'missing' ? byMissing : damaged));
      const everywhere = { user_id: who.user_id, scope: 'all_guilds' };
      const { data } = await bot.post<{ requests: Json[] }>('/gdpr/forget-user', everywhere);
      expect(data.requests).toMatchObject([{ guild_id: who.guild_id, status: 'completed' }]);
      expect(await forgotten()).toMatchObject([{ user_id: who.user_id }]);
    },
  );

  it('lets its webhook call wait, and no other', async () => {
    const given = await service.registerBot({ webhook_url: receiver.url });
    receiver.status = 503;
    const [waits, others] = [subject(), subject()];
    for (const user of [waits, others]) await given.hasConsent(user);
    await given.hasRevoked(waits);
    await receiver.received(1);
    bot = given;
    const due = async (): Promise<number> => {
      const rows = await service.database.rows<{ due: string }>(
        `SELECT next_attempt_at AS due FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending' AND locked_by IS NULL`,
        given.id,
      );
      return Math.max(0, ...rows.map((row) => Date.parse(row.due)));
    };
    const past = '2026-01-01T00:00:00.000Z';
    // The call has failed, and is due again once its key does not open.
    await until(async () => (await due()) > Date.now());
    const stored = await change(waits, byMissing);
    await service.database.run(
      `UPDATE webhook_deliveries SET next_attempt_at = ? WHERE bot_id = ? AND status = 'pending'`,
      ...[past, given.id],
    );
    service.app.get(Dispatcher).poke(given.id);
    await until(async () => (await due()) > Date.now());
    receiver.status = 200;
    await given.hasRevoked(others);
    const calls = await receiver.received(2);
    expect(calls.map(({ body }) => body['user_id'])).toStrictEqual([waits.user_id, others.user_id]);
    const listed = async () =>
      (
        await given.get<{ deliveries: { id: string; status: string; user_id: unknown }[] }>(
          '/webhooks/deliveries',
        )
      ).data.deliveries;
    await until(async () => (await listed())[0]?.status === 'delivered');
    const [, waiting] = await listed();
    expect(waiting).toMatchObject({ status: 'pending', user_id: null });
    expect((await given.get(`/webhooks/deliveries/${waiting?.id}`)).data).toMatchObject({ user_id: null });
    await put(stored);
    expect((await listed())[1]).toMatchObject({ user_id: waits.user_id });
    await put({ ...stored, sealed: byMissing(stored.sealed) });
    await service.database.run(
      `UPDATE webhook_deliveries SET next_attempt_at = ?, give_up_at = ? WHERE bot_id = ? AND status = 'pending'`,
      ...[past, past, given.id],
    );
    await given.hasConsent(others, '2.0');
    await given.hasRevoked(others);
    await until(async () => (await listed())[2]?.status === 'exhausted');
  });
});

describe('a damaged key of a subject', () => {
  it('gives way to a new one, also for several callers at once', async () => {
    const users = [who, await bot.hasUser('x'), await bot.hasUser('x')];
    const stored = await change(who, damaged);
    expectFailure(await bot.export(who), 500, 'internal_error', { categories: ['profile'] });
    const answers = await Promise.all(users.map((user) => submit(user, 'after')));
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200]);
    expect((await keyOf(who)).id).not.toBe(stored.id);
    expect((await bot.export<{ data: object }>(who)).data.data).toStrictEqual({
      profile: { value: 'after' },
    });
  });

  it('hinders no withdrawal and no erasure', async () => {
    const other = await bot.hasUser('other');
    for (const user of [who, other]) await change(user, damaged);
    expect((await bot.post('/consents/revoke', who)).status).toBe(200);
    await bot.hasForgotten(other);
    expect(await heldRows(other)).toStrictEqual([0, 0, 0]);
  });

  it('makes a repeat by Idempotency-Key 409, since its answer cannot be read', async () => {
    const asked = () =>
      bot.post(
        '/data/submit',
        { ...who, category: 'profile', data: { value: 'kept' } },
        { 'idempotency-key': 'of-a-damaged-key' },
      );
    expect((await asked()).status).toBe(200);
    await change(who, damaged);
    expectFailure(await asked(), 409, 'conflict', { reason: 'idempotency_answer_erased' });
  });
});

describe('the key of a subject that is lost', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ webhook_url: receiver.url });
    await bot.hasCategory('profile');
    await bot.hasCategory('notes');
    who = subject();
    await bot.hasRequest(who);
  });

  it('gives way at an acceptance to one with the ids that the call names', async () => {
    await lose(who);
    const answer = await bot.post<{ receipt: string }>('/consents/accept', {
      ...who,
      consent_version: '1.0',
    });
    expect(answer.data).toMatchObject(who);
    const [, payload = ''] = answer.data.receipt.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      pii_principal_id: who.user_id,
      pii_processing: { service: { guild_id: who.guild_id } },
    });
    await bot.delete(`/servers/${who.guild_id}`);
    expect(await forgotten()).toMatchObject([{ user_id: who.user_id }]);
  });

  it('gives way to one without ids where no call names them, which gets them by the next one that does', async () => {
    await bot.post('/consents/accept', { ...who, consent_version: '1.0' });
    for (const category of ['profile', 'notes']) await bot.hasData(who, category, { value: category });
    await lose(who);
    await bot.delete('/data/categories/notes');
    const made = await keyOf(who);
    await bot.hasData(who, 'profile', { value: 'after' });
    const named = await keyOf(who);
    expect(named.id).toBe(made.id);
    expect(named.sealed).toHaveLength(made.sealed.length);
    await bot.hasData(who, 'profile', { value: 'again' });
    expect(await keyOf(who)).toStrictEqual(named);
    await bot.delete(`/servers/${who.guild_id}`);
    expect(await forgotten()).toMatchObject([{ user_id: who.user_id }]);
  });
});

describe('a user whose keys in several guilds are lost', () => {
  let guilds: SubjectIds[];

  beforeEach(async () => {
    const { user_id } = subject();
    guilds = [];
    for (let n = 0; n < 3; n++) {
      const here = { user_id, guild_id: snowflake() };
      await bot.hasConsent(here);
      await bot.hasData(here, 'profile', { value: `guild ${n}` });
      guilds.push(here);
    }
    for (const here of guilds.slice(1)) await lose(here);
  });

  it.each<Record<string, string>>([{}, { 'idempotency-key': 'everywhere' }])(
    'is erased in each of them: %j',
    async (headers) => {
      const { user_id } = guilds[0]!;
      const forget = () =>
        bot.post<{ requests: unknown[] }>('/gdpr/forget-user', { user_id, scope: 'all_guilds' }, headers);
      const { status, data } = await forget();
      expect([status, data.requests.length]).toStrictEqual([200, 3]);
      expect(await heldRows({ user_id })).toStrictEqual([0, 0, 0]);
      if ('idempotency-key' in headers) expect((await forget()).data).toStrictEqual(data);
    },
  );

  it('can withdraw on a page of all guilds, in the guild of the form', async () => {
    const { user_id } = guilds[0]!;
    const { url } = (
      await bot.post<{ url: string }>('/privacy-links', { user_id, scope: 'all_guilds', language: 'en' })
    ).data;
    const revoking = forms(await get(url), 'revoke');
    expect(new Set(revoking.map((form) => form.get('guild'))).size).toBe(3);
    for (const form of revoking)
      expect((await send(url, 'revoke', form)).headers.get('location')).toMatch(/note=revoked$/);
    for (const here of guilds) expect((await bot.status(here)).data).toMatchObject({ status: 'revoked' });
  });

  it('can erase one category in the guild of the form', async () => {
    const { user_id } = guilds[0]!;
    const { url } = (
      await bot.post<{ url: string }>('/privacy-links', { user_id, scope: 'all_guilds', language: 'en' })
    ).data;
    const { guild_id } = service.stored(bot, guilds[2]!);
    await act(url, 'erase', 0, `/erase?of=${encodeURIComponent(`${guild_id}/profile`)}`);
    const { user_id: digest } = service.stored(bot, guilds[0]!);
    const left = await service.database.rows<{ guild_id: string }>(
      'SELECT guild_id FROM user_data WHERE bot_id = ? AND user_id = ?',
      ...[bot.id, digest],
    );
    const kept = guilds.slice(0, 2).map((here) => service.stored(bot, here).guild_id as string);
    expect(left.map((row) => row.guild_id).sort()).toStrictEqual(kept.sort());
  });

  it('has its consent in the copy to read, its acts as events, and its bounds', async () => {
    const { user_id } = guilds[0]!;
    const { url } = (
      await bot.post<{ url: string }>('/privacy-links', { user_id, scope: 'all_guilds', language: 'en' })
    ).data;
    const { guild_id: here } = service.stored(bot, guilds[1]!);
    const page = `/refuse?of=${here}`;
    const restrict = async () => {
      const fields = forms(await get(url + page), 'restrict')[0]!;
      fields.set('category', '*');
      return send(url, 'restrict', fields);
    };
    const restricted = await restrict();
    expect((await get(new URL(restricted.headers.get('location')!, url).href)).text).toContain(
      'role="status"',
    );
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) {
      const { status } = await act(url, 'unrestrict', 0, page);
      statuses.push(status);
      if (status === 303) await restrict();
    }
    expect(statuses).toStrictEqual([...Array.from({ length: 10 }, () => 303), 429]);
    await bot.post('/data/unrestrict', guilds[1]);
    // The key that the page has made gets the ids by a call that names them, and the page names the guild by its id again.
    for (const one of guilds.slice(1)) expect((await submit(one, 'after')).status).toBe(200);
    const of = `${guilds[1]!.guild_id}%2Fprofile%2Fvalue`;
    const correcting = forms(await get(`${url}/correct?of=${of}`), 'correct')[0]!;
    correcting.set('value', 'corrected');
    expect((await send(url, 'correct', correcting)).headers.get('location')).toMatch(/note=corrected$/);
    expect((await bot.export<{ data: object }>(guilds[1]!)).data.data).toStrictEqual({
      profile: { value: 'corrected' },
    });
    const copy = forms(await get(url), 'export').find((form) => form.get('form') === 'html')!;
    const { text } = await send(url, 'export', copy);
    expect(text.match(/You have consented\./g)).toHaveLength(3);
  });

  it('is exported from all guilds without a key that no process can open', async () => {
    const here = guilds[1]!;
    const { user_id } = service.stored(bot, here);
    await service.database.run('DELETE FROM user_data WHERE bot_id = ? AND user_id = ?', bot.id, user_id);
    expect((await bot.get(`/data/export/${here.user_id}?scope=all_guilds`)).status).toBe(200);
    expect((await submit(here, 'after')).status).toBe(200);
    forgetInMemory(service, (await keyOf(here)).id);
    expect((await bot.export<{ data: object }>(here)).data.data).toStrictEqual({
      profile: { value: 'after' },
    });
  });
});
