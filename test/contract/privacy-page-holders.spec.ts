import { createHmac } from 'node:crypto';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { forms, get, send, unescaped } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { passes } from '../support/time';

const service = useServiceInProcess();
const HOSTILE = `"><img src=x onerror=alert(1)>`;
let bot: Bot;
let who: SubjectIds;

const linked = async (language: string): Promise<string> =>
  (await bot.post<{ url: string }>('/privacy-links', { ...who, language })).data.url;
const register = () =>
  bot.post('/holders', {
    ...{ key: 'database', kind: 'pull', covers: [HOSTILE] },
    ...{ label_de: 'Datenbank des Bots', label_en: 'Database of the bot' },
  });
/** The copy to read. */
const copy = async (language: string): Promise<string> => {
  const url = await linked(language);
  return (await send(url, 'export', forms(await get(url), 'export')[0]!)).text;
};
const answers = async (body: Json): Promise<void> => {
  const { tasks } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/database/tasks')).data;
  const path = `/holders/database/tasks/${tasks[0]?.task_id}/acknowledge`;
  expect((await bot.post(path, body)).status).toBe(200);
};

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasConsent(who);
});
afterEach(() => jest.restoreAllMocks());

describe('the privacy page of a bot with holders', () => {
  it.each([
    [
      'de',
      'Der Bot hat eigene Speicher: Datenbank des Bots.',
      'zu jedem Server, zu dem auch dieser Dienst etwas über dich gespeichert hat. Zu anderen Servern frag den Bot selbst.',
    ],
    [
      'en',
      'The bot has stores of its own: Database of the bot.',
      'for each server about which this service has something of you too; ask the bot yourself about others.',
    ],
  ])(
    'says in %s beside the copies that they ask the stores, and about which servers',
    async (language, text, which) => {
      expect((await get(await linked(language))).text).not.toContain(text);
      await register();
      const page = (await get(await linked(language))).text;
      for (const said of [text, which]) expect(page).toContain(said);
    },
  );

  it.each([
    ['de', 'Der Bot hat eigene Speicher', 'Nach seinen eigenen Speichern wurde der Bot nicht gefragt'],
    ['en', 'The bot has stores of its own', 'The bot was not asked about its own stores: ask it.'],
  ])(
    'says in %s that no store is asked about a user of whom Lethe has nothing',
    async (language, why, not) => {
      await register();
      for (const about of [subject(), { user_id: subject().user_id, scope: 'all_guilds' }]) {
        const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...about, language })).data;
        const page = await get(url);
        expect(page.text).not.toContain(why);
        expect(page.text).toContain(not);
        expect(forms(page, 'export')).toEqual([]);
        // A page that was opened before has the form still.
        const mark = createHmac('sha256', url.split('/').at(-1)!).update('form/export/').digest('base64url');
        const { headers } = await send(url, 'export', new URLSearchParams({ mark, form: 'html' }));
        expect((await get(new URL(headers.get('location')!, url).href)).text.split(not)).toHaveLength(3);
      }
      expect((await bot.get<{ tasks: Json[] }>('/holders/database/tasks')).data.tasks).toEqual([]);
      expect((await get(`${await linked(language)}?note=empty`)).text).not.toContain(not);
    },
  );

  it.each([
    ['de', 'Angaben des Bots aus seinen eigenen Speichern', 'noch nicht geantwortet', 'nicht geprüft'],
    ['en', 'What the bot states from its own stores', 'has not answered yet', 'has not checked it'],
  ])(
    'has in the copy in %s the store that is asked, and then what it states, escaped',
    async (language, ...said) => {
      const [title = '', silent = '', unchecked = ''] = said;
      expect(await copy(language)).not.toContain(title);
      await register();
      const first = await copy(language);
      for (const text of [title, silent]) expect(first).toContain(text);
      await answers({ result: 'exported', data: { [HOSTILE]: [HOSTILE, 'hello'] } });
      const second = await copy(language);
      for (const text of [title, unchecked, 'hello']) expect(second).toContain(text);
      expect(second).not.toContain('<img');
      expect(unescaped(second)).toContain(HOSTILE);
    },
  );

  it('has in the copy that a store has nothing, or is overdue', async () => {
    await register();
    await copy('en');
    passes(service, 15 * 86_400_000);
    expect(await copy('en')).toContain('has not answered within 14 days');
    await answers({ result: 'nothing' });
    expect(await copy('en')).toContain('that it has nothing about you there');
  });

  it.each([
    [
      'de',
      'Der Bot wird beauftragt, auch das zu löschen, was er in eigenen Speichern über dich hat',
      'abschließende Bescheinigung',
    ],
    ['en', 'The bot is told to erase what it has about you in its own stores too', 'final certificate'],
  ])(
    'says in %s before and after an erasure what the bot has to erase itself',
    async (language, told, final) => {
      const label = language === 'de' ? 'Datenbank des Bots' : 'Database of the bot';
      const url = await linked(language);
      expect((await get(`${url}/forget`)).text).not.toContain(told);
      await register();
      const before = await get(`${url}/forget`);
      expect(before.text).toContain(`${told}: ${label}.`);
      const { text } = await send(url, 'forget', forms(before, 'forget')[0]!);
      expect(text).toContain(label);
      expect(text).toContain(final);
      const [, file = ''] = /href="data:application\/json;charset=utf-8,([^"]*)"/.exec(text) ?? [];
      const saved = JSON.parse(decodeURIComponent(file)) as { own_stores: Readonly<Record<string, string>> };
      expect(saved.own_stores[language]).toContain(final);
      expect(saved.own_stores[language]).toContain(label);
    },
  );

  it('leaves the file of a certificate as it is without holders', async () => {
    const url = await linked('en');
    const { text } = await send(url, 'forget', forms(await get(`${url}/forget`), 'forget')[0]!);
    expect(text).not.toContain('own_stores');
    expect(text).not.toContain('final certificate');
  });
});

