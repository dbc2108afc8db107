import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { Signer } from '@app/crypto';
import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_DIGEST, A_JWS, A_TIME, AN_ID, expectFailure, expectFaults } from '../support/expected';
import { BAD_SNOWFLAKE_TEXTS } from '../support/inputs';
import { forms, get, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess({ CATEGORIES_PER_BOT: '150' });
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter', privacy_contact: 'dpo@example.org' });
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

interface Payload extends Json {
  readonly receipt_id: string;
  readonly pii_processing: Json & { readonly purposes: Json[]; readonly privacy_notice: Json };
  readonly event: Json;
}
interface Receipt {
  readonly receipt: string;
  readonly payload: Payload;
}

const query = (one = who) => `user_id=${one.user_id}&guild_id=${one.guild_id}`;
const issue = (one = who): Promise<Answer<Receipt>> => bot.get<Receipt>(`/consents/receipt?${query(one)}`);
const request = (more: Json = {}) =>
  bot.post('/consents/request', { ...who, consent_version: '1.0', ...more });
const accept = (more: Json = {}) =>
  bot.post<{ receipt: string }>('/consents/accept', { ...who, consent_version: '1.0', ...more });

/** A decoded part of a JWS. */
function read<T>(receipt: string, part: 0 | 1): T {
  return JSON.parse(Buffer.from(receipt.split('.')[part] ?? '', 'base64url').toString()) as T;
}

/** Verifies with the public key set alone: RFC 7515, RFC 8037. */
async function isGenuine(receipt: string): Promise<boolean> {
  const answer = await fetch(`${service.url}/.well-known/lethe-keys.json`);
  const { keys } = (await answer.json()) as { keys: (JsonWebKey & { kid: string })[] };
  const [header = '', payload = '', signature = ''] = receipt.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
  const key = keys.find((each) => each.kid === kid);
  if (key === undefined) return false;
  const signed = Buffer.from(`${header}.${payload}`);
  return verify(null, signed, createPublicKey({ key, format: 'jwk' }), Buffer.from(signature, 'base64url'));
}

describe('the receipt of POST /api/v1/consents/accept', () => {
  it('is signed by a key of the installation, and says what it is', async () => {
    await request();
    const { receipt } = (await accept()).data;
    expect(await isGenuine(receipt)).toBe(true);
    expect(read(receipt, 0)).toStrictEqual({
      alg: 'EdDSA',
      typ: 'lethe-consent-receipt+jwt',
      kid: expect.any(String) as unknown,
    });
  });

  it('is found out wherever a byte of it was flipped', async () => {
    await request();
    const { receipt } = (await accept()).data;
    const [header = '', payload = '', signature = ''] = receipt.split('.');
    const flipped = (part: string, at: number) => {
      const bytes = Buffer.from(part, 'base64url');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes.toString('base64url');
    };
    for (let at = 0; at < Buffer.from(payload, 'base64url').length; at += 41)
      expect(await isGenuine([header, flipped(payload, at), signature].join('.'))).toBe(false);
    for (let at = 0; at < 64; at += 7)
      expect(await isGenuine([header, payload, flipped(signature, at)].join('.'))).toBe(false);
  });

  it('states the consent under the names of ISO/IEC TS 27560', async () => {
    await bot.hasCategory('profile', [field('nickname')], {
      legal_basis: 'consent',
      retention_days: 30,
      description: 'To greet you',
    });
    await bot.post('/consents/texts', {
      ...{ consent_version: '1.0', language: 'de', title: 'Dürfen wir?', body: 'Ja?' },
      ...{ privacy_notice: 'https://bot.example.org/privacy', jurisdiction: 'DE' },
      ...{ storage_locations: ['DE'], recipient_third_parties: ['Example Ltd'] },
      withdrawal_method: 'Type /privacy',
    });
    const { id } = (await request({ language: 'de', categories: ['profile'] })).data;
    const answer = await accept({ source: 'button:yes' });
    expect(read(answer.data.receipt, 1)).toStrictEqual({
      schema_version: 'lethe-consent-receipt/1; ISO/IEC TS 27560:2023',
      receipt_id: AN_ID,
      record_id: id,
      pii_principal_id: who.user_id,
      pii_processing: {
        privacy_notice: {
          consent_version: '1.0',
          url: 'https://bot.example.org/privacy',
          texts: [{ language: 'de', digest: A_DIGEST }],
        },
        language: 'de',
        service: { bot_id: bot.id, bot_name: 'Greeter', guild_id: who.guild_id },
        purposes: [
          {
            purpose: 'profile',
            declared_at: A_TIME,
            purpose_label: { de: 'Kategorie profile', en: 'Category profile' },
            purpose_description: 'To greet you',
            lawful_basis: 'consent',
            pii_information: [
              { pii_type: 'nickname', pii_type_label: { de: 'Feld nickname', en: 'Field nickname' } },
            ],
            pii_controllers: [bot.id],
            retention_period: 'P30D',
            storage_locations: ['DE'],
            jurisdiction: 'DE',
            recipient_third_parties: ['Example Ltd'],
            withdrawal_method: 'Type /privacy',
          },
        ],
        purposes_omitted: 0,
      },
      party_identification: [
        {
          party_id: bot.id,
          party_role: 'pii_controller',
          party_name: 'Greeter',
          party_contact: 'dpo@example.org',
          party_address: null,
        },
      ],
      event: {
        event_time: (answer.data as Json)['accepted_at'],
        validity_duration: 'until_withdrawn',
        entity_id: who.user_id,
        event_type: 'expressed',
        event_state: 'consent_given',
        source: 'button:yes',
      },
    });
  });

  it('names the controller as the notice settings do, and no way of withdrawal that was not declared', async () => {
    await bot.hasCategory('profile');
    await bot.put(`/bots/${bot.id}/notice-settings`, {
      ...{ controller_name: 'Robin Example', controller_address: 'Street 1, Berlin' },
      controller_email: 'robin@example.org',
    });
    await request({ categories: ['profile'] });
    const { receipt } = (await accept()).data;
    expect(read(receipt, 1)).toMatchObject({
      pii_processing: {
        service: { bot_name: 'Greeter' },
        purposes: [{ retention_period: 'until_P30D_after_withdrawal', withdrawal_method: null }],
      },
      party_identification: [
        {
          party_name: 'Robin Example',
          party_contact: 'robin@example.org',
          party_address: 'Street 1, Berlin',
        },
      ],
    });
    expect((await issue()).data.receipt).toBe(receipt);
  });

  it('names the entry of the history that it confirms, and the digest of that entry', async () => {
    await bot.hasCategory('profile');
    await request({ categories: ['profile'] });
    const payload = read<Payload>((await accept()).data.receipt, 1);
    const { data } = await bot.get<{ entries: Json[] }>(`/consents/history?${query()}`);
    const [accepted] = data.entries;
    expect(accepted).toMatchObject({ action: 'accepted', id: payload.receipt_id });
    expect(payload.pii_processing.privacy_notice['texts']).toStrictEqual(accepted?.['texts']);
  });

  it('lists the granted categories alone, and every declared one of a consent to everything', async () => {
    for (const key of ['a', 'b', 'c']) await bot.hasCategory(key);
    const purposes = (receipt: string) =>
      read<Payload>(receipt, 1).pii_processing.purposes.map(({ purpose }) => purpose);
    await request({ categories: ['a', 'b', 'c'] });
    expect(purposes((await accept({ categories: ['a', 'c'] })).data.receipt)).toStrictEqual(['a', 'c']);
    await request({ consent_version: '2' });
    expect(purposes((await accept({ consent_version: '2' })).data.receipt)).toStrictEqual(['a', 'b', 'c']);
  });

  it('says how many purposes it does not list: 100 are the most', async () => {
    const categories = Array.from({ length: 50 }, (_, index) => ({ name: `c${index}` }));
    for (const prefix of ['a', 'b', 'c'])
      await bot.post('/data/register', {
        bot_id: bot.id,
        categories: categories.map(({ name }) => ({ name: prefix + name })),
      });
    await request();
    const { pii_processing: processing } = read<Payload>((await accept()).data.receipt, 1);
    expect(processing.purposes).toHaveLength(100);
    expect(processing).toMatchObject({ purposes_omitted: 50 });
  });

  it('omits no purpose that was withdrawn or declared later', async () => {
    const declare = (prefix: string, count: number) =>
      bot.post('/data/register', {
        bot_id: bot.id,
        categories: Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}` })),
      });
    for (const prefix of ['a', 'b', 'c']) await declare(prefix, prefix === 'c' ? 3 : 50);
    await request();
    await accept();
    await bot.post('/consents/revoke', { ...who, categories: ['a0'] });
    await declare('d', 5);
    const { pii_processing: processing } = (await issue()).data.payload;
    expect(processing.purposes).toHaveLength(100);
    expect(processing).toMatchObject({ purposes_omitted: 2 });
  });

  it('claims of a purpose that was declared anew after the request no more than its name', async () => {
    await bot.hasCategory('profile', [field('value')], { retention_days: 30 });
    await bot.hasCategory('notes', [field('value')], { retention_days: 30 });
    await request({ categories: ['profile', 'notes'] });
    await bot.put('/data/categories/profile', { retention_days: 3650 });
    const { purposes } = read<Payload>((await accept()).data.receipt, 1).pii_processing;
    expect(purposes).toMatchObject([
      { purpose: 'profile', retention_period: null, purpose_label: null, pii_information: null },
      { purpose: 'notes', retention_period: 'P30D', pii_information: [{ pii_type: 'value' }] },
    ]);
  });

  it('is in the language and the words that were shown last', async () => {
    for (const language of ['de', 'en'])
      await bot.post('/consents/texts', { consent_version: '1.0', language, title: language, body: 'x' });
    await request({ language: 'de' });
    await request({ language: 'en' });
    const { pii_processing: processing } = read<Payload>((await accept()).data.receipt, 1);
    expect(processing).toMatchObject({
      language: 'en',
      privacy_notice: { texts: [{ language: 'en', digest: A_DIGEST }] },
    });
  });

  it('is kept nowhere', async () => {
    await request();
    const { receipt } = (await accept()).data;
    const [, payload = '', signature = ''] = receipt.split('.');
    for (const { name, columns } of await service.database.tables()) {
      const rows = await service.database.rows(
        `SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM ${name}`,
      );
      const found = JSON.stringify(rows);
      expect({ name, found: found.includes(payload) || found.includes(signature) }).toStrictEqual({
        name,
        found: false,
      });
    }
    expect(service.logLines.join('\n')).not.toContain(signature);
  });

  it('is left out where it cannot be signed, since the consent is given by then, and can be had later', async () => {
    await request();
    const signer = service.app.get(Signer, { strict: false });
    const broken = jest.spyOn(signer, 'sign').mockRejectedValue(new Error('no key'));
    const answer = await accept();
    broken.mockRestore();
    expect(answer.status).toBe(200);
    expect(answer.data).not.toHaveProperty('receipt');
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    expect(await isGenuine((await issue()).data.receipt)).toBe(true);
  });
});

describe('GET /api/v1/consents/receipt', () => {
  it('answers 200 with the receipt and what it says', async () => {
    await bot.hasConsent(who);
    const { status, data } = await issue();
    expect({ status, data }).toStrictEqual({
      status: 200,
      data: { receipt: A_JWS, payload: expect.any(Object) as unknown },
    });
    expect(read(data.receipt, 1)).toStrictEqual(data.payload);
    expect(await isGenuine(data.receipt)).toBe(true);
  });

  it('answers the very receipt of the acceptance, as long as nothing has changed', async () => {
    await bot.hasCategory('profile');
    await request({ categories: ['profile'], language: 'de' });
    const { receipt } = (await accept()).data;
    expect((await issue()).data.receipt).toBe(receipt);
  });

  it('claims no declaration of today for a consent of yesterday', async () => {
    await bot.hasCategory('profile', [field('value')], { retention_days: 30 });
    await bot.hasConsent(who);
    await bot.put('/data/categories/profile', { retention_days: 3650 });
    await bot.hasCategory('later');
    const { purposes } = (await issue()).data.payload.pii_processing;
    expect(purposes).toMatchObject([
      { purpose: 'later', retention_period: null },
      { purpose: 'profile', retention_period: null },
    ]);
  });

  it('states the declaration also after a change of it that says the same, or only who may correct', async () => {
    const fields = [{ ...field('value'), labels: { fr: 'Valeur' }, descriptions: { fr: 'Pour saluer' } }];
    const said = { labels: { fr: 'Profil' }, descriptions: { fr: 'Pour saluer' }, retention_days: 30 };
    await bot.hasCategory('profile', fields, said);
    await bot.hasConsent(who);
    const before = (await issue()).data.payload;
    expect(before.pii_processing.purposes).toMatchObject([{ purpose: 'profile', retention_period: 'P30D' }]);
    for (const given of [
      {},
      { ...said, fields },
      { fields: [{ ...fields[0], editable: true }] },
      { fields: [{ ...fields[0], editable: false }] },
    ]) {
      expect((await bot.put('/data/categories/profile', given)).status).toBe(200);
      expect((await issue()).data.payload).toStrictEqual(before);
    }
  });

  it('lists what is left after some of it was withdrawn, as another receipt', async () => {
    for (const key of ['a', 'b']) await bot.hasCategory(key);
    await request({ categories: ['a', 'b'] });
    await accept({ source: 'button:yes' });
    const before = (await issue()).data.payload;
    await bot.post('/consents/revoke', { ...who, categories: ['a'], source: 'button:less' });
    const after = (await issue()).data.payload;
    expect(after.pii_processing.purposes.map(({ purpose }) => purpose)).toStrictEqual(['b']);
    expect(after.receipt_id).not.toBe(before.receipt_id);
    expect(after.event).toStrictEqual(before.event);
    expect(after.event['source']).toBe('button:yes');
  });

  it('is of the version in force while a newer request waits', async () => {
    await bot.hasConsent(who);
    await request({ consent_version: '2' });
    const { payload } = (await issue()).data;
    expect(payload.pii_processing.privacy_notice).toMatchObject({ consent_version: '1.0' });
  });

  it('answers 404 with current_status where no consent is in force', async () => {
    const refused = async (current_status: string) =>
      expectFailure(await issue(), 404, 'not_found', { current_status });
    await refused('none');
    await request();
    await refused('pending');
    await accept();
    await bot.hasRevoked(who);
    await refused('revoked');
    await bot.hasForgotten(who);
    await refused('none');
  });

  it('answers 404 where the consent has lost its last category: it states none without a purpose', async () => {
    await bot.hasCategory('a');
    await request({ categories: ['a'] });
    await accept();
    await bot.delete('/data/categories/a');
    expectFailure(await issue(), 404, 'not_found', { current_status: 'accepted' });
  });

  it('answers 404 for a consent of another bot, guild or user', async () => {
    const other = await service.registerBot();
    await bot.hasConsent(who);
    expectFailure(await other.get(`/consents/receipt?${query()}`), 404, 'not_found');
    for (const name of ['user_id', 'guild_id'] as const)
      expectFailure(await issue({ ...who, [name]: subject()[name] }), 404, 'not_found');
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.get(`/consents/receipt?${query()}`), 401, 'unauthorized');
  });

  it('names both ids when they are missing', async () => {
    expectFaults(await bot.get('/consents/receipt'), 'user_id', 'guild_id');
  });

  it.each(BAD_SNOWFLAKE_TEXTS)('answers 400 naming guild_id (%s)', async (_, guild_id) => {
    const text = new URLSearchParams({ ...who, guild_id: String(guild_id) }).toString();
    expectFaults(await bot.get(`/consents/receipt?${text}`), 'guild_id');
  });
});

describe('the privacy page and the copy to read of a bot with more than 100 categories', () => {
  it('have the purpose and the legal basis of each that has values of the user', async () => {
    for (let n = 0; n < 100; n++) await bot.hasCategory(`a${n}`);
    const reasons = { reason_de: 'Für den Vertrag.', reason_en: 'For the contract.' };
    await bot.hasCategory('zz', [field('value')], {
      legal_basis: 'contract',
      requires_consent: false,
      ...reasons,
    });
    await bot.hasConsent(who);
    await bot.hasData(who, 'zz', { value: 'x' });
    await bot.hasRevoked(who);
    const link = await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' });
    const page = await get(link.data.url);
    expect(page.text).toContain('For the contract.');
    expect(page.text).toMatch(/erase\?of=[^"]*zz/);
    expect(page.text).toMatch(/Category a1<\/bdi>\s*<small>withdrawn/);
    expect(page.text).not.toMatch(/Category zz<\/bdi>\s*<small>withdrawn/);
    const copy = forms(page, 'export').find((form) => form.get('form') === 'html')!;
    expect((await send(link.data.url, 'export', copy)).text).toContain('For the contract.');
  });
});
