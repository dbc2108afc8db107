import { KeyRotation, SubjectKeys } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { checkLedger } from '@app/erasure';
import { checkValues } from '@app/user-data';
import {
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
  verifyCertificate,
  verifyStatement,
} from '@lethe/sdk/evidence';
import type { Bot } from '../bot';
import { Client } from '../client';
import { exported, seal, verified } from '../sealing';
import type { Service } from '../service';
import { answersOf, botOf, keySetOf, proofOf } from './opened';
import type { KeptBot, Manifest } from './manifest';

/**
 * Everything that the installation of a fixture was answered and could show is still so: answers, evidence by itself, keys,
 * erasures. Answers may have got further fields. Last, the bot continues its life.
 */
export async function expectKept({ bots }: Manifest, service: Service): Promise<void> {
  const keySet = await keySetOf(service);
  for (const kept of bots) {
    const bot = botOf(kept, service);
    await expectAnswers(bot, kept);
    expectEvidence(kept, keySet);
    for (const proof of kept.proofs)
      expect(verifyAuditProof(await proofOf(bot, proof.event.id), keySet)).toMatchObject({ bot_id: bot.id });
    await expectAccess(service, kept);
    await expectErased(bot, kept, keySet);
    await expectLog(service, bot, kept, keySet);
  }
  await expectReadable(service);
  await expectLife(service, bots);
}

async function expectAnswers(bot: Bot, { answers }: KeptBot): Promise<void> {
  const now = await answersOf(
    bot,
    answers.map(({ path }) => path),
  );
  for (const [index, { path, status, body }] of answers.entries()) {
    expect([path, now[index]?.status]).toStrictEqual([path, status]);
    expect([path, now[index]?.body]).toMatchObject([path, body]);
  }
}

/** What users and bots keep of an older release holds under the keys that the later one publishes. */
function expectEvidence({ registered, erased, receipts, proofs }: KeptBot, keySet: KeySet): void {
  for (const { salt, user_id: userId, guild_id: guildId, certificate } of erased)
    expect(
      verifyCertificate(certificate, keySet, { salt, botId: registered.id, userId, guildId }),
    ).toMatchObject({
      bot_id: registered.id,
    });
  for (const receipt of receipts)
    expect(verifyStatement(receipt, keySet, 'lethe-consent-receipt+jwt')).toBeDefined();
  for (const proof of proofs)
    expect(verifyAuditProof(proof, keySet)).toMatchObject({ bot_id: registered.id });
}

async function expectAccess({ url }: Service, { keys, links, repeats, registered }: KeptBot): Promise<void> {
  for (const { api_key, reads, writes } of keys) {
    const client = new Client(url, api_key);
    const note = { user_id: '100000000000000001', guild_id: '200000000000000001', event_type: 'none' };
    expect([reads, writes]).toStrictEqual([
      (await client.get('/servers')).status,
      (await client.post('/audit/event', note)).status,
    ]);
  }
  for (const { token, status } of links) expect((await fetch(`${url}/p/${token}`)).status).toBe(status);
  for (const { path, body, key, answer } of repeats) {
    const again = await new Client(url, registered.api_key).post(path, body, { 'idempotency-key': key });
    expect(again.header('idempotent-replayed')).toBe('true');
    expect(again.data).toStrictEqual(answer);
  }
}

/** What a certificate says about the time of its signature; the rest is about the erasure itself, and stays. */
const SIGNED_ANEW = ['iat', 'audit', 'unrecoverable_at'];

async function expectErased(bot: Bot, { erased }: KeptBot, keySet: KeySet): Promise<void> {
  for (const { user_id, guild_id, request_id, certificate: then } of erased) {
    const path = `/gdpr/forget-status/${request_id}/certificate`;
    const { certificate } = (await bot.get<{ certificate: string }>(path)).data;
    const lasting = Object.entries(verifyCertificate(then, keySet)).filter(
      ([name]) => !SIGNED_ANEW.includes(name),
    );
    expect(verifyCertificate(certificate, keySet)).toMatchObject(Object.fromEntries(lasting));
    expect((await bot.export({ user_id, guild_id })).status).toBe(404);
    expect((await bot.status({ user_id, guild_id })).data).toMatchObject({ status: 'none' });
    expect((await bot.get(`/gdpr/forget-status/${request_id}`)).data).toMatchObject({ status: 'completed' });
  }
}

/** The log continues from every checkpoint that was kept, sealed and unsealed events alike. */
async function expectLog(
  service: Service,
  bot: Bot,
  { checkpoints }: KeptBot,
  keySet: KeySet,
): Promise<void> {
  await seal(service, bot);
  const { found } = await verified(service, bot, checkpoints);
  expect(found).toStrictEqual([]);
  await expect(verifyAuditExport(await exported(bot), keySet, checkpoints)).resolves.toMatchObject({
    botId: bot.id,
  });
}

/** Every key, secret and value opens with the master key, and the ledger is whole. */
async function expectReadable({ app }: Service): Promise<void> {
  const texts = await app.get(KeyRotation, { strict: false }).check();
  expect(texts).toMatchObject({ unreadable: 0 });
  expect(texts.texts).toBeGreaterThan(20);
  const values = await checkValues(app.get(UnitOfWork), app.get(SubjectKeys, { strict: false }));
  expect(values).toMatchObject({ unreadable: 0 });
  expect(values.values).toBeGreaterThan(9);
  const ledger = await checkLedger(app.get(UnitOfWork));
  expect(ledger).toMatchObject({ broken: 0 });
  expect(ledger.entries).toBeGreaterThan(9);
}

async function expectLife(service: Service, [first]: readonly KeptBot[]): Promise<void> {
  if (first === undefined) throw new Error('the fixture has no bot');
  const bot = botOf(first, service);
  const who = { user_id: '100000000000000999', guild_id: '200000000000000999' };
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'new' });
  expect((await bot.export<{ data: object }>(who)).data.data).toStrictEqual({ profile: { value: 'new' } });
  await bot.hasForgotten(who);
  expect((await bot.export(who)).status).toBe(404);
}
