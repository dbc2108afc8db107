import { AuditService } from '@app/audit';
import { BotAdministration } from '@app/bots';
import { createHmac } from 'node:crypto';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { forms, get, type Page, send, unescaped } from '../support/privacy-page';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const EDITABLE = { editable: true };
const FIELDS = [
  field('nickname', 'string', EDITABLE),
  field('level', 'number', EDITABLE),
  field('public', 'boolean', EDITABLE),
  field('birthday', 'date', EDITABLE),
  field('score', 'number'),
];
const VALUES = { nickname: 'Robin', level: 3, public: true, birthday: '2000-02-29', score: 7 };
let bot: Bot;
let who: SubjectIds;
let url: string;

const linked = async (given: Json = {}, about: Json = { ...who }): Promise<string> =>
  (await bot.post<{ url: string }>('/privacy-links', { ...about, language: 'en', ...given })).data.url;
const stored = async (about: SubjectIds = who): Promise<Json> =>
  (await bot.get<{ values: Json }>(`/data/values/${about.user_id}?guild_id=${about.guild_id}`)).data.values[
    'profile'
  ] as Json;
const formOf = (page: Page, key: string): URLSearchParams | undefined =>
  forms(page, 'correct').find((form) => form.get('shown')?.split('/')[2] === key);
/** The form of the nickname with its text, also where that has several lines. */
const shownIn = (page: Page): URLSearchParams => {
  const form = formOf(page, 'nickname')!;
  const [, lines] = /<textarea name="value"[^>]*>\n([^<]*)<\/textarea>/.exec(page.text) ?? [];
  if (lines !== undefined) form.set('value', unescaped(lines).replace(/\r?\n/g, '\r\n'));
  return form;
};
const corrected = async (key: string, value: string, to = url): Promise<Page> => {
  const form = formOf(await get(to), key);
  if (form === undefined) throw new Error(`The page has no form for ${key}`);
  form.set('value', value);
  return send(to, 'correct', form);
};
const note = ({ status, headers }: Page): string =>
  /note=(\w+)$/.exec(headers.get('location') ?? '')?.[1] ?? String(status);
const said = async ({ headers }: Page): Promise<string | undefined> =>
  /role="status">\s*<p>\s*([^]*?)\s*<\/p>/.exec(
    (await get(new URL(headers.get('location') ?? '', url).href)).text,
  )?.[1];
