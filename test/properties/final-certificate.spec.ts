import { type KeySet, VerificationError, verifyFinalCertificate } from '@lethe/sdk/evidence';
import * as web from '@lethe/sdk/evidence/web';
import { examine, type Finding } from '../../apps/console/src/verify/examine';
import { sentenceOf } from '../../apps/console/src/verify/sentence';
import { VERIFY_TEXTS } from '../../apps/console/src/verify/texts';
import { itInPart, someOf } from '../support/depth';
import { type Answer, HolderKey, SigningService } from '../support/final-certificates';
import { runsPython, usePython } from '../support/python-verifier';

const service = new SigningService();
const { keySet, subject } = service;
const verifier = usePython();

type Verify = (jws: string, keys?: KeySet, about?: typeof subject) => Promise<string>;

/** Each answers `holds`, or why not. */
const sdk = (verify: typeof verifyFinalCertificate | typeof web.verifyFinalCertificate): Verify => {
  return async (jws, keys = keySet, about) => {
    try {
      await verify(jws, keys, about);
      return 'holds';
    } catch (error) {
      if (error instanceof VerificationError) return error.message;
      throw error;
    }
  };
};

const python: Verify = async (jws, keys = keySet, about) => {
  const { salt, botId, userId, guildId } = about ?? subject;
  const named = [`--salt=${salt}`, '--bot', botId, '--user', userId, '--guild', guildId];
  const ran = await verifier.run('final', jws, keys, ...(about === undefined ? [] : named));
  return ran.code === 0 ? 'holds' : ran.text;
};

const page: Verify = async (jws, keys = keySet, about) => {
  const named = about ?? { salt: '', userId: '', guildId: '' };
  const finding = await examine(JSON.stringify({ certificate: jws }), JSON.stringify(keys), named);
  if (finding.result === 'fails') return finding.reason;
  return finding.result === 'holds' && finding.kind === 'final' ? 'holds' : JSON.stringify(finding);
};

const VERIFIERS: readonly (readonly [name: string, verify: Verify])[] = [
  ['lethe-verify', sdk(verifyFinalCertificate)],
  ['the checks of the browser', sdk(web.verifyFinalCertificate)],
  ['the page /verify', page],
  ...(runsPython ? [['lethe_verify.py', python] as const] : []),
];

const final = service.final();
const genuine = service.signs(final, 'final');
const signed = (changed: object): string => service.signs({ ...final, ...changed }, 'final');
const [CACHE, DATABASE, INVOICES] = [0, 1, 2];
const statementOf = (at: number): Answer => ({
  public_key: final.holders[at]?.['public_key'],
  statement: final.holders[at]?.['statement'],
});
/** The final certificate with the answer of `database` made anew. */
const answered = (changed: Answer, said: object = {}, key?: HolderKey): string =>
  service.withAnswer(DATABASE, service.signedAnswer(changed, said, key));
const other = new HolderKey();
const ANOTHER = '01a2032c-ffff-7000-8000-000000000009';

const INCOMPLETE = 'an answer is incomplete: that of the holder';
const FORM = 'a statement is of another form: that of the holder database';
const FOREIGN = 'a statement is of another bot, holder or erasure: that of the holder database';
const CONTRARY = 'a statement says something else than the answer of the holder';
const NOT_OWN = 'a statement is not signed by the key of the holder database';

