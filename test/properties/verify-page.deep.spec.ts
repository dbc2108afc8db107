import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AuditProof, type KeySet, verifyAuditProof, verifyCertificate } from '@lethe/sdk/evidence';
import * as web from '@lethe/sdk/evidence/web';
import { examine, type Finding, type Named, namesIn, tiesOf } from '../../apps/console/src/verify/examine';
import { reasonIn, REASONS_DE } from '../../apps/console/src/verify/reasons';
import { holderSentences, sentenceOf, unsignedNames } from '../../apps/console/src/verify/sentence';
import type { Bot } from '../support/bot';
import { SigningService } from '../support/final-certificates';
import { seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const ROOT = resolve(__dirname, '../..');
const UNNAMED: Named = { salt: '', userId: '', guildId: '' };
const service = useServiceInProcess();

let bot: Bot;
let gone: SubjectIds;
let salt: string;
let certificate: string;
let receipt: string;
let proof: AuditProof;
let keySet: KeySet;
let keys: string;

beforeAll(async () => {
  bot = await service.registerBot();
  gone = subject();
  const event = { ...subject(), event_type: 'data_deleted' };
  const { data } = await bot.post<{ id: string }>('/audit/event', event);
  await seal(service, bot);
  const asked = { ...gone, consent_version: '1.0' };
  await bot.post('/consents/request', asked);
  const accepted = await bot.post<{ receipt: string }>('/consents/accept', asked);
  receipt = accepted.data.receipt;
  const erased = await bot.post<{ request_id: string; certificate_salt: string }>('/gdpr/forget-user', gone);
  salt = erased.data.certificate_salt;
  const path = `/gdpr/forget-status/${erased.data.request_id}/certificate`;
  certificate = (await bot.get<{ certificate: string }>(path)).data.certificate;
  proof = (await bot.get<AuditProof & Record<string, unknown>>(`/audit/proof/${data.id}`)).data;
  keys = await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).text();
  keySet = JSON.parse(keys) as KeySet;
});

/** What a check says, without its form: `holds` or the message. */
async function said(verify: () => unknown): Promise<string> {
  try {
    await verify();
    return 'holds';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The text with one character changed, once for each character. */
function changed(text: string): string[] {
  return [...text].map(
    (character, at) => text.slice(0, at) + (character === 'A' ? 'B' : 'A') + text.slice(at + 1),
  );
}

/** The JSON with one leaf value replaced, once for each leaf. */
function variants(value: unknown): unknown[] {
  if (typeof value === 'string')
    return [value.endsWith('1') ? `${value.slice(0, -1)}2` : `${value.slice(0, -1)}1`];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'boolean') return [!value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    variants(inner).map((other) =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other },
    ),
  );
}

