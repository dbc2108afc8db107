import { Signer } from '@app/crypto';
import {
  type AuditProof,
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
  verifyCertificate,
  VerificationError,
} from '@lethe/sdk/evidence';
import * as web from '@lethe/sdk/evidence/web';
import { runsPython, usePython } from '../support/python-verifier';
import { exported, payloadOf, seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

const TYPE = 'lethe-erasure-certificate+jwt';
const service = useServiceInProcess();
const verifier = usePython();

type Verify = (content: string, keySet: KeySet) => Promise<string>;

/** Each answers `holds`, or why not. */
const sdk = (verify: (content: string, keySet: KeySet) => unknown): Verify => {
  return async (content, keySet) => {
    try {
      await verify(content, keySet);
      return 'holds';
    } catch (error) {
      if (error instanceof VerificationError) return error.message;
      throw error;
    }
  };
};
const python = (kind: string): Verify => {
  return async (content, keySet) => {
    const { code, text } = await verifier.run(kind, content, keySet);
    return code === 0 ? 'holds' : text;
  };
};

const VERIFIERS: readonly (readonly [string, Readonly<Record<'certificate' | 'proof' | 'audit', Verify>>])[] =
  [
    [
      'lethe-verify',
      {
        certificate: sdk(verifyCertificate),
        proof: sdk((content, keySet) => verifyAuditProof(JSON.parse(content) as AuditProof, keySet)),
        audit: sdk((content, keySet) => verifyAuditExport(content.split('\n'), keySet)),
      },
    ],
    [
      'the pages of the browser',
      {
        certificate: sdk(web.verifyCertificate),
        proof: sdk((content, keySet) => web.verifyAuditProof(JSON.parse(content) as AuditProof, keySet)),
        audit: sdk(async (content, keySet) => {
          for await (const { sealed } of web.verifiedBatches(content.split('\n'), keySet))
            expect(sealed.length).toBeGreaterThan(0);
        }),
      },
    ],
    ...(runsPython
      ? [
          [
            'lethe_verify.py',
            { certificate: python('certificate'), proof: python('proof'), audit: python('audit') },
          ] as const,
        ]
      : []),
  ];

let keySet: KeySet;
let certificate: string;
let proof: string;
let log: string;

beforeAll(async () => {
  const bot = await service.registerBot();
  const write = async () =>
    (await bot.post<{ id: string }>('/audit/event', { ...subject(), event_type: 'data_deleted' })).data.id;
  const id = await write();
  await seal(service, bot);
  const gone = await bot.post<{ request_id: string }>('/gdpr/forget-user', subject());
  const path = `/gdpr/forget-status/${gone.data.request_id}/certificate`;
  certificate = (await bot.get<{ certificate: string }>(path)).data.certificate;
  proof = JSON.stringify((await bot.get<Record<string, unknown>>(`/audit/proof/${id}`)).data);
  log = (await exported(bot)).join('\n');
  keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
});

/** The key set with a key that was retired so long after the time; negative for before it. */
function retired(at: unknown, afterMs: number): KeySet {
  const time = typeof at === 'number' ? at * 1000 : Date.parse(String(at));
  const retired_at = new Date(time + afterMs).toISOString();
  return { keys: keySet.keys.map((key) => ({ ...key, retired_at })) };
}

/** Other values of JSON that a sloppy reading takes for the same text. */
const bytesOf = (value: unknown): unknown => [...Buffer.from(String(value))];
const lengthOf = (value: unknown): unknown => {
  const all = [...Buffer.from(String(value))];
  return { ...all, length: all.length };
};
const listed = (value: unknown): unknown => [value];

describe.each(VERIFIERS)('%s', (_, verify) => {
  it('refuses a certificate without any of its fields', async () => {
    const payload = payloadOf(certificate);
    const of = async (other: object): Promise<string> =>
      verify.certificate(await service.app.get(Signer).sign(other, TYPE), keySet);
    expect(await of(payload)).toBe('holds');
    for (const name of ['unrecoverable_at', 'destroyed_key'])
      expect(await of({ ...payload, [name]: null })).toBe('holds');
    for (const name of Object.keys(payload).filter((key) => key !== 'iss' && key !== 'iat')) {
      expect([name, await of({ ...payload, [name]: undefined })]).toEqual([
        name,
        expect.stringContaining(`lacks ${name}`),
      ]);
    }
    for (const wrong of [
      ...[null, {}, 'text', { number: 0, chain: 'a'.repeat(64) }, { number: 1, chain: '' }].map((audit) => ({
        audit,
      })),
      { unrecoverable_at: 1 },
      { deleted_categories: null },
      { erased_rows: null },
    ])
      expect(await of({ ...payload, ...wrong })).toContain(`lacks ${Object.keys(wrong)[0] ?? ''}`);
  });

  it('refuses what says that it was signed later than a minute after its key was retired', async () => {
    const checkpoint = payloadOf((JSON.parse(proof) as AuditProof).checkpoint);
    const end = JSON.parse(log.split('\n').at(-1) ?? '') as { statement: string };
    const cases = [
      ['certificate', certificate, payloadOf(certificate)['iat']],
      ['proof', proof, checkpoint['sealed_at']],
      ['audit', log, payloadOf(end.statement)['exported_at']],
    ] as const;
    for (const [kind, content, at] of cases) {
      for (const afterMs of [3_600_000, 0, -59_000])
        expect([kind, afterMs, await verify[kind](content, retired(at, afterMs))]).toEqual([
          kind,
          afterMs,
          'holds',
        ]);
      expect([kind, await verify[kind](content, retired(at, -61_000))]).toEqual([
        kind,
        expect.stringContaining('retired'),
      ]);
    }
    const jws = await service.app.get(Signer).sign({ ...payloadOf(certificate), iat: undefined }, TYPE);
    expect(await verify.certificate(jws, retired(0, 3_600_000_000_000))).toContain('retired');
  });

  it('refuses a proof and a log whose texts are lists of their bytes, objects with a length, or whose place is a text', async () => {
    const given = JSON.parse(proof) as Record<string, unknown> & { event: Record<string, unknown> };
    const lines = log.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    const at = lines.findIndex(({ type }) => type === 'event');
    const ofProof = (changed: object) => verify.proof(JSON.stringify({ ...given, ...changed }), keySet);
    const ofLog = (line: number, changed: object) => {
      const all = lines.with(line, { ...lines[line], ...changed });
      return verify.audit(all.map((each) => JSON.stringify(each)).join('\n'), keySet);
    };
    for (const form of [bytesOf, lengthOf, listed]) {
      for (const name of ['id', 'event_type', 'source', 'created_at', 'commitment', 'seq', 'erased']) {
        const said = `the event lacks ${name}`;
        const [own, other] = [given.event, lines[at] ?? {}];
        expect([name, await ofProof({ event: { ...own, [name]: form(own[name]) } })]).toEqual([
          name,
          expect.stringContaining(said),
        ]);
        expect([name, await ofLog(at, { [name]: form(other[name]) })]).toEqual([
          name,
          expect.stringContaining(said),
        ]);
      }
      for (const name of ['bot_id', 'checkpoint'])
        expect([name, await ofProof({ [name]: form(given[name]) })]).not.toEqual([name, 'holds']);
      for (const name of ['bot_id', 'after', 'pruning'])
        expect([name, await ofLog(0, { [name]: form(lines[0]?.[name]) })]).not.toEqual([name, 'holds']);
      const batch = lines.findIndex(({ type }) => type === 'batch');
      for (const [line, name] of [
        [batch, 'checkpoint'],
        [lines.length - 1, 'statement'],
      ] as const)
        expect([name, await ofLog(line, { [name]: form(lines[line]?.[name]) })]).not.toEqual([name, 'holds']);
    }
    for (const event of [
      null,
      'text',
      { ...given.event, seq: String(given.event['seq']) },
      { ...given.event, parts: 'text' },
    ])
      expect(await ofProof({ event })).toContain('the event lacks ');
    for (const changed of [
      { leaf_index: String(given['leaf_index']) },
      { leaf_index: [given['leaf_index']] },
      { leaf_index: false },
      { path: '' },
      { path: null },
    ])
      expect([changed, await ofProof(changed)]).not.toEqual([changed, 'holds']);
    for (const after of ['0', false, null])
      expect([after, await ofLog(0, { after })]).not.toEqual([after, 'holds']);
    expect([await ofProof({}), await ofLog(0, {})]).toEqual(['holds', 'holds']);
  });
});
