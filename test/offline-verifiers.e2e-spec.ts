import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type AuditProof,
  EvidenceError,
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
  verifyCertificate,
} from '@app/sdk';
import type { Bot } from './support/bot';
import { exported, seal } from './support/sealing';
import { Service, useService } from './support/service';
import { subject, type SubjectIds } from './support/snowflakes';

const SCRIPT = resolve(__dirname, '../docs/verify/lethe_verify.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;

const service = useService();
const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

let bot: Bot;
let keySet: KeySet;
let gone: SubjectIds;
let salt: string;
let certificate: string;
let proof: AuditProof;
let lines: string[];
let checkpoint: string;

beforeAll(async () => {
  bot = await service.registerBot();
  gone = subject();
  const write = async (who: SubjectIds, details?: object) =>
    (await bot.post<{ id: string }>('/audit/event', { ...who, event_type: 'data_deleted', details })).data.id;
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 4; count++) await write(subject(), { count, text: 'ü"\\' });
    await write(gone, { round });
    await write(subject());
    await seal(service, bot);
  }
  const answer = await bot.post<{ request_id: string; certificate_salt: string }>('/gdpr/forget-user', gone);
  salt = answer.data.certificate_salt;
  const path = `/gdpr/forget-status/${answer.data.request_id}/certificate`;
  certificate = (await bot.get<{ certificate: string }>(path)).data.certificate;
  proof = (
    await bot.get<AuditProof & Record<string, unknown>>(`/audit/proof/${await write(subject(), { a: 1 })}`)
  ).data;
  lines = await exported(bot);
  const listed = await bot.get<{ checkpoints: { checkpoint: string }[] }>('/audit/checkpoints');
  checkpoint = listed.data.checkpoints[0]?.checkpoint ?? '';
  keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
}, 60_000);

/** The command in Python: its exit code and what it says. */
function python(kind: string, content: unknown, ...more: string[]): { code: number | null; text: string } {
  const [file, keys] = [join(directory, 'evidence'), join(directory, 'keys.json')];
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  writeFileSync(keys, JSON.stringify(keySet));
  const ran = spawnSync('python3', [SCRIPT, kind, file, '--keys', keys, ...more], { encoding: 'utf8' });
  return { code: ran.status, text: ran.stdout + ran.stderr };
}

/** The JSON with one leaf value replaced, once for each of them. */
function variants(value: unknown): unknown[] {
  if (typeof value === 'string')
    return [value.endsWith('1') ? `${value.slice(0, -1)}2` : `${value.slice(0, -1)}1`];
  if (typeof value === 'number') return [value + 1];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    variants(inner).map((other) =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other },
    ),
  );
}

const holds = (verify: () => unknown): boolean => {
  try {
    verify();
    return true;
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return false;
  }
};