const submits = async (): Promise<Json[]> => {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&event_type=data_submitted&page_size=100`;
  return (await bot.get<{ events: Json[] }>(`/audit/events?${query}`)).data.events;
};

describe('the correction of a value on the privacy page', () => {
  const receiver = useReceiver();

  beforeEach(async () => {
    receiver.reset();
    bot = await service.registerBot({ webhook_url: receiver.url });
    who = subject();
    await bot.hasCategory('profile', FIELDS);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', VALUES);
    url = await linked();
  });

  it('has a form beside each value of an editable field, and beside no other', async () => {
    const page = await get(url);
    const keys = forms(page, 'correct').map((form) => form.get('shown')?.split('/')[2]);
    expect(keys).toEqual(['nickname', 'level', 'public', 'birthday']);
    expect(page.text).toMatch(/type="date"/);
    expect(page.text).toMatch(/<option value="true"\s+selected/);
  });

  it('has no form where the consent has lost its last category, since it covers none', async () => {
    await bot.hasRevoked(who);
    await bot.hasCategory('other');
    const { data } = await bot.post<{ id: string }>('/consents/request', { ...who, categories: ['other'] });
    expect((await bot.post('/consents/accept', { consent_id: data.id })).status).toBe(200);
    await bot.delete('/data/categories/other');
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted', categories: [] });
    const page = await get(url);
    expect([page.status, page.text.includes('Robin'), forms(page, 'correct')]).toEqual([200, true, []]);
  });

  it.each([
    ['nickname', 'Robin Ä', 'Robin Ä'],
    ['nickname', 'of two\r\nlines', 'of two\nlines'],
    ['level', ' -12.5 ', -12.5],
    ['public', 'false', false],
    ['birthday', '1999-12-31', '1999-12-31'],
  ])('stores %s %j as a submit does, and leaves the other fields', async (key, typed, value) => {
    const answer = await corrected(key, typed);
    expect([answer.status, note(answer)]).toEqual([303, 'corrected']);
    expect(await said(answer)).toBe('Corrected: Category profile.');
    expect(await stored()).toEqual({ ...VALUES, [key]: value });
    expect(await submits()).toMatchObject([
      { source: 'service', details: { category: 'profile', via: 'privacy_page', actor: 'privacy_page' } },
      { source: 'service', details: { category: 'profile' } },
    ]);
  });

  it('tells the bot by data_corrected what was corrected, and no value', async () => {
    await corrected('nickname', 'Secret name');
    const [call] = await receiver.received(1);
    expect(call?.body).toEqual({
      ...{ event: 'data_corrected', ...who, category: 'profile', fields: ['nickname'] },
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
  });

  it.each([
    ['level', '12,5', 'with a point before the decimals'],
    ['level', '', 'with a point before the decimals'],
    ['level', '9007199254740993', 'up to 15 digits'],
    ['level', '1e999', 'up to 15 digits'],
    ['level', '1234567890123456789012', 'up to 15 digits'],
    ['level', '-1234567890123456789012.5', 'up to 15 digits'],
    ['public', 'perhaps', 'choose yes or no'],
    ['birthday', '31.12.1999', 'year-month-day'],
    ['birthday', '2001-02-29', 'year-month-day'],
  ])('refuses %s %j with how to mend it, and keeps what was typed', async (key, typed, words) => {
    const answer = await corrected(key, typed);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/name="value"[^>]* aria-invalid="true" aria-describedby="fault"/);
    expect(answer.text).toContain(words);
    const form = formOf(answer, key);
    if (key !== 'public') expect(form?.get('value')).toBe(typed);
    expect(await stored()).toEqual(VALUES);
    expect(await submits()).toHaveLength(1);
    const mended = { level: '4', public: 'false', birthday: '1999-12-31' }[key] ?? '';
    form?.set('value', mended);
    expect(note(await send(url, 'correct', form ?? ''))).toBe('corrected');
  });

  it('takes a number of 1e21 and more that is written with an exponent', async () => {
    expect(note(await corrected('level', '1e22'))).toBe('corrected');
    expect(await stored()).toEqual({ ...VALUES, level: 1e22 });
  });

  it('refuses in German what was typed on the German page', async () => {
    const german = await get(`${url}?lang=de`);
    const form = formOf(german, 'level')!;
    form.set('value', '12,5');
    const answer = await send(url, 'correct', form);
    expect(answer.text).toContain('mit einem Punkt statt eines Kommas');
    // Of the old value: "Jetzt gespeichert" would say that it has just been saved.
    expect(answer.text).toContain('<h2>Derzeit gespeichert</h2>');
    expect(answer.text).toContain('<html lang="de">');
  });

  it('does not replace a value that has changed since it was shown, and shows the new one', async () => {
    const form = formOf(await get(url), 'nickname')!;
    await bot.hasData(who, 'profile', { ...VALUES, nickname: 'Set by the bot' });
    form.set('value', 'Typed');
    const answer = await send(url, 'correct', form);
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('Set by the bot');
    expect(await stored()).toMatchObject({ nickname: 'Set by the bot' });
    const again = formOf(answer, 'nickname')!;
    expect(again.get('value')).toBe('Typed');
    expect(note(await send(url, 'correct', again))).toBe('corrected');
    expect(await stored()).toMatchObject({ nickname: 'Typed' });
  });

  /** Sends a correction, and does something after its first look and before its act. */
  async function correctedAfter(meanwhile: () => Promise<unknown>): Promise<Page> {
    const form = formOf(await get(url), 'nickname')!;
    form.set('value', 'Typed');
    const audit = service.app.get(AuditService, { strict: false });
    const looked = jest.spyOn(audit, 'list').mockImplementationOnce(async (...asked) => {
      looked.mockRestore();
      await meanwhile();
      return audit.list(...asked);
    });
    return send(url, 'correct', form);
  }

  it('does not replace what the bot stores between the look and the act', async () => {
    const values = { ...VALUES, nickname: 'Set by the bot' };
    const answer = await correctedAfter(() => bot.hasData(who, 'profile', values));
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('Set by the bot');
    expect(await stored()).toEqual(values);
    expect(await submits()).toHaveLength(2);
  });

  it.each([
    [
      'the field is no longer editable',
      () => {
        const fields = FIELDS.map((one) => ({ ...one, editable: false }));
        return bot.put('/data/categories/profile', { fields });
      },
    ],
    ['the consent is withdrawn', () => bot.post('/consents/revoke', who)],
    ['the category is deleted', () => bot.delete('/data/categories/profile')],
  ])('is not stored where between the look and the act %s, and says so', async (_, meanwhile) => {
    const answer = await correctedAfter(meanwhile);
    expect(note(answer)).toBe('uncorrected');
    expect(await submits()).toHaveLength(1);
    expect(receiver.calls.map(({ body }) => body['event'])).not.toContain('data_corrected');
  });

  it('of a text that differs in the form of its line breaks alone changes nothing', async () => {
    await bot.hasData(who, 'profile', { ...VALUES, nickname: 'two\r\nlines\rand one' });
    const form = formOf(await get(url), 'nickname')!;
    form.set('value', 'two\r\nlines\r\nand one');
    expect(note(await send(url, 'correct', form))).toBe('same');
    expect(await stored()).toMatchObject({ nickname: 'two\r\nlines\rand one' });
  });

  it.each([
    '\u05d0\u05d1\u05d2\u200f!',
    'a \u2067\u05d0\u05d1\u2069 b',
    'a\u0001b',
    'two\u200e\r\nlines\u0085',
  ])('of %j, sent back as the form has it, changes nothing', async (nickname) => {
    await bot.hasData(who, 'profile', { ...VALUES, nickname });
    const before = await submits();
    expect(note(await send(url, 'correct', shownIn(await get(url))))).toBe('same');
    expect(await stored()).toMatchObject({ nickname });
    expect(await submits()).toEqual(before);
  });

  it('of one letter keeps the marks of direction beside it', async () => {
    await bot.hasData(who, 'profile', { ...VALUES, nickname: 'a \u2067\u05d0\u2069 b\u200f' });
    const form = shownIn(await get(url));
    form.set('value', form.get('value')?.replace('b', 'c') ?? '');
    expect(note(await send(url, 'correct', form))).toBe('corrected');
    expect(await stored()).toMatchObject({ nickname: 'a \u2067\u05d0\u2069 c\u200f' });
  });

  it('of more than a form can hold is 413 in words, and stores nothing', async () => {
    const form = formOf(await get(url), 'nickname')!;
    form.set('value', 'x'.repeat(1_000_000));
    const answer = await send(url, 'correct', form);
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('what was sent is too long');
    expect(await stored()).toEqual(VALUES);
  });

  it('of two at once for one value stores one', async () => {
    const form = formOf(await get(url), 'nickname')!;
    const answers = await Promise.all(
      ['One', 'Other'].map((value) => {
        const own = new URLSearchParams(form);
        own.set('value', value);
        return send(url, 'correct', own);
      }),
    );
    expect(answers.map(note).sort()).toEqual(['409', 'corrected']);
    expect(await submits()).toHaveLength(2);
  });

  it('that changes nothing records nothing, also a second click', async () => {
    expect(note(await corrected('nickname', 'Robin'))).toBe('same');
    const form = formOf(await get(url), 'nickname')!;
    form.set('value', 'Once');
    expect([note(await send(url, 'correct', form)), note(await send(url, 'correct', form))]).toEqual([
      'corrected',
      'same',
    ]);
    expect(await submits()).toHaveLength(2);
  });

  it('is not offered and not stored without a consent in force for the category', async () => {
    const form = formOf(await get(url), 'nickname')!;
    await bot.post('/consents/revoke', who);
    form.set('value', 'Typed');
    const answer = await send(url, 'correct', form);
    expect(note(answer)).toBe('uncorrected');
    expect(await said(answer)).toContain('Nothing was changed.');
    expect(formOf(await get(url), 'nickname')).toBeUndefined();
    expect(await submits()).toHaveLength(1);
    expect(receiver.calls.map(({ body }) => body['event'])).not.toContain('data_corrected');
  });

  it('is not stored for a field that is no longer editable', async () => {
    const form = formOf(await get(url), 'nickname')!;
    const fields = FIELDS.map((one) => ({ ...one, editable: false }));
    await bot.put('/data/categories/profile', { fields });
    form.set('value', 'Typed');
    expect(note(await send(url, 'correct', form))).toBe('uncorrected');
    expect(forms(await get(url), 'correct')).toEqual([]);
    expect(await stored()).toEqual(VALUES);
  });

  it('is refused by links without correct or view, by other links, marks and origins, and for suspended bots', async () => {
    const form = formOf(await get(url), 'nickname')!;
    form.set('value', 'Typed');
    const named = encodeURIComponent(`${who.guild_id}/profile/nickname`);
    expect((await get(`${url}/correct?of=${named}`)).status).toBe(200);
    for (const allow of [['view', 'consent', 'export', 'forget'], ['correct']]) {
      const other = await linked({ allow });
      expect(forms(await get(other), 'correct')).toEqual([]);
      expect((await get(`${other}/correct?of=${named}`)).status).toBe(403);
      expect((await send(other, 'correct', form)).status).toBe(403);
    }
    const shown = form.get('shown')!;
    const markedFor = (to: string): URLSearchParams => {
      const marked = new URLSearchParams(form);
      const token = to.slice(to.lastIndexOf('/') + 1);
      marked.set('mark', createHmac('sha256', token).update(`form/correct/${shown}`).digest('base64url'));
      return marked;
    };
    const uncorrecting = await linked({ allow: ['view', 'consent', 'export', 'forget'] });
    expect((await send(uncorrecting, 'correct', markedFor(uncorrecting))).status).toBe(403);
    const unseeing = await linked({ allow: ['correct'] });
    expect(note(await send(unseeing, 'correct', markedFor(unseeing)))).toBe('uncorrected');
    const another = await linked({}, { ...subject() });
    expect(note(await send(another, 'correct', markedFor(another)))).toBe('uncorrected');
    expect((await send(another, 'correct', form)).status).toBe(403);
    expect(await stored()).toEqual(VALUES);
    const changed = new URLSearchParams(form);
    changed.set('shown', form.get('shown')!.replace('nickname', 'score'));
    expect((await send(url, 'correct', changed)).status).toBe(403);
    expect((await get(`${url}/correct?of=${named.replace('nickname', 'score')}`)).status).toBe(403);
    const evil = { origin: 'https://evil.example' };
    expect((await send(url, 'correct', form, evil)).status).toBe(403);
    await service.app.get(BotAdministration, { strict: false }).suspend(bot.id);
    expect(forms(await get(url), 'correct')).toEqual([]);
    expect((await send(url, 'correct', form)).status).toBe(403);
  });

  it('and the erasure of a category answer a page with 400 to an address with a NUL', async () => {
    for (const path of ['correct', 'erase']) {
      const page = await get(`${url}/${path}?of=${who.guild_id}/profile%00/nickname`);
      expect([page.status, page.text.startsWith('<!doctype html>')]).toEqual([400, true]);
    }
  });

  it('ends after twenty within a day with 429 and words, and records nothing more', async () => {
    for (let at = 0; at < 20; at++) expect(note(await corrected('level', String(at + 10)))).toBe('corrected');
    const answer = await corrected('level', '99');
    expect(answer.status).toBe(429);
    expect(answer.text).toContain('more 24 hours after the first of them');
    expect(await stored()).toMatchObject({ level: 29 });
    expect(await submits()).toHaveLength(21);
  });

  it('is not counted by events that the bot has posted itself', async () => {
    const posted = { ...who, event_type: 'data_submitted', details: { via: 'privacy_page' } };
    for (let at = 0; at < 20; at++) await bot.post('/audit/event', posted);
    expect(note(await corrected('level', '4'))).toBe('corrected');
  });

  it('keeps marks of HTML in values and labels as text', async () => {
    const hostile = `"><img src=x onerror=alert(1)>`;
    expect(note(await corrected('nickname', hostile))).toBe('corrected');
    const page = await get(url);
    expect(formOf(page, 'nickname')?.get('value')).toBe(hostile);
    expect(page.text).not.toContain('<img');
  });

  it('has a page of its own where the first page has no room, and none for a value that is too long', async () => {
    const many = Array.from({ length: 20 }, (_, at) => field(`field_${at}`, 'string', EDITABLE));
    await bot.hasCategory('many', many);
    await bot.hasData(who, 'many', Object.fromEntries(many.map(({ key }) => [key, `of ${key}`])));
    await bot.hasData(who, 'profile', { ...VALUES, nickname: 'x'.repeat(701) });
    const page = await get(url);
    const inPlace = forms(page, 'correct').length;
    const links = [...page.text.matchAll(/href="([^"]*\/correct\?of=[^"]*)"/g)];
    expect(inPlace).toBeGreaterThan(0);
    expect(inPlace + links.length).toBe(20 + 3);
    expect(page.text).toContain('too long to be corrected here');
    const [, path = ''] = links[0]!;
    const own = await get(new URL(path.replaceAll('&amp;', '&'), url).href);
    const form = forms(own, 'correct')[0]!;
    form.set('value', 'Typed');
    expect(note(await send(url, 'correct', form))).toBe('corrected');
  });
});

