import Ajv from 'ajv/dist/2020';
import schema from '../../docs/export-schema.json';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { A_TIME, AN_ID, exportRecord } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { SqlLog } from '../support/sql-log';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h' });
const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
const validate = ajv.compile(schema);

function faultsOf(document: unknown): string[] {
  validate(document);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

interface Full {
  readonly schema: string;
  readonly categories: Json[];
  readonly consent_history: { action: string; version: string }[];
  readonly audit_events: { event_type: string }[];
  readonly deletion_requests: { status: string }[];
  readonly webhook_deliveries: { event: string }[];
}

/** A user with all kinds of stored data: two lives, of which the first was erased. */
async function lives(bot: Bot, who: SubjectIds): Promise<void> {
  await bot.hasConsent(who);
  await bot.hasForgotten(who);
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { name: 'Ada' });
  await bot.hasData(who, 'notes', { value: null, more: { deep: [1, { a: null }] } });
  await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { by: 'mail' } });
  await bot.hasRevoked(who);
}

describe('the full export', () => {
  let bot: Bot;
  let who: SubjectIds;
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Exporter', webhook_url: 'http://127.0.0.1:8088/closed' });
    who = subject();
    const purpose = { description: 'Shown on the card', retention_days: 30, legal_basis: 'contract' };
    await bot.hasCategory('profile', [{ ...field('name'), description: 'As they are called' }], purpose);
    await bot.hasCategory('notes', [field('value'), field('more', 'json')]);
    await bot.hasCategory('unused');
  });
  it('has a long consent history complete and in order, each entry read once, ten at a time', async () => {
    await bot.hasConsent(who);
    const versions = Array.from({ length: 120 }, (_, at) => `2.${at}`);
    for (const version of versions) await bot.hasRequest(who, version);
    const log = new SqlLog().open();
    const { consent_history: history } = await full();
    log.close();
    expect(history.map(({ version }) => version)).toEqual(['1.0', '1.0', ...versions]);
    expect(log.runsOf(/FROM consent_history .* ORDER BY id LIMIT 10$/)).toBe(Math.ceil(history.length / 10));
  });

  const full = async (more = '') => (await bot.export<Full>(who, `&format=full${more}`)).data;

  it('is complete: schema, record, purposes, fields, consent history, events, erasures and webhook calls', async () => {
    await lives(bot, who);
    const document = await full();
    expect(document).toMatchObject({
      schema: 'lethe-export/1',
      ...exportRecord(who, bot, {
        consent: expect.objectContaining({ status: 'revoked' }) as Json,
        data: { notes: { more: { deep: [1, { a: null }] } }, profile: { name: 'Ada' } },
      }),
      categories: [
        { key: 'notes', description: null, legal_basis: 'consent', retention_days: null },
        {
          key: 'profile',
          label_de: 'Kategorie profile',
          label_en: 'Category profile',
          description: 'Shown on the card',
          legal_basis: 'contract',
          retention_days: 30,
          fields: [{ ...field('name'), description: 'As they are called' }],
        },
      ],
    });
    expect(document.consent_history.map(({ action }) => action)).toStrictEqual([
      'requested',
      'accepted',
      'revoked',
    ]);
    expect(document.audit_events.map((event) => event.event_type)).toStrictEqual([
      ...['consent_requested', 'consent_accepted', 'deletion_requested', 'deletion_completed'],
      ...['consent_requested', 'consent_accepted', 'data_submitted', 'data_submitted', 'data_exported'],
      'consent_revoked',
    ]);
    expect(document.deletion_requests.map(({ status }) => status)).toStrictEqual(['completed']);
    expect(document.webhook_deliveries.map(({ event }) => event)).toStrictEqual([
      'user_forgotten',
      'consent_revoked',
    ]);
  });

  it('has of the consent all that is stored: its times and categories, a request beside it, and what a request has replaced', async () => {
    const shown = async (): Promise<unknown> => ((await full()) as unknown as Json)['consent'];
    const asks = (version: string, ...categories: string[]) =>
      bot.post('/consents/request', { ...who, consent_version: version, categories });
    await asks('1.0', 'profile', 'notes');
    await bot.post('/consents/accept', { ...who, consent_version: '1.0', categories: ['profile'] });
    await asks('2.0', 'notes');
    const given = {
      ...{ id: AN_ID, version: '1.0', requestedAt: A_TIME, acceptedAt: A_TIME },
      categories: { profile: 'accepted', notes: 'none' },
    };
    const asked = { id: AN_ID, version: '2.0', requestedAt: A_TIME };
    const pending = { ...asked, categories: ['notes'] };
    expect(await shown()).toEqual({ ...given, status: 'accepted', revokedAt: null, pending, replaced: null });
    await bot.hasRevoked(who);
    await asks('2.0', 'notes');
    expect(await shown()).toEqual({
      ...{ ...asked, status: 'pending', acceptedAt: null, revokedAt: null, categories: { notes: 'pending' } },
      ...{
        pending: null,
        replaced: { ...given, revokedAt: A_TIME, categories: { profile: 'revoked', notes: 'none' } },
      },
    });
    expect(faultsOf(await full())).toStrictEqual([]);
  });

  it('is what docs/export-schema.json describes, of one guild and of all, full and nearly empty', async () => {
    await bot.hasRequest(who);
    expect(faultsOf(await full())).toStrictEqual([]);
    await lives(bot, who);
    await lives(bot, { ...who, guild_id: snowflake() });
    expect(faultsOf(await full())).toStrictEqual([]);
    const all = await bot.get(`/data/export/${who.user_id}?scope=all_guilds&format=full`);
    expect(all.data['guilds']).toHaveLength(2);
    expect(faultsOf(all.data)).toStrictEqual([]);
  });

  it('differs from a document without a section, with another version, or with a value of another type', async () => {
    await lives(bot, who);
    const document = (await full()) as unknown as Json;
    for (const [name, value] of [
      ['schema', 'lethe-export/2'],
      ['data', []],
      ['audit_events', [{}]],
      ['exportedAt', 'today'],
      ...Object.keys(document).map((section) => [section, undefined] as const),
    ] as const)
      expect([name, faultsOf(JSON.parse(JSON.stringify({ ...document, [name]: value })))]).not.toStrictEqual([
        name,
        [],
      ]);
  });

  it('has the same form when it is too large to be held and is streamed, and shows itself among the events', async () => {
    await lives(bot, who);
    const details = { text: 'ä'.repeat(4_000) };
    const event = { ...who, event_type: 'data_submitted', details };
    await Promise.all(Array.from({ length: 300 }, () => bot.post('/audit/event', event)));
    const document = await full();
    expect(document.audit_events).toHaveLength(311);
    expect(faultsOf(document)).toStrictEqual([]);
  });

  it('has every erasure and every call, also where there are more than are read at once', async () => {
    for (let life = 0; life < 101; life++) await bot.hasForgotten(who);
    await bot.hasConsent(who);
    const document = await full();
    expect(document.deletion_requests).toHaveLength(101);
    expect(document.webhook_deliveries).toHaveLength(101);
    expect(new Set(document.deletion_requests.map((request) => JSON.stringify(request))).size).toBe(101);
  });
});
