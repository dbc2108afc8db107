import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { Signer, SubjectDataHolders } from '@app/crypto';
import type { SqlValue } from '@app/database';
import { ErasureReplay } from '@app/gdpr';
import { Clock } from '@app/kernel';
import type { Bot } from '../support/bot';
import { A_TIME, AN_ID, expectFailure, expectFaults } from '../support/expected';
import { BAD_UUIDS, UNKNOWN_UUID } from '../support/inputs';
import { keyIsRewritten } from '../support/key-rewrites';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
});
afterEach(() => jest.restoreAllMocks());

interface Forgotten {
  readonly request_id: string;
  readonly certificate_salt: string;
  readonly completed_at: string;
}

interface Checkpoints {
  readonly checkpoints: readonly { number: number; chain: string }[];
}

const certificateOf = (id: string, by = bot) =>
  by.get<{ certificate: string }>(`/gdpr/forget-status/${id}/certificate`);

async function hasErased(one: SubjectIds): Promise<Forgotten> {
  await bot.hasConsent(one);
  await bot.hasData(one, 'profile', { value: 'of the erased' });
  return (await bot.post<Forgotten>('/gdpr/forget-user', one)).data;
}

/** The payload if the public keys verify the signature; undefined otherwise. */
async function verified(jws: string): Promise<Record<string, unknown> | undefined> {
  const answer = await fetch(new URL('/.well-known/lethe-keys.json', service.url));
  const { keys } = (await answer.json()) as { keys: (JsonWebKey & { kid: string })[] };
  const [header = '', payload = '', signature = ''] = jws.split('.');
  const json = (text: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
  const { kid, typ, alg } = json(header);
  expect({ typ, alg }).toStrictEqual({ typ: 'lethe-erasure-certificate+jwt', alg: 'EdDSA' });
  const key = keys.find((each) => each.kid === kid);
  if (key === undefined) return undefined;
  const good = verify(
    null,
    Buffer.from(`${header}.${payload}`),
    createPublicKey({ key, format: 'jwk' }),
    Buffer.from(signature, 'base64url'),
  );
  return good ? json(payload) : undefined;
}

describe('GET /api/v1/gdpr/forget-status/{id}/certificate', () => {
  it('answers 200 with what was erased, signed, without personal data', async () => {
    const { request_id: id, completed_at: completedAt } = await hasErased(who);
    const answer = await certificateOf(id);
    expect(answer.status).toBe(200);
    const payload = await verified(answer.data.certificate);
    const [checkpoint] = (await bot.get<Checkpoints>('/audit/checkpoints')).data.checkpoints;
    expect(payload).toMatchObject({
      iss: 'lethe',
      request_id: id,
      bot_id: bot.id,
      requested_at: A_TIME,
      completed_at: completedAt,
      deleted_categories: ['profile'],
      erased_rows: { user_data: 1, consents: 1 },
      destroyed_key: expect.stringMatching(/^[\w-]{12}$/) as unknown,
      audit: { number: checkpoint?.number, chain: checkpoint?.chain },
      backups_clear_by: new Date(Date.parse(completedAt) + 35 * 86_400_000).toISOString(),
    });
    const text = JSON.stringify(payload);
    for (const personal of [who.user_id, who.guild_id, 'of the erased']) expect(text).not.toContain(personal);
  });

  it('counts no consent where there was none', async () => {
    const { data } = await bot.post<Forgotten>('/gdpr/forget-user', who);
    const answer = await certificateOf(data.request_id);
    expect(await verified(answer.data.certificate)).toMatchObject({
      deleted_categories: [],
      erased_rows: { consents: 0, consent_history: 0, user_data: 0 },
    });
  });

  it('is bound to the subject by the salt that only the answer of the erasure holds', async () => {
    const { request_id: id, certificate_salt: salt } = await hasErased(who);
    const { subject_commitment: commitment } =
      (await verified((await certificateOf(id)).data.certificate)) ?? {};
    const committed = (userId: string): string =>
      createHash('sha256')
        .update(Buffer.from(salt, 'base64url'))
        .update('\0')
        .update(`${bot.id}/${who.guild_id}/${userId}`)
        .digest('base64url');
    expect(commitment).toBe(committed(who.user_id));
    expect(commitment).not.toBe(committed(subject().user_id));
    for (const { name } of await service.database.tables())
      expect(JSON.stringify(await service.database.rows(`SELECT * FROM ${name}`))).not.toContain(salt);
  });

  it('does not verify once a single character was changed', async () => {
    const { certificate } = (await certificateOf((await hasErased(who)).request_id)).data;
    const at = certificate.indexOf('.') + 20;
    const changed =
      certificate.slice(0, at) + (certificate[at] === 'A' ? 'B' : 'A') + certificate.slice(at + 1);
    expect(await verified(certificate)).toBeDefined();
    expect(await verified(changed)).toBeUndefined();
  });

  it('answers the same text ever after, also when it is asked for by many at once', async () => {
    const { request_id: id } = await hasErased(who);
    await keyIsRewritten(service, id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => certificateOf(id)));
    jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.now() + 60_000);
    const later = await certificateOf(id);
    expect(new Set([...answers, later].map(({ data }) => data.certificate)).size).toBe(1);
  });

  it('answers 409 for an erasure that has failed', async () => {
    const [holder] = service.app.get(SubjectDataHolders).all();
    if (holder === undefined) throw new Error('there is no holder');
    jest.spyOn(holder, 'erase').mockRejectedValueOnce(new Error('broken'));
    const refused = await bot.post('/gdpr/forget-user', who);
    const id = String(refused.error.details?.['request_id']);
    expectFailure(await certificateOf(id), 409, 'conflict', { reason: 'deletion_not_completed' });
  });

  it('answers 409 for an erasure that is only in the ledger of a restored installation', async () => {
    const { request_id: id } = await hasErased(who);
    await service.database.run('DELETE FROM deletion_requests WHERE bot_id = ? AND id = ?', bot.id, id);
    await service.app.get(ErasureReplay).run();
    expectFailure(await certificateOf(id), 409, 'conflict', { reason: 'no_certificate' });
  });

  it('answers 409 for a row of the data that the ledger beside the keys does not vouch for', async () => {
    const { request_id: id } = await hasErased(who);
    const [other, { request_id: otherId }] = [subject(), await hasErased(subject())];
    const commitment = createHash('sha256')
      .update(`salt\0${bot.id}/${other.guild_id}/${other.user_id}`)
      .digest('base64url');
    const ask = async (expected: number): Promise<void> => {
      const answer = await certificateOf(id);
      expect(answer.status).toBe(expected);
      if (expected === 409) expectFailure(answer, 409, 'conflict', { reason: 'no_certificate' });
    };
    const set = (column: string, value: SqlValue) =>
      service.database.run(
        `UPDATE deletion_requests SET ${column} = ? WHERE bot_id = ? AND id = ?`,
        ...[value, bot.id, id],
      );
    const rowOf = async (requestId: string) =>
      (
        await service.database.rows<Record<string, SqlValue>>(
          'SELECT * FROM deletion_requests WHERE bot_id = ? AND id = ?',
          ...[bot.id, requestId],
        )
      )[0] ?? {};
    const [own, others] = [await rowOf(id), await rowOf(otherId)];
    for (const [column, value] of [
      ['subject_commitment', commitment],
      ['user_id', others['user_id'] ?? null],
      ['guild_id', others['guild_id'] ?? null],
    ] as const) {
      await set(column, value);
      await ask(409);
      await set(column, own[column] ?? null);
    }
    await ask(200);

    await set('id', UNKNOWN_UUID);
    expectFailure(await certificateOf(UNKNOWN_UUID), 409, 'conflict', { reason: 'no_certificate' });
  });

  it('answers no stored text but what it has signed about this erasure', async () => {
    const { request_id: id, completed_at: completedAt } = await hasErased(who);
    const { request_id: otherId } = await hasErased(subject());
    const genuine = (await certificateOf(id)).data.certificate;
    const payload = (await verified(genuine)) ?? {};
    const sign = (changed: object, typ = 'lethe-erasure-certificate+jwt') =>
      service.app.get(Signer).sign({ ...payload, ...changed }, typ);
    const planted = [
      'planted',
      genuine.replace(/.{9}$/, 'AAAAAAAAA'),
      (await certificateOf(otherId)).data.certificate,
      await sign({}, 'lethe-test+jwt'),
      await sign({ ledger: null }),
    ];
    for (const text of planted) {
      await service.database.run(
        'UPDATE deletion_requests SET certificate = ?, unrecoverable_at = ? WHERE bot_id = ? AND id = ?',
        ...[text, completedAt, bot.id, id],
      );
      const { certificate } = (await certificateOf(id)).data;
      expect(certificate).not.toBe(text);
      expect(await verified(certificate)).toMatchObject({ request_id: id, audit: payload['audit'] });
      expect((await certificateOf(id)).data.certificate).toBe(certificate);
    }
  });

  it("answers 404 for no request, and for another bot's", async () => {
    const { request_id: id } = await hasErased(who);
    expectFailure(await certificateOf(UNKNOWN_UUID), 404, 'not_found');
    expectFailure(await certificateOf(id, await service.registerBot()), 404, 'not_found');
    expect(id).toEqual(AN_ID);
  });

  it.each(BAD_UUIDS)('answers 400 for %s as the id', async (_, id) => {
    expectFaults(await certificateOf(String(id)), 'id');
  });
});