describe('verifyCertificate', () => {
  it('takes the certificate of an erasure, and shows with its salt whom it is about', () => {
    const who = { salt, botId: bot.id, userId: gone.user_id, guildId: gone.guild_id };
    expect(verifyCertificate(certificate, keySet, who)).toMatchObject({ bot_id: bot.id });
    const others = variants(who) as (typeof who)[];
    for (const other of others)
      expect(holds(() => verifyCertificate(certificate, keySet, other))).toBe(false);
  });

  it('refuses one that was changed, that another service has signed, and what was signed for another purpose', async () => {
    const changed = certificate
      .split('.')
      .map((part, at, all) => all.with(at, `${part.slice(0, -2)}AA`).join('.'));
    for (const jws of [...changed, checkpoint, '', 'x', `${certificate}.x`])
      expect(holds(() => verifyCertificate(jws, keySet))).toBe(false);
    const other = await new Service().start();
    const foreign = (await (await fetch(`${other.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    await other.stop();
    expect(holds(() => verifyCertificate(certificate, foreign))).toBe(false);
  });
});

describe('verifyAuditProof', () => {
  it('takes a proof, and refuses it with any one value in it changed', () => {
    expect(verifyAuditProof(proof, keySet)).toMatchObject({ bot_id: bot.id });
    const others = variants(proof) as AuditProof[];
    expect(others.length).toBeGreaterThan(14);
    expect(others.filter((other) => holds(() => verifyAuditProof(other, keySet)))).toStrictEqual([]);
  });
});

describe('verifyAuditExport', () => {
  const isHeld = async (given: readonly string[], kept: readonly string[] = []): Promise<boolean> => {
    try {
      await verifyAuditExport(given, keySet, kept);
      return true;
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      return false;
    }
  };

  it('takes an export with erased users in it, and goes through a checkpoint that was kept', async () => {
    const log = await verifyAuditExport(lines, keySet, [checkpoint]);
    expect(log).toMatchObject({ botId: bot.id, events: 21, erased: 5 });
    expect(log.checkpoint).toBeDefined();
  });

  it('refuses it with any line removed, doubled, or exchanged with the next', async () => {
    for (const at of lines.keys()) {
      expect([at, await isHeld(lines.toSpliced(at, 1))]).toEqual([at, false]);
      expect([at, await isHeld(lines.toSpliced(at, 0, lines[at] ?? ''))]).toEqual([at, false]);
      if (at + 1 < lines.length)
        expect([at, await isHeld(lines.with(at, lines[at + 1] ?? '').with(at + 1, lines[at] ?? ''))]).toEqual(
          [at, false],
        );
    }
  });

  it('refuses it with any one value of any event or batch changed', async () => {
    const missed: unknown[] = [];
    for (const [at, line] of lines.entries())
      for (const other of variants(JSON.parse(line)) as Record<string, unknown>[]) {
        // What the first line says of itself is nobody's evidence.
        const isSaid =
          at === 0 &&
          ['format', 'version', 'exported_at'].some(
            (key) => other[key] !== (JSON.parse(line) as Record<string, unknown>)[key],
          );
        if (!isSaid && (await isHeld(lines.with(at, JSON.stringify(other))))) missed.push([at, other]);
      }
    expect(missed).toStrictEqual([]);
  });

  it('takes a later part by itself, and refuses an older export that lacks a checkpoint that was kept', async () => {
    const part = await exported(bot, '?after=2');
    expect(await isHeld(part)).toBe(true);
    expect(await isHeld(part.toSpliced(1, 1))).toBe(false);
    await bot.post('/audit/event', { ...subject(), event_type: 'data_deleted' });
    await seal(service, bot);
    const listed = await bot.get<{ checkpoints: { checkpoint: string }[] }>('/audit/checkpoints?page_size=1');
    expect(await isHeld(lines, [listed.data.checkpoints[0]?.checkpoint ?? ''])).toBe(false);
  });
});

// Continuous integration has Python; a machine without it leaves these out.
(hasPython || process.env['CI'] ? describe : describe.skip)('docs/verify/lethe_verify.py', () => {
  it('takes what holds', () => {
    const who = ['--salt', salt, '--bot', bot.id, '--user', gone.user_id, '--guild', gone.guild_id];
    expect(python('certificate', { success: true, data: { certificate } }, ...who)).toMatchObject({
      code: 0,
    });
    expect(python('certificate', certificate)).toMatchObject({ code: 0 });
    expect(python('proof', proof)).toMatchObject({ code: 0 });
    const kept = join(directory, 'kept');
    writeFileSync(kept, checkpoint);
    const audit = python('audit', lines.join('\n'), '--checkpoint', kept);
    expect(audit.text).toContain('"events": 21');
    expect(audit.code).toBe(0);
  });

  it('refuses what does not, and says why', () => {
    const other = ['--salt', salt, '--bot', bot.id, '--user', subject().user_id, '--guild', gone.guild_id];
    expect(python('certificate', certificate, ...other)).toMatchObject({ code: 1 });
    expect(python('certificate', certificate.replace(/.{9}$/, 'AAAAAAAAA')).text).toContain(
      'it does not hold',
    );
    const some = variants(proof).filter((_, at) => at % 4 === 0);
    for (const changed of some) expect(python('proof', changed)).toMatchObject({ code: 1 });
    for (const at of [0, 1, lines.length - 2, lines.length - 1])
      expect(python('audit', lines.toSpliced(at, 1).join('\n'))).toMatchObject({ code: 1 });
    const planted = variants(JSON.parse(lines[2] ?? '')).filter((_, at) => at % 3 === 0);
    for (const event of planted)
      expect(python('audit', lines.with(2, JSON.stringify(event)).join('\n'))).toMatchObject({ code: 1 });
  });
});
