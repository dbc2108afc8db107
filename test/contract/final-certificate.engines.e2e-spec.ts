import { type KeySet, verifyCertificate, verifyFinalCertificate } from '@lethe/sdk/evidence';
import type { SqlValue } from '@app/database';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { expectFailure, expectFaults } from '../support/expected';
import { HolderKey } from '../support/final-certificates';
import { BAD_UUIDS, UNKNOWN_UUID } from '../support/inputs';
import { keyIsRewritten } from '../support/key-rewrites';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const key = new HolderKey();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});

const HOLDER = { kind: 'pull', covers: ['levels'], label_de: 'Speicher', label_en: 'Store' };
const register = (name: string, more: Json = {}) => bot.post('/holders', { ...HOLDER, key: name, ...more });

interface Forgotten {
  readonly request_id: string;
  readonly certificate_salt: string;
}
const forgotten = async (): Promise<Forgotten> => (await bot.post<Forgotten>('/gdpr/forget-user', who)).data;

const finalOf = (id: string, by = bot) =>
  by.get<{ certificate: string }>(`/gdpr/forget-status/${id}/final-certificate`);

const keySet = async (): Promise<KeySet> =>
  (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;

/** Answers a task; a holder named `signing` with a statement by its key. */
async function answers(id: string, holder: string, body: Json = { result: 'erased' }): Promise<void> {
  const { result, counts = null, kept = null } = body;
  const about = { bot_id: bot.id, holder, task_id: id, result, counts, kept };
  const statement = key.signs({ ...about, at: '2026-11-20T12:00:00+01:00' });
  const signed = holder === 'signing' ? { statement } : {};
  const path = `/holders/${holder}/tasks/${id}/acknowledge`;
  expect(await bot.post(path, { ...body, ...signed })).toMatchObject({ status: 200 });
}

const refused = async (id: string, reason: string): Promise<void> =>
  expectFailure(await finalOf(id), 409, 'conflict', { reason });

describe('GET /api/v1/gdpr/forget-status/{id}/final-certificate', () => {
  it('answers 200 with the certificate of the erasure and each answer, signed, without personal data', async () => {
    await register('signing', { public_key: key.publicKey });
    await register('cache');
    const { request_id: id, certificate_salt: salt } = await forgotten();
    const kept = { basis: 'Section 147 AO', until: '2036-12-31T23:00:00+01:00' };
    await answers(id, 'signing', { result: 'kept', kept, counts: { invoices: 2 } });
    await answers(id, 'cache', { result: 'nothing' });
    const { status, data } = await finalOf(id);
    expect(status).toBe(200);
    const { user_id: userId, guild_id: guildId } = who;
    const about = { salt, botId: bot.id, userId, guildId };
    const final = verifyFinalCertificate(data.certificate, await keySet(), about);
    expect(final).toMatchObject({
      ...{ version: 1, bot_id: bot.id, request_id: id, certificate: { request_id: id } },
      holders: [
        { key: 'cache', result: 'nothing', public_key: null, statement: null, signed_at: null },
        {
          ...{ key: 'signing', label_de: 'Speicher', label_en: 'Store', covers: ['levels'], result: 'kept' },
          ...{ counts: { invoices: 2 }, kept, public_key: key.publicKey },
          signed_at: '2026-11-20T12:00:00+01:00',
        },
      ],
    });
    expect(final.completed_at).toBe(final.holders[0]?.answered_at);
    const told = JSON.stringify(final);
    for (const personal of [userId, guildId, salt]) expect(told).not.toContain(personal);
  });

  it('answers the certificate of the erasure inside, as its own route does', async () => {
    await register('cache');
    const { request_id: id } = await forgotten();
    await answers(id, 'cache');
    await keyIsRewritten(service, id);
    const { data } = await bot.get<{ certificate: string }>(`/gdpr/forget-status/${id}/certificate`);
    const keys = await keySet();
    const { certificate } = verifyFinalCertificate((await finalOf(id)).data.certificate, keys);
    expect(certificate).toEqual(verifyCertificate(data.certificate, keys));
  });

  it('answers 409 no_holders for an erasure without tasks', async () => {
    const { request_id: id } = await forgotten();
    await register('cache');
    await refused(id, 'no_holders');
  });

  it('answers 409 coverage_incomplete while a task is open or failed, and for an abandoned one', async () => {
    await register('cache');
    await register('signing', { public_key: key.publicKey });
    const { request_id: id } = await forgotten();
    await refused(id, 'coverage_incomplete');
    await answers(id, 'signing');
    await refused(id, 'coverage_incomplete');
    await answers(id, 'cache', { result: 'failed' });
    await refused(id, 'coverage_incomplete');
    await bot.delete('/holders/cache?abandon=true');
    await refused(id, 'coverage_incomplete');
  });

  it('answers what follows what was kept, and what the holder was when it answered', async () => {
    await register('cache');
    const { request_id: id } = await forgotten();
    await answers(id, 'cache', { result: 'kept', kept: { basis: 'x', until: '2036-12-31T00:00:00.000Z' } });
    const holder = async () =>
      verifyFinalCertificate((await finalOf(id)).data.certificate, await keySet()).holders[0];
    expect(await holder()).toMatchObject({ result: 'kept', label_en: 'Store' });
    await answers(id, 'cache');
    expect(await holder()).toMatchObject({ result: 'erased', kept: null });
    await bot.put('/holders/cache', { label_en: 'Other', public_key: key.publicKey });
    expect(await holder()).toMatchObject({ label_en: 'Store', public_key: null });
    await bot.delete('/holders/cache');
    expect(await holder()).toMatchObject({ label_en: 'Store' });
  });

  it('issues no first certificate where it is refused itself', async () => {
    const issued = () =>
      service.database.rows('SELECT certificate FROM deletion_requests WHERE bot_id = ?', bot.id);
    const { request_id: alone } = await forgotten();
    await refused(alone, 'no_holders');
    await register('cache');
    const { request_id: open } = await forgotten();
    await refused(open, 'coverage_incomplete');
    expect(await issued()).toEqual([{ certificate: null }, { certificate: null }]);
  });

  it('answers 409 no_certificate for a row of the database that is not the answer which was received', async () => {
    await register('signing', { public_key: key.publicKey });
    const { request_id: id } = await forgotten();
    const { request_id: other } = (await bot.post<Forgotten>('/gdpr/forget-user', subject())).data;
    await answers(id, 'signing', { result: 'kept', kept: { basis: 'x', until: '2036-12-31T00:00:00.000Z' } });
    await answers(other, 'signing');
    const where = 'WHERE bot_id = ? AND request_id = ?';
    const rowOf = async (request: string) =>
      (
        await service.database.rows<Record<string, SqlValue>>(
          `SELECT * FROM holder_tasks ${where}`,
          ...[bot.id, request],
        )
      )[0] ?? {};
    const set = (column: string, value: SqlValue) =>
      service.database.run(`UPDATE holder_tasks SET ${column} = ? ${where}`, ...[value, bot.id, id]);
    const own = await rowOf(id);
    const declared = JSON.parse(String(own['declared'])) as Json;
    const planted: readonly (readonly [string, SqlValue])[] = [
      ['statement', null],
      ['statement', 'x'],
      ['statement', (await rowOf(other))['statement'] ?? null],
      ['statement', `${String(own['statement']).slice(0, -6)}AAAAAA`],
      ['result', 'erased'],
      ['counts', '{"rows":1}'],
      ['kept_basis', 'y'],
      ['kept_until', '2026-12-31T00:00:00.000Z'],
      ['answered_at', '2026-01-01T00:00:00.000Z'],
      ['seal', null],
      ['seal', 'x'],
      ['seal', (await rowOf(other))['seal'] ?? null],
      ['declared', JSON.stringify({ ...declared, labelEn: 'Another' })],
      ...[null, new HolderKey().publicKey, 'AAAA', 1].map(
        (publicKey) => ['declared', JSON.stringify({ ...declared, publicKey })] as const,
      ),
    ];
    expect((await finalOf(id)).status).toBe(200);
    for (const [column, value] of planted) {
      await set(column, value);
      expect([column, value, (await finalOf(id)).error?.details]).toMatchObject([
        column,
        value,
        { reason: 'no_certificate' },
      ]);
      await set(column, own[column] ?? null);
    }
    expect((await finalOf(id)).status).toBe(200);
  });

  it('answers 409 no_certificate for a forged answer of a holder without a key, and without the task of a silent one', async () => {
    await register('cache');
    await register('silent');
    const { request_id: id } = await forgotten();
    await answers(id, 'cache');
    await refused(id, 'coverage_incomplete');
    const forged = `UPDATE holder_tasks SET open = 0, result = 'erased', answered_at = ?, declared =
      (SELECT declared FROM holder_tasks other WHERE other.bot_id = holder_tasks.bot_id AND other.holder_key = 'cache')`;
    const ofSilent = `WHERE bot_id = ? AND holder_key = 'silent'`;
    await service.database.run(`${forged} ${ofSilent}`, '2026-11-20T12:00:00.000Z', bot.id);
    await refused(id, 'no_certificate');
    await service.database.run(`DELETE FROM holder_tasks ${ofSilent}`, bot.id);
    await refused(id, 'no_certificate');
  });

  it('answers 409 no_certificate for a whole answer that was moved from another erasure', async () => {
    await register('cache');
    const { request_id: id } = await forgotten();
    const { request_id: other } = (await bot.post<Forgotten>('/gdpr/forget-user', subject())).data;
    await answers(id, 'cache', { result: 'nothing' });
    await answers(other, 'cache', { result: 'erased' });
    const moved = ['result', 'counts', 'statement', 'declared', 'answered_at', 'seal'];
    await service.database.run(
      `UPDATE holder_tasks SET (${moved.join(', ')}) = (SELECT ${moved.join(', ')} FROM holder_tasks other
         WHERE other.bot_id = holder_tasks.bot_id AND other.request_id = ?) WHERE bot_id = ? AND request_id = ?`,
      ...[other, bot.id, id],
    );
    await refused(id, 'no_certificate');
    expect((await finalOf(other)).status).toBe(200);
  });

  it('answers 409 no_certificate for an erasure that the ledger does not contain', async () => {
    await register('cache');
    const { request_id: id } = await forgotten();
    await answers(id, 'cache');
    await service.database.run('DELETE FROM keys.erasure_ledger WHERE bot_id = ?', bot.id);
    await service.database.run('UPDATE deletion_requests SET certificate = NULL WHERE bot_id = ?', bot.id);
    await refused(id, 'no_certificate');
  });

  it("answers 404 for no request, and for another bot's", async () => {
    await register('cache');
    const { request_id: id } = await forgotten();
    await answers(id, 'cache');
    expectFailure(await finalOf(UNKNOWN_UUID), 404, 'not_found');
    expectFailure(await finalOf(id, await service.registerBot()), 404, 'not_found');
    expect((await finalOf(id.toUpperCase())).status).toBe(200);
  });

  it.each(BAD_UUIDS)('answers 400 for %s as the id', async (_, id) => {
    expectFaults(await finalOf(String(id)), 'id');
  });
});