const REFUSED: readonly (readonly [name: string, jws: string, reason: string])[] = [
  ['another version', signed({ version: 2 }), 'the version of the final certificate is not 1'],
  ['a version that is true', signed({ version: true }), 'the version of the final certificate is not 1'],
  ...['bot_id', 'request_id', 'certificate', 'holders', 'completed_at', 'issued_at'].map(
    (name) => [`no ${name}`, signed({ [name]: undefined }), `the final certificate lacks ${name}`] as const,
  ),
  ['no holder', signed({ holders: [] }), 'the final certificate lacks holders'],
  ['a holder that is null', signed({ holders: [null] }), 'the final certificate lacks holders'],
  ['a time of another form', signed({ issued_at: '2026' }), 'the final certificate lacks issued_at'],
  [
    'an inner certificate of another erasure',
    signed({ certificate: service.certificate({ request_id: ANOTHER }) }),
    'the certificate inside is of another erasure',
  ],
  [
    'an inner certificate of another bot',
    signed({ certificate: service.certificate({ bot_id: ANOTHER }) }),
    'the certificate inside is of another bot',
  ],
  [
    'an inner certificate of another service',
    signed({ certificate: new SigningService().certificate() }),
    'the signature does not fit',
  ],
  [
    'itself as the inner certificate',
    signed({ certificate: genuine }),
    'this is not lethe-erasure-certificate+jwt',
  ],
  [
    'an inner certificate that lacks a field',
    signed({ certificate: service.certificate({ audit: undefined }) }),
    'the certificate lacks audit',
  ],
  ['holders in another order', signed({ holders: final.holders.toReversed() }), 'not in their order'],
  ['a holder twice', signed({ holders: [final.holders[0], ...final.holders] }), 'one is named twice'],
  [
    'another time of completion',
    signed({ completed_at: '2026-11-21T09:30:00.000Z' }),
    'the time of completion is not that of the last answer',
  ],
  ['answers swapped between holders', service.withAnswer(DATABASE, statementOf(INVOICES)), FOREIGN],
  [
    'the answers of two holders swapped but for their statements',
    service.withAnswer(DATABASE, { result: 'nothing', counts: null }),
    CONTRARY,
  ],
  ['a statement of another task', answered({}, { task_id: ANOTHER }), FOREIGN],
  ['a statement of another bot', answered({}, { bot_id: ANOTHER }), FOREIGN],
  ['a statement of another holder', answered({}, { holder: 'cache' }), FOREIGN],
  ['a statement with another result', answered({}, { result: 'nothing' }), CONTRARY],
  ['a statement with other counts', answered({}, { counts: { rows: 3, tables: 3 } }), CONTRARY],
  ['a statement with more counts', answered({}, { counts: { rows: 3, tables: 2, files: 0 } }), CONTRARY],
  [
    'a statement with true as a count',
    answered({ counts: { rows: 1 } }, { counts: { rows: true } }),
    CONTRARY,
  ],
  ['a statement with a list as counts', answered({ counts: {} }, { counts: [] }), CONTRARY],
  [
    'a statement with another end of what is kept',
    service.withAnswer(INVOICES, { kept: { basis: 'Section 147 AO', until: '2026-12-31T00:00:00.000Z' } }),
    CONTRARY,
  ],
  [
    'a missing statement of a holder with a key',
    service.withAnswer(DATABASE, { statement: null }),
    'a statement is missing, though the holder database has a key',
  ],
  [
    'a statement of a holder without a key',
    service.withAnswer(DATABASE, { public_key: null }),
    'a statement has no key: that of the holder database',
  ],
  ['a statement by another key', service.withAnswer(DATABASE, { public_key: other.publicKey }), NOT_OWN],
  ['a key that is too short', service.withAnswer(DATABASE, { public_key: 'AAAA' }), NOT_OWN],
  ['a key that is no point', service.withAnswer(DATABASE, { public_key: '_'.repeat(42) + '8' }), NOT_OWN],
  [
    'a statement for another purpose',
    service.withAnswer(DATABASE, { public_key: other.publicKey, statement: other.signs({}, 'x+jwt') }),
    FORM,
  ],
  ['a statement with a further field', answered({}, { more: 1 }), FORM],
  ['a statement without its time', answered({}, { at: undefined }), FORM],
  ['a statement that is no JWS', service.withAnswer(DATABASE, { statement: 'x' }), 'not a compact JWS'],
  ...[
    'label_de',
    'label_en',
    'covers',
    'result',
    'counts',
    'kept',
    'answered_at',
    'public_key',
    'statement',
  ].map(
    (name) =>
      [`an answer without ${name}`, service.withAnswer(CACHE, { [name]: undefined }), INCOMPLETE] as const,
  ),
  ['an open answer', service.withAnswer(CACHE, { result: 'pending' }), INCOMPLETE],
  ['an answer that failed', service.withAnswer(CACHE, { result: 'failed' }), INCOMPLETE],
  ['an abandoned task', service.withAnswer(CACHE, { result: 'abandoned' }), INCOMPLETE],
  ['data that is kept without a basis', service.withAnswer(CACHE, { result: 'kept' }), INCOMPLETE],
  [
    'a basis of what is not kept',
    service.withAnswer(CACHE, { kept: { basis: 'x', until: 'y' } }),
    INCOMPLETE,
  ],
  ['a count below zero', service.withAnswer(CACHE, { counts: { rows: -1 } }), INCOMPLETE],
  ['a count that is no integer', service.withAnswer(CACHE, { counts: { rows: 0.5 } }), INCOMPLETE],
];

describe.each(VERIFIERS)('%s', (_, verify) => {
  it('accepts a final certificate, and tells by the salt whose erasure it is', async () => {
    expect(await verify(genuine)).toBe('holds');
    expect(await verify(genuine, keySet, subject)).toBe('holds');
    const userId = subject.userId.replace('8', '9');
    expect(await verify(genuine, keySet, { ...subject, userId })).toContain('is not about this user');
  });

  it.each(REFUSED)('refuses %s', async (_name, jws, reason) => {
    expect(await verify(jws)).toContain(reason);
  });

  it('does not take a first certificate for a final one', async () => {
    expect(await verify(service.certificate())).not.toBe('holds');
  });

  it('refuses one by a key that was retired before it was issued', async () => {
    const at = (retired_at: string) => ({ keys: keySet.keys.map((key) => ({ ...key, retired_at })) });
    expect(await verify(genuine, at('2026-11-22T10:00:00.000Z'))).toBe('holds');
    expect(await verify(genuine, at('2026-11-22T09:58:00.000Z'))).toContain('retired');
  });

  it('refuses the keys of another service', async () => {
    expect(await verify(genuine, new SigningService().keySet)).toContain('the signature does not fit');
  });

  it('accepts statements whose counts are written in another order', async () => {
    const said = { counts: { tables: 2, rows: 3 } };
    expect(await verify(answered({}, said))).toBe('holds');
  });
});

