import { basename } from 'node:path';
import { useMarked } from '../support/marked';
import { useServiceInProcess } from '../support/service';
import { filesWith, tracesOf } from '../support/traces';

const service = useServiceInProcess();
const marked = useMarked(service);

/** The files of the database that hold any of the needles. */
const holding = (...needles: readonly (Buffer | string)[]): string[] =>
  filesWith(service.directory, needles).map((path) => basename(path));

describe('what a holder has stated for an export', () => {
  it('is in no file in plain text, and after an erasure neither as it was encrypted nor with its key', async () => {
    const { bot, who, marker } = marked;
    await bot.hasConsent(who);
    await bot.post('/holders', {
      ...{ key: 'database', kind: 'pull', covers: ['messages'] },
      ...{ label_de: 'Datenbank', label_en: 'Database' },
    });
    await bot.export(who, '&format=full');
    const { tasks } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/database/tasks')).data;
    const answered = await bot.post(`/holders/database/tasks/${tasks[0]?.task_id}/acknowledge`, {
      ...{ result: 'exported', data: { messages: [marker, who.user_id] } },
    });
    expect(answered.status).toBe(200);
    const { key, wrapped, sealed } = await tracesOf(service, bot.id, who);
    expect(holding(...sealed)).not.toEqual([]);
    expect(holding(marker, who.user_id)).toEqual([]);
    await bot.hasForgotten(who);
    expect(holding(marker, who.user_id, ...key, ...wrapped)).toEqual([]);
    const sql = `SELECT * FROM holder_exports WHERE bot_id = '${bot.id}'`;
    expect(await service.database.rows(sql)).toEqual([]);
  });
});