describe('@lethe/sdk/evidence/web', () => {
  it('has Ed25519 in this Node.js', async () => {
    expect(await web.hasEd25519()).toBe(true);
  });

  it('says of every changed character of a certificate what @lethe/sdk/evidence says', async () => {
    for (const jws of [certificate, ...changed(certificate)]) {
      const inWeb = await said(() => web.verifyCertificate(jws, keySet));
      expect([jws, inWeb]).toEqual([jws, await said(() => verifyCertificate(jws, keySet))]);
      expect(inWeb === 'holds').toBe(jws === certificate);
    }
  });

  it('says of every changed value of a proof what @lethe/sdk/evidence says', async () => {
    for (const other of [proof, ...(variants(proof) as AuditProof[])]) {
      const inWeb = await said(() => web.verifyAuditProof(other, keySet));
      expect([other, inWeb]).toEqual([other, await said(() => verifyAuditProof(other, keySet))]);
    }
  });

  it('ties a certificate to its user alone', async () => {
    const who = { salt, botId: bot.id, userId: gone.user_id, guildId: gone.guild_id };
    expect(await said(() => web.verifyCertificate(certificate, keySet, who))).toBe('holds');
    for (const other of variants(who) as (typeof who)[])
      expect(await said(() => web.verifyCertificate(certificate, keySet, other))).not.toBe('holds');
  });

  it('imports nothing of Node.js', () => {
    const folder = join(ROOT, 'packages/sdk/src/evidence');
    const seen = new Set<string>();
    const load = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      const text = readFileSync(join(folder, `${name}.ts`), 'utf8');
      expect([name, /\bBuffer\b|from 'node:/.test(text)]).toEqual([name, false]);
      for (const [, next = ''] of text.matchAll(/from '\.\/([^']+)'/g)) load(next);
    };
    load('web');
    expect(seen.size).toBeGreaterThan(5);
  });
});

/** An erasure is of one place: its sentence does not say that everything about a user is erased. */
function expectOfOneGuild(finding: Finding): void {
  expect(sentenceOf('en', finding)).toContain(
    'about one user in one place (a server, or the direct messages) was erased',
  );
  expect(sentenceOf('de', finding)).toContain(
    'über einen Nutzer an einem Ort (einem Server oder den Direktnachrichten) gespeichert hatte',
  );
}

describe('the checks of the page /verify', () => {
  const check = (text: string, named = UNNAMED): Promise<Finding> => examine(text, keys, named);

  it.each([
    ['a certificate', () => certificate, 'certificate'],
    ['the answer with a certificate', () => JSON.stringify({ data: { certificate } }), 'certificate'],
    ['a receipt', () => receipt, 'receipt'],
    ['the answer with a receipt', () => JSON.stringify({ data: { receipt } }), 'receipt'],
    ['a proof', () => JSON.stringify(proof), 'proof'],
    ['the answer with a proof', () => JSON.stringify({ success: true, data: proof }), 'proof'],
  ])('says of %s that it holds, in one sentence in both languages', async (_, text, kind) => {
    const finding = await check(text());
    expect(finding).toMatchObject({ result: 'holds', kind });
    expect(sentenceOf('en', finding)).toMatch(/^It holds\. (On|The audit log) /);
    expect(sentenceOf('de', finding)).toMatch(/^Es stimmt\. (Am|Das Audit-Log) /);
    expect(sentenceOf('en', finding) + sentenceOf('de', finding)).not.toMatch(/[{}]|undefined|–/);
    if (kind === 'certificate') expectOfOneGuild(finding);
  });

  it('says of a final certificate what each holder has answered, and who has signed it, in both languages', async () => {
    const signing = new SigningService();
    const { salt: ofFile, userId, guildId } = signing.subject;
    const text = signing.signs(signing.final(), 'final');
    const file = JSON.stringify({ certificate: text, certificate_salt: ofFile, guild_id: guildId });
    const of = (given: string, named = UNNAMED) => examine(given, JSON.stringify(signing.keySet), named);
    const finding = await of(text);
    expect(finding).toMatchObject({ result: 'holds', kind: 'final', isNamed: false });
    expectOfOneGuild(finding);
    expect(await of(file, { ...UNNAMED, userId })).toMatchObject({ kind: 'final', isNamed: true });
    expect(await of(file, { ...UNNAMED, userId: guildId })).toMatchObject({ result: 'fails' });
    expect(sentenceOf('en', finding)).toContain('every other store of the bot has answered since');
    expect(sentenceOf('de', finding)).toContain('seither hat jeder andere Speicherort des Bots geantwortet');
    expect(holderSentences('en', finding)).toEqual([
      'cache (“Cache”): had nothing about the user (“sessions”). Lethe received this answer on 20 November 2026 at 16:00 UTC; the store has not signed it.',
      'database (“Database”): erased what it had about the user (“profiles”, “scores”). It says so itself, signed by its own key, on 21 November 2026 at 07:59 UTC.',
      'invoices (“Invoices”): keeps data until 31 December 2036 at 00:00 UTC, because: “Section 147 AO” (“invoices”). It says so itself, signed by its own key, on 21 November 2026 at 07:59 UTC.',
    ]);
    const german = holderSentences('de', finding);
    expect(german.join(' ')).toMatch(
      /^cache \(„Zwischenspeicher“\): .*hat sie nicht signiert\. database \(„Datenbank“/,
    );
    expect(german.join(' ')).not.toMatch(/[{}]|undefined|–/);
  });

  it('finds every changed character of a certificate and of a receipt', async () => {
    for (const text of [...changed(certificate), ...changed(receipt)])
      expect([text, (await check(text)).result]).not.toEqual([text, 'holds']);
  });

  it('finds every changed value of a proof but `erased`, of which it says nothing', async () => {
    const finding = await check(JSON.stringify(proof));
    for (const other of variants(proof) as AuditProof[]) {
      const changed = await check(JSON.stringify(other));
      if (other.event.erased === proof.event.erased)
        expect([other, changed.result]).not.toEqual([other, 'holds']);
      else expect(changed).toEqual(finding);
    }
  });

  it('says whether a certificate is about a user', async () => {
    const named = { salt, userId: gone.user_id, guildId: gone.guild_id };
    const finding = await check(certificate, named);
    expect(finding).toMatchObject({ result: 'holds', isNamed: true });
    const { user_id: userId } = subject();
    expect(await check(certificate, { ...named, userId })).toMatchObject({ result: 'fails' });
    expect(await check(certificate, { ...named, salt: '' })).toMatchObject({ why: 'named_in_part' });
  });

  it('takes salt and server from the file of an erasure, and asks for the id of the user alone', async () => {
    const file = { certificate, certificate_salt: salt, guild_id: gone.guild_id };
    const ofKit = { user_id: gone.user_id, certificates: [file] };
    for (const text of [file, { data: file }, ofKit].map((each) => JSON.stringify(each))) {
      expect(tiesOf(text)).toEqual({ salt, guildId: gone.guild_id });
      expect(await check(text)).toMatchObject({ result: 'holds', isNamed: false });
      const named = { ...UNNAMED, userId: gone.user_id };
      expect(await check(text, named)).toMatchObject({ result: 'holds', isNamed: true });
      const other = { ...UNNAMED, userId: subject().user_id };
      expect(await check(text, other)).toMatchObject({ result: 'fails' });
    }
    expect(await check(certificate, { ...UNNAMED, userId: gone.user_id })).toMatchObject({
      why: 'named_in_part',
    });
  });

  it.each(['', '{}', '[1]', 'null', '{"certificate":1}', 'a.b.c'])('does not know %s', async (text) => {
    expect(await check(text)).toEqual({ result: 'unclear', why: 'not_known' });
  });

  it('reads no text that is too large', async () => {
    expect(await check('x'.repeat(2 * 1024 * 1024 + 1))).toEqual({ result: 'unclear', why: 'too_large' });
  });

  it('throws nothing for a proof of another form', async () => {
    const forms = [{}, { event: null }, { path: 1 }, { path: [1] }, { leaf_index: null }, { checkpoint: '' }];
    for (const form of forms)
      expect([form, (await check(JSON.stringify({ ...proof, ...form }))).result === 'holds']).toEqual([
        form,
        Object.keys(form).length === 0,
      ]);
  });

  const noKeys = ['', '[]', '{"keys":[]}', '{"keys":[1]}', '{"keys":"x"}'];
  it.each(noKeys)('takes no keys from %s', async (text) => {
    expect(await examine(certificate, text, UNNAMED)).toEqual({ result: 'unclear', why: 'bad_keys' });
  });

  it('does not hold with the keys of another installation, nor with a key of another length', async () => {
    const [key] = keySet.keys;
    for (const x of ['A'.repeat(43), 'AAAA', '', undefined]) {
      const foreign = JSON.stringify({ keys: [{ ...key, x }] });
      expect((await examine(certificate, foreign, UNNAMED)).result).toBe('fails');
    }
  });
});

describe('the reasons in German', () => {
  it('cover every message of the checks', () => {
    const folder = join(ROOT, 'packages/sdk/src/evidence');
    const programs = ['verify-audit.ts', 'lethe-verify.ts'];
    const files = readdirSync(folder).filter((name) => !programs.includes(name));
    const messages = files.flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return [...text.matchAll(/new VerificationError\(\s*['`]([^'`]+)/g)].map(([, found = '']) => found);
    });
    expect(messages.length).toBeGreaterThan(10);
    const named = messages.map((message) => message.replace('${name} must', 'details must'));
    expect(named.filter((message) => reasonIn('de', message) === message)).toEqual([]);
    expect(REASONS_DE.filter(([begin]) => reasonIn('de', begin) === begin)).toEqual([]);
  });
});

describe('the names in a file of an erasure', () => {
  const named = (names: unknown, more: object = {}) => JSON.stringify({ certificate, names, ...more });
  const line = async (text: string, language: 'de' | 'en' = 'en') =>
    unsignedNames(language, await examine(text, keys, UNNAMED), namesIn(text));

  it('are shown apart from what was signed, in the language of the page, and say that they are not signed', async () => {
    const withCategory = await service.registerBot();
    const who = subject();
    await withCategory.hasCategory('birthday');
    await withCategory.hasConsent(who);
    await withCategory.hasData(who, 'birthday', { value: 'x' });
    const { data } = await withCategory.post<{ request_id: string }>('/gdpr/forget-user', who);
    const path = `/gdpr/forget-status/${data.request_id}/certificate`;
    const own = (await withCategory.get<{ certificate: string }>(path)).data.certificate;
    const categories = { birthday: { de: 'Geburtstag', en: 'Birthday' }, other: { de: 'X', en: 'X' } };
    const text = named({ bot: 'Cake bot', categories }, { certificate: own });
    expect(await line(text)).toBe(
      'Names from the file, which are not signed: Bot – Cake bot; birthday – Birthday.',
    );
    expect(await line(text, 'de')).toBe(
      'Namen aus der Datei, die nicht signiert sind: Bot – Cake bot; birthday – Geburtstag.',
    );
    expect(sentenceOf('en', await examine(text, keys, UNNAMED))).not.toContain('Cake bot');
  });

  it.each([
    ['none', undefined],
    ['no object', 'Cake bot'],
    ['no name of the bot', { categories: {} }],
    ['a bot that is no text', { bot: {}, categories: {} }],
  ])('of %s are not shown', async (_, names) => {
    expect(await line(named(names))).toBeUndefined();
  });

  it('are cut, and not read from what does not hold', async () => {
    expect((await line(named({ bot: 'x'.repeat(10_000), categories: [] })))?.length).toBeLessThan(200);
    const last =
      certificate.slice(0, -20) + (certificate.at(-20) === 'A' ? 'B' : 'A') + certificate.slice(-19);
    expect(await line(named({ bot: 'Cake bot', categories: {} }, { certificate: last }))).toBeUndefined();
  });
});