describe('an editable field', () => {
  beforeEach(async () => {
    bot = await service.registerBot();
  });
  const declared = async (): Promise<Json[]> =>
    (await bot.get<{ fields: Json[] }>('/data/categories/profile')).data.fields;

  it('is answered where it is declared so, and stays until a change names it', async () => {
    await bot.hasCategory('profile', [
      field('a', 'string', EDITABLE),
      field('b', 'string', { editable: false }),
      field('c'),
    ]);
    expect((await declared()).map((one) => one['editable'])).toEqual([true, undefined, undefined]);
    const fields = [field('a'), field('b', 'string', EDITABLE), field('c')];
    await bot.put('/data/categories/profile', { fields });
    expect((await declared()).map((one) => one['editable'])).toEqual([true, true, undefined]);
    await bot.put('/data/categories/profile', {
      fields: [field('a', 'string', { editable: false }), ...fields.slice(1)],
    });
    expect((await declared()).map((one) => 'editable' in one)).toEqual([false, true, false]);
  });

  it('asks no user again by becoming one, without a version of the bot', async () => {
    who = subject();
    await bot.hasCategory('profile', [field('a')]);
    const ask = async (): Promise<Json> =>
      (await bot.post<Json>('/consents/request', { ...who, categories: ['profile'] })).data;
    const before = await ask();
    await bot.post('/consents/accept', { consent_id: before['id'] });
    await bot.put('/data/categories/profile', { fields: [field('a', 'string', EDITABLE)] });
    expect(await ask()).toMatchObject({ id: before['id'], status: 'accepted' });
  });

  it.each([
    ['json', true, 'must be false for json, which users cannot write'],
    ['string', 'yes', 'must be true or false'],
  ])('of the type %s and the value %j is 400', async (type, editable, message) => {
    const fields = [{ ...field('a', type), editable }];
    const labels = { label_de: 'Profil', label_en: 'Profile' };
    const answer = await bot.post('/data/register', { key: 'profile', ...labels, fields });
    expect(answer.status).toBe(400);
    expect(answer.error?.details?.['fields']).toEqual([
      { field: 'fields[0].editable', message: expect.stringContaining(message) as string },
    ]);
  });
});