describe('the privacy page after an erasure', () => {
  const kept = { basis: `Art. 17(3)(b) GDPR ${HOSTILE}`, until: '2099-01-01T00:00:00Z' };
  const READ = {
    de: [
      'Nach der Löschung: eigene Speicher des Bots',
      'noch nicht beantwortet',
      'Begründung des Bots:',
      '2099',
    ],
    en: ['After the erasure: the bot’s own stores', 'not answered yet', 'Reason given by the bot:', '2099'],
  } as const;

  it.each(['de', 'en'] as const)(
    'says in %s what each store has answered: what it keeps, until when and why, escaped',
    async (language) => {
      const [title, silent, reason, until] = READ[language];
      await register();
      await bot.hasForgotten(who);
      const open = (await get(await linked(language))).text;
      for (const text of [title, silent]) expect(open).toContain(text);
      await answers({ result: 'kept', counts: { rows: 1 }, kept });
      const { text } = await get(await linked(language));
      for (const part of [title, reason, until]) expect(text).toContain(part);
      expect(unescaped(text)).toContain(kept.basis);
      expect(text).not.toContain(HOSTILE);
      expect(text).not.toContain(silent);
    },
  );

  it('says that a store has not answered within 14 days', async () => {
    await register();
    await bot.hasForgotten(who);
    passes(service, 15 * 86_400_000);
    expect((await get(await linked('en'))).text).toContain('not answered within 14 days');
  });

  it('says nothing of stores to a link that shows nothing, and for a bot that had none', async () => {
    await bot.hasForgotten(who);
    expect((await get(await linked('en'))).text).not.toContain(READ.en[0]);
    await register();
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, allow: ['consent'] })).data;
    expect((await get(url)).text).not.toContain(READ.en[0]);
  });

  it('says it whatever follows the erasure, and of the newest erasure alone', async () => {
    await register();
    await bot.hasForgotten(who);
    for (let at = 0; at < 8; at++)
      await bot.post('/audit/event', { ...who, event_type: 'deletion_completed', details: { at } });
    const { text } = await get(await linked('en'));
    expect(text).toContain(READ.en[0]);
    expect(text).toContain(READ.en[1]);
    await answers({ result: 'erased', counts: { rows: 1 } });
    expect((await get(await linked('en'))).text).not.toContain(READ.en[1]);
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    expect((await get(await linked('en'))).text).toContain(READ.en[1]);
  });

  it('takes no erasure from an event that the bot has written', async () => {
    await register();
    const { request_id } = (await bot.post('/gdpr/forget-user', who)).data;
    const other = subject();
    const forged = { event_type: 'deletion_completed', details: { request_id } };
    await bot.post('/audit/event', { ...other, ...forged });
    const { url } = (await bot.post<{ url: string }>('/privacy-links', other)).data;
    expect((await get(url)).text).not.toContain(READ.en[0]);
  });
});
