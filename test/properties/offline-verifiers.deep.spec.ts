import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AuditProof,
  VerificationError,
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
  verifyCertificate,
} from '@lethe/sdk/evidence';
import type { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { PYTHON_SCRIPT, type Ran, runsPython, usePython } from '../support/python-verifier';
import { contradicting, exported, payloadOf, seal, verified } from '../support/sealing';
import { Service, useServiceInProcess } from '../support/service';
import { HAS_FULL_DISK, ontoClosedPipe, ontoFullDisk } from '../support/spawned';
import { subject, type SubjectIds } from '../support/snowflakes';

const build = useBuild();
const service = useServiceInProcess();
const verifier = usePython();
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
    for (let count = 0; count < 4; count++) await write(subject(), { count, text: 'ü"\\\u2028\u2029' });
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
});

/** Runs one of the two commands; answers its exit code and output. The service in this process continues meanwhile. */
function verifying(
  program: string,
  script: string,
  kind: string,
  content: unknown,
  more: string[],
): Promise<Ran> {
  const [file, keys] = [join(directory, 'evidence'), join(directory, 'keys.json')];
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  writeFileSync(keys, JSON.stringify(keySet));
  const values = [script, kind, file, '--keys', keys, ...more];
  return new Promise((done) => {
    const ran = execFile(program, values, (_error, stdout, stderr) =>
      done({ code: ran.exitCode, text: stdout + stderr }),
    );
  });
}

const python = (kind: string, content: unknown, ...more: string[]): Promise<Ran> =>
  verifying('python3', PYTHON_SCRIPT, kind, content, more);

/** The same without a process of its own. */
const inPython = (kind: string, content: unknown): Promise<Ran> => verifier.run(kind, content, keySet);

const program = (): string => join(build.directory, 'packages/sdk/src/evidence/lethe-verify.js');

const node = (kind: string, content: unknown, ...more: string[]): Promise<Ran> =>
  verifying(process.execPath, program(), kind, content, more);

/** The JSON with one leaf value replaced, once for each leaf. */
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
    if (!(error instanceof VerificationError)) throw error;
    return false;
  }
};

