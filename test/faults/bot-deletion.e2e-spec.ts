import { Logger } from '@nestjs/common';
import { BotDeletion } from '@app/bots';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { EvidenceRetentionJob } from '@app/gdpr';
import { Clock } from '@app/kernel';
import { type Key, keysOf } from '../support/api-keys';
import { engine } from '../support/database';
import { expectFailure } from '../support/expected';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { contentOf, filesBelow } from '../support/traces';

const service = useServiceInProcess();
afterEach(() => jest.restoreAllMocks());

describe('the deletion of a bot for which a unit under way stores another subject', () => {
  it('is answered 503 while the key of that subject is not scrubbed, and continues by itself', async () => {
    const bot = await service.registerBot();
    const unitOfWork = service.app.get(UnitOfWork);
    const late = service.app.get(SubjectDigests, { strict: false }).named(bot.id, subject());
    let keyId = '';
    const scrub = jest
      .spyOn(unitOfWork, 'scrubKeys')
      .mockImplementationOnce(async () => {
        const keys = service.app.get(SubjectKeys, { strict: false });
        keyId = (await unitOfWork.write((tx) => keys.forWriting(tx, late))).id;
      })
      .mockRejectedValueOnce(databaseUnavailable());
    const answer = await bot.delete(`/bots/${bot.id}`);
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toContain('rows are still being deleted');
    const rows = () => service.database.rows('SELECT id FROM bots WHERE id = ?', bot.id);
    expect(await rows()).toHaveLength(1);
    expect(await service.database.rows('SELECT id FROM keys.subject_keys WHERE id = ?', keyId)).toEqual([]);

    // As after the time of the lease.
    const free = 'UPDATE job_leases SET locked_until = ? WHERE name = ?';
    await service.database.run(free, '2000-01-01T00:00:00.000Z', `bot-deletion/${bot.id}`);
    scrub.mockClear();
    await runNow(service, BotDeletion);
    expect(scrub).toHaveBeenCalled();
    expect(await rows()).toEqual([]);
  });
});

describe('the deletions of two bots that a crash has left', () => {
  it('do not wait for each other: one whose rows cannot be deleted delays none', async () => {
    const bots = [await service.registerBot(), await service.registerBot()];
    const unitOfWork = service.app.get(UnitOfWork);
    const scrub = jest.spyOn(unitOfWork, 'scrubRows').mockRejectedValue(databaseUnavailable());
    for (const bot of bots) expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(503);
    scrub.mockRestore();
    await service.database.run(
      "UPDATE job_leases SET locked_until = '2000-01-01T00:00:00.000Z' WHERE name LIKE 'bot-deletion/%'",
    );
    const left = () =>
      service.database.rows<{ id: string }>('SELECT id FROM bots WHERE deleted_at IS NOT NULL');
    const [first] = await left();
    const keys = service.app.get(SubjectKeys, { strict: false });
    const destroySome = keys.destroySome.bind(keys);
    jest.spyOn(keys, 'destroySome').mockImplementation(async (tx, botId) => {
      if (botId === first?.id) throw new Error('a damaged page');
      return destroySome(tx, botId);
    });
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    await runNow(service, BotDeletion);
    expect(logged).toHaveBeenCalled();
    expect(await left()).toEqual([first]);
  });
});

/** On PostgreSQL another process may take over what was not renewed in time. */
(engine === 'sqlite' ? describe : describe.skip)('the deletion of a bot on SQLite', () => {
  it('stays with the request that carries it out, whatever the clock says', async () => {
    const bot = await service.registerBot();
    const clock = service.app.get(Clock);
    jest.spyOn(service.app.get(UnitOfWork), 'scrubRows').mockImplementationOnce(async () => {
      jest.spyOn(clock, 'confirmedMs').mockReturnValue(Date.now() + 86_400_000);
      await runNow(service, BotDeletion);
    });
    expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(200);
  });
});