describe('a final certificate', () => {
  const holds = async (verify: Verify, jws: string): Promise<boolean> => (await verify(jws)) === 'holds';

  itInPart('does not hold with one byte changed anywhere', async () => {
    const kept: string[] = [];
    for (const [at, character] of someOf([...[...genuine].entries()], 4)) {
      const jws = genuine.slice(0, at) + (character === 'A' ? 'B' : 'A') + genuine.slice(at + 1);
      for (const [name, verify] of VERIFIERS) {
        // Ed25519 in Python takes milliseconds.
        if (name === 'lethe_verify.py' && at % 50 !== 0 && at < genuine.length - 5) continue;
        if (await holds(verify, jws)) kept.push(`${name} at ${at}`);
      }
    }
    expect(kept).toEqual([]);
  });

  it('is bound by the signatures inside it, so that a service can change nothing but what it says itself', async () => {
    const free = new Set<string>();
    for (const [path, changed] of variants(final)) {
      const jws = service.signs(changed as object, 'final');
      for (const [name, verify] of VERIFIERS)
        if ((name !== 'lethe_verify.py' || runsPython) && (await holds(verify, jws))) free.add(path);
    }
    const received = ['label_de', 'label_en', 'covers.0', 'answered_at'];
    expect([...free].sort()).toEqual(
      [
        'issued_at',
        ...[...received, 'key', 'result'].map((name) => `holders.0.${name}`),
        ...[...received, 'covers.1'].map((name) => `holders.1.${name}`),
        ...received.slice(0, 3).map((name) => `holders.2.${name}`),
      ].sort(),
    );
  });

  it('says who has signed what', () => {
    const { holders, certificate, completed_at } = verifyFinalCertificate(genuine, keySet);
    expect(certificate).toMatchObject({ deleted_categories: ['profile'] });
    expect(completed_at).toBe('2026-11-22T09:30:00.000Z');
    expect(holders.map(({ key, result, signed_at }) => [key, result, signed_at])).toEqual([
      ['cache', 'nothing', null],
      ['database', 'erased', '2026-11-21T07:59:58Z'],
      ['invoices', 'kept', '2026-11-21T07:59:58Z'],
    ]);
  });
});

/** The JSON with one leaf value replaced by another of its form, once for each leaf, with the path of the leaf. */
function variants(value: unknown, path = ''): (readonly [path: string, changed: unknown])[] {
  const below = path.split('.').at(-1) ?? '';
  if (below === 'result') return [[path, value === 'nothing' ? 'erased' : 'nothing']];
  if (below.endsWith('_at')) return [[path, String(value).replace('.000Z', '.001Z')]];
  if (typeof value === 'string')
    return [[path, value.endsWith('1') ? `${value.slice(0, -1)}2` : `${value.slice(0, -1)}1`]];
  if (typeof value === 'number') return [[path, value + 1]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    variants(inner, path === '' ? key : `${path}.${key}`).map(
      ([at, other]) =>
        [at, Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }] as const,
    ),
  );
}

describe('the sentence of /verify', () => {
  it.each([
    ['en', 'about one user in one place (a server, or the direct messages) was erased'],
    ['de', 'über einen Nutzer an einem Ort (einem Server oder den Direktnachrichten) gespeichert'],
  ] as const)(
    'says that an erasure is of one place, also where no user is named: %s',
    async (language, said) => {
      const names = { salt: '', userId: '', guildId: '' };
      const finding = await examine(JSON.stringify({ certificate: genuine }), JSON.stringify(keySet), names);
      expect(sentenceOf(language, finding)).toContain(said);
      expect(VERIFY_TEXTS[language].certificate).toContain(said);
    },
  );

  it.each([
    ['en', '1234567890123456789', 'agreed on the server 1234567890123456789 that'],
    ['en', '00000000000000000', 'agreed in direct messages that'],
    ['de', '1234567890123456789', 'auf dem Server 1234567890123456789 zugestimmt'],
    ['de', '00000000000000000', 'in Direktnachrichten zugestimmt'],
  ] as const)('says where a user agreed: %s %s', (language, guild_id, said) => {
    const statement = { pii_processing: { service: { guild_id } } };
    const finding = { result: 'holds', kind: 'receipt', statement, isNamed: false } as unknown as Finding;
    expect(sentenceOf(language, finding)).toContain(said);
  });
});