describe('verifyCertificate', () => {
  it('accepts the certificate of an erasure, and shows with its salt which user it is about', () => {
    const who = { salt, botId: bot.id, userId: gone.user_id, guildId: gone.guild_id };
    expect(verifyCertificate(certificate, keySet, who)).toMatchObject({ bot_id: bot.id });
    const others = variants(who) as (typeof who)[];
    for (const other of others)
      expect(holds(() => verifyCertificate(certificate, keySet, other))).toBe(false);
    // Two bits of the last letter have no meaning: another letter can decode to the same bytes.
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const spellings = alphabet.map((last) => salt.slice(0, -1) + last);
    expect(
      spellings.filter((other) =>
        holds(() => verifyCertificate(certificate, keySet, { ...who, salt: other })),
      ),
    ).toStrictEqual([salt]);
  });

  it('refuses one that was changed, that another service has signed, and what was signed for another purpose', async () => {
    const changed = certificate.split('.').map((part, at, all) => {
      const other = part.at(-3) === 'A' ? 'B' : 'A';
      return all.with(at, `${part.slice(0, -3)}${other}${part.slice(-2)}`).join('.');
    });
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

/** The event with values beside the right hashes that do not fit these, and with superfluous parts. */
function forged(event: AuditProof['event']): AuditProof['event'][] {
  const { parts } = event;
  if (parts === null) throw new Error('the event tells no parts');
  const names = ['user', 'guild', 'details'] as const;
  return names.flatMap((name) => {
    const { [name]: own = {} } = parts;
    const hash = hashOf(name, own);
    const others = [
      { ...own, hash },
      { value: 'forged', salt: 'AAAA', hash },
      { value: 'forged', hash },
    ];
    if (!event.erased) others.push({ hash });
    return others.slice('hash' in own ? 1 : 0).map((part) => ({
      ...event,
      parts: { ...parts, [name]: part },
    }));
  });
}

/** docs/audit-log.md: 0x03, then name, salt and value, each after its length. */
function hashOf(
  name: string,
  { value, salt, hash }: { value?: string | null; salt?: string; hash?: string },
): string {
  if (hash !== undefined) return hash;
  const texts = [
    Buffer.from(name),
    Buffer.from(salt ?? '', 'base64url'),
    ...(value == null ? [] : [Buffer.from(value)]),
  ];
  const digest = createHash('sha256').update(Buffer.of(3));
  for (const text of texts) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    digest.update(length).update(text);
  }
  return digest.digest('base64url');
}

describe('a part of an event', () => {
  it('is refused for a hash beside another value, or without an erasure', async () => {
    const told = lines.map((line) => JSON.parse(line) as { type: string } & AuditProof['event']);
    const completed = told.find(({ erased, parts }) => erased && parts !== null);
    const at = told.findIndex(({ erased, parts }) => erased && parts !== null);
    expect(completed?.parts?.user).toStrictEqual({ hash: expect.any(String) as string });
    for (const event of forged(proof.event)) {
      expect(holds(() => verifyAuditProof({ ...proof, event }, keySet))).toBe(false);
    }
    for (const event of forged(completed!)) {
      const changed = lines.with(at, JSON.stringify(event));
      await expect(verifyAuditExport(changed, keySet)).rejects.toThrow('must have value and salt');
    }
  });
});

describe('verifyAuditExport', () => {
  const isHeld = async (given: readonly string[], kept: readonly string[] = []): Promise<boolean> => {
    try {
      await verifyAuditExport(given, keySet, kept);
      return true;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return false;
    }
  };

  it('accepts an export with erased users in it, and finds the kept checkpoint', async () => {
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
        // The first line proves nothing about itself.
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

describe('a checkpoint that was kept', () => {
  const verify = (given: readonly string[], ...kept: string[]) => verifyAuditExport(given, keySet, kept);

  it('is where a later part has to go on from, also one without a batch', async () => {
    const rival = await contradicting(service, checkpoint);
    const last = await exportedAfter(checkpoint);
    await bot.post('/audit/event', { ...subject(), event_type: 'data_deleted' });
    await seal(service, bot);
    for (const part of [last, await exportedAfter(checkpoint)]) {
      await expect(verify(part)).resolves.toMatchObject({ botId: bot.id });
      await expect(verify(part, checkpoint)).resolves.toMatchObject({ botId: bot.id });
      await expect(verify(part, rival)).rejects.toThrow(VerificationError);
    }
  });

  it('is refused beside one that contradicts it, and for the log of another bot', async () => {
    const rival = await contradicting(service, checkpoint);
    await expect(verify(lines, checkpoint, rival)).rejects.toThrow('is not the one of the checkpoint');
    const other = await service.registerBot();
    await other.post('/audit/event', { ...subject(), event_type: 'data_deleted' });
    await seal(service, other);
    await expect(verify(await exported(other), checkpoint)).rejects.toThrow('of another bot');
    expect((await verified(service, bot, [checkpoint])).found).toStrictEqual([]);
    expect((await verified(service, bot, [checkpoint, rival])).found).toHaveLength(1);
  });
});

function exportedAfter(jws: string): Promise<string[]> {
  return exported(bot, `?after=${String(payloadOf(jws)['number'])}`);
}

/** The arguments that name the user of the certificate. */
const named = (): string[] => [
  ...['--salt', salt, '--bot', bot.id],
  ...['--user', gone.user_id, '--guild', gone.guild_id],
];

describe('lethe-verify', () => {
  it('ends with 0 for what holds', async () => {
    for (const content of [{ success: true, data: { certificate } }, certificate])
      expect(await node('certificate', content, ...named())).toMatchObject({ code: 0 });
    expect(await node('proof', proof)).toMatchObject({ code: 0 });
    const kept = join(directory, 'kept-by-node');
    writeFileSync(kept, checkpoint);
    const audit = await node('audit', lines.join('\n'), '--checkpoint', kept);
    expect(audit.text).toContain('"events": 21');
    expect(audit.code).toBe(0);
  });

  it('ends with 1 for what does not, and says why; with 2 for what it does not understand', async () => {
    const other = named().with(5, subject().user_id);
    const cut = lines.toSpliced(1, 1).join('\n');
    for (const ran of [await node('certificate', certificate, ...other), await node('audit', cut)]) {
      expect(ran.code).toBe(1);
      expect(ran.text).toContain('it does not hold');
    }
    expect(await node('nothing', certificate)).toMatchObject({ code: 2 });
  });
});

(HAS_FULL_DISK ? describe : describe.skip)('lethe-verify with output that cannot be written', () => {
  const args = (): string[] => {
    const [file, keys] = [join(directory, 'unwritten'), join(directory, 'unwritten-keys.json')];
    writeFileSync(file, certificate);
    writeFileSync(keys, JSON.stringify(keySet));
    return [program(), 'certificate', file, '--keys', keys];
  };

  it('ends with 1 and a sentence, also for its help', async () => {
    const ended = { code: 1, stderr: 'The output cannot be written (ENOSPC).\n' };
    expect(await ontoFullDisk(args())).toMatchObject(ended);
    expect(await ontoFullDisk([program()])).toMatchObject(ended);
  });

  it('ends with the code of the verification where the reader has closed the pipe', async () => {
    expect(await ontoClosedPipe(args())).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a user who is named in part', () => {
  const commands = [
    ['lethe-verify', node] as const,
    ...(runsPython ? [['lethe_verify.py', python] as const] : []),
  ];

  it.each(commands)('is refused by %s with what is missing', async (_, command) => {
    const names = ['--salt', '--bot', '--user', '--guild'];
    for (const [at, name] of names.entries()) {
      const ran = await command('certificate', certificate, ...named().toSpliced(2 * at, 2));
      expect(ran).toMatchObject({ code: 2, text: expect.stringContaining(`together: ${name} is missing`) });
      expect(ran.text).not.toContain('it holds');
    }
    const alone = await command('certificate', certificate, '--user', gone.user_id);
    expect(alone).toMatchObject({
      code: 2,
      text: expect.stringContaining('--salt, --bot, --guild is missing'),
    });
  });

  it.each(commands)(
    'is refused by %s for a file that it does not compare with a user',
    async (_, command) => {
      const ran = await command('proof', proof, '--user', gone.user_id);
      expect(ran).toMatchObject({ code: 2, text: expect.stringContaining('--user is no option') });
      const kept = join(directory, 'kept-for-nothing');
      writeFileSync(kept, checkpoint);
      const other = await command('certificate', certificate, '--checkpoint', kept);
      expect(other).toMatchObject({ code: 2, text: expect.stringContaining('--checkpoint is no option') });
    },
  );
});

describe('a salt that begins with a hyphen', () => {
  it.each([['lethe-verify', node] as const, ...(runsPython ? [['lethe_verify.py', python] as const] : [])])(
    'is no option to %s',
    async (_, command) => {
      const ran = await command('certificate', certificate, ...named().with(1, `-${salt.slice(1)}`));
      expect(ran.code).toBe(salt.startsWith('-') ? 0 : 1);
      expect(ran.text).toContain(salt.startsWith('-') ? 'it holds' : 'it does not hold');
    },
  );
});

(runsPython ? describe : describe.skip)('docs/verify/lethe_verify.py', () => {
  it('takes what holds', async () => {
    const inAnswer = { success: true, data: { certificate } };
    expect(await python('certificate', inAnswer, ...named())).toMatchObject({ code: 0 });
    expect(await python('certificate', certificate)).toMatchObject({ code: 0 });
    expect(await python('proof', proof)).toMatchObject({ code: 0 });
    const kept = join(directory, 'kept');
    writeFileSync(kept, checkpoint);
    const audit = await python('audit', lines.join('\n'), '--checkpoint', kept);
    expect(audit.text).toContain('"events": 21');
    expect(audit.code).toBe(0);
  });

  it('refuses a hash beside a value, and an export that does not go on from what was kept', async () => {
    const rival = await contradicting(service, checkpoint);
    for (const event of forged(proof.event).filter((_, at) => at % 4 === 1))
      expect((await inPython('proof', { ...proof, event })).text).toContain('must have value and salt');
    const [one, two] = [join(directory, 'one'), join(directory, 'two')];
    writeFileSync(one, checkpoint);
    writeFileSync(two, rival);
    const part = (await exportedAfter(checkpoint)).join('\n');
    expect(await python('audit', part, '--checkpoint', one)).toMatchObject({ code: 0 });
    expect((await python('audit', part, '--checkpoint', two)).text).toContain('it does not hold');
    const both = ['--checkpoint', one, '--checkpoint', two];
    expect((await python('audit', lines.join('\n'), ...both)).text).toContain('it does not hold: batch');
  });

  it('refuses what does not, and says why', async () => {
    const other = named().with(5, subject().user_id);
    expect(await python('certificate', certificate, ...other)).toMatchObject({ code: 1 });
    expect((await python('certificate', certificate.replace(/.{9}$/, 'AAAAAAAAA'))).text).toContain(
      'it does not hold',
    );
    const some = variants(proof).filter((_, at) => at % 4 === 0);
    for (const changed of some) expect(await inPython('proof', changed)).toMatchObject({ code: 1 });
    for (const at of [0, 1, lines.length - 2, lines.length - 1])
      expect(await inPython('audit', lines.toSpliced(at, 1).join('\n'))).toMatchObject({ code: 1 });
    const planted = variants(JSON.parse(lines[2] ?? '')).filter((_, at) => at % 3 === 0);
    for (const event of planted)
      expect(await inPython('audit', lines.with(2, JSON.stringify(event)).join('\n'))).toMatchObject({
        code: 1,
      });
  });
});