/** PostgreSQL keeps deleted rows until its own vacuum. */
(engine === 'sqlite' ? describe : describe.skip)('the files of SQLite after the deletion of a bot', () => {
  const CONTACT = 'datenschutz@deleted-bot.example';
  const NAME = 'A name that is deleted';
  const traces = (texts: readonly string[]): string[] =>
    texts.filter((text) => filesBelow(service.directory).some((path) => contentOf(path).includes(text)));

  it('hold neither its name nor its contact nor the prefix of its key', async () => {
    const bot = await service.registerBot({ name: NAME, privacy_contact: CONTACT });
    const known = await service.database.rows<{ prefix: string }>(
      'SELECT prefix FROM api_keys WHERE bot_id = ?',
      bot.id,
    );
    const texts = [NAME, CONTACT, ...known.map(({ prefix }) => prefix)];
    expect(texts).toHaveLength(3);
    expect(traces(texts)).toEqual(texts);
    expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(200);
    expect(traces(texts)).toEqual([]);
  });

  it('hold no changed name or contact and no deleted key of a living bot after the next hourly run', async () => {
    const bot = await service.registerBot({ name: NAME, privacy_contact: CONTACT });
    const key = (await bot.post(keysOf(bot), {})).data as unknown as Key;
    await bot.put(`/bots/${bot.id}`, { name: 'Another', privacy_contact: 'other@bot.example' });
    await bot.delete(`${keysOf(bot)}/${key.id}`);
    const texts = [NAME, CONTACT, key.api_key_prefix];
    expect(traces(texts)).toEqual(texts);
    await runNow(service, EvidenceRetentionJob);
    expect(traces(texts)).toEqual([]);
  });

  it('hold no word of a deleted category and nothing of a deleted guild after the next hourly run', async () => {
    const bot = await service.registerBot();
    const words = [
      'Ein Name der Kategorie',
      'A label of the field',
      'A purpose that is deleted',
      'Une catégorie',
    ];
    const [label_de, label_en, description, other] = words as [string, string, string, string];
    const labels = { fr: other };
    const fields = [{ key: 'value', type: 'string', label_de: 'Wert', label_en }];
    const category = { key: 'words', label_de, label_en: 'Words', description, labels, fields };
    expect((await bot.post('/data/register', category)).status).toBe(201);
    const { guild_id } = subject();
    await bot.post('/servers/register', { guild_id, name: 'A guild that is deleted' });
    const [server] = await service.database.rows<{ text: string; guild_id: string }>(
      'SELECT text, guild_id FROM servers WHERE bot_id = ?',
      bot.id,
    );
    const texts = [...words, server?.text ?? '', server?.guild_id ?? ''];
    expect(traces(texts)).toEqual(texts);
    expect((await bot.delete('/data/categories/words')).status).toBe(200);
    expect((await bot.delete(`/servers/${guild_id}`)).status).toBe(200);
    await runNow(service, EvidenceRetentionJob);
    expect(traces(texts)).toEqual([]);
  });

  it('are scrubbed before the last row, so that a deletion that cannot scrub them now continues', async () => {
    const bot = await service.registerBot({ name: NAME, privacy_contact: CONTACT });
    const scrub = jest
      .spyOn(service.app.get(UnitOfWork), 'scrubRows')
      .mockRejectedValueOnce(databaseUnavailable());
    expectFailure(await bot.delete(`/bots/${bot.id}`), 503, 'service_unavailable');
    const rows = () => service.database.rows('SELECT id FROM bots WHERE id = ?', bot.id);
    expect(await rows()).toHaveLength(1);
    const free = 'UPDATE job_leases SET locked_until = ? WHERE name = ?';
    await service.database.run(free, '2000-01-01T00:00:00.000Z', `bot-deletion/${bot.id}`);
    await runNow(service, BotDeletion);
    expect(scrub).toHaveBeenCalledTimes(2);
    expect(await rows()).toEqual([]);
    expect(traces([NAME, CONTACT])).toEqual([]);
  });
});
