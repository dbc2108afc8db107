import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { KeySet } from '@lethe/sdk/evidence';

/** A statement as compact JWS with exactly this header. */
export function signedBy(key: KeyObject, header: object, payload: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(header)}.${part(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

/** A key pair of a holder. */
export class HolderKey {
  private readonly pair = generateKeyPairSync('ed25519');
  readonly publicKey = this.pair.publicKey.export({ format: 'jwk' }).x ?? '';

  /** The holder's own statement about an answer. */
  signs(answer: object, typ = 'lethe-holder-answer+jwt'): string {
    return signedBy(this.pair.privateKey, { alg: 'EdDSA', typ }, answer);
  }
}

const BOT = '01a2032b-a7bf-74df-a176-9cd5d249283f';
const REQUEST = '01a2032c-0000-7000-8000-000000000001';
const SALT = 'UTYx1DyppqM-esJJCr4s5w';
const TYPES = {
  certificate: 'lethe-erasure-certificate+jwt',
  final: 'lethe-final-certificate+jwt',
  checkpoint: 'lethe-audit-checkpoint+jwt',
  export: 'lethe-audit-export+jwt',
  pruning: 'lethe-audit-pruning+jwt',
} as const;

export type Answer = Readonly<Record<string, unknown>>;
export type Final = Readonly<Record<string, unknown>> & { readonly holders: readonly Answer[] };

/** A service that signs, as far as a verifier sees it, with a bot that has three holders: two of them sign. */
export class SigningService {
  private readonly pair = generateKeyPairSync('ed25519');
  private readonly database = new HolderKey();
  private readonly invoices = new HolderKey();
  readonly subject = { salt: SALT, botId: BOT, userId: '123456789012345678', guildId: '223456789012345678' };

  get keySet(): KeySet {
    const { x = '' } = this.pair.publicKey.export({ format: 'jwk' });
    return { keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'own', x }] };
  }

  signs(payload: object, typ: keyof typeof TYPES): string {
    return signedBy(this.pair.privateKey, { alg: 'EdDSA', typ: TYPES[typ], kid: 'own' }, payload);
  }

  /** The certificate of the erasure in Lethe. */
  certificate(changed: object = {}): string {
    const { salt, botId, userId, guildId } = this.subject;
    const hash = createHash('sha256').update(Buffer.from(salt, 'base64url')).update('\0');
    const payload = {
      iss: 'lethe',
      iat: Date.parse('2026-11-20T15:39:19.000Z') / 1000,
      request_id: REQUEST,
      bot_id: BOT,
      subject_commitment: hash.update(`${botId}/${guildId}/${userId}`).digest('base64url'),
      requested_at: '2026-11-20T15:39:19.000Z',
      completed_at: '2026-11-20T15:39:19.293Z',
      unrecoverable_at: '2026-11-20T15:39:19.293Z',
      deleted_categories: ['profile'],
      erased_rows: { user_data: 1 },
      destroyed_key: 'mBq3rV0cT8y1',
      audit: { number: 1, chain: 'a'.repeat(43) },
      backups_clear_by: '2026-12-25T15:39:19.293Z',
    };
    return this.signs({ ...payload, ...changed }, 'certificate');
  }

  /** An answer of the holder `database`, signed by its key; `said` changes the statement alone. */
  signedAnswer(changed: Answer = {}, said: object = {}, key = this.database): Answer {
    const answer: Answer = {
      ...{ key: 'database', label_de: 'Datenbank', label_en: 'Database', covers: ['profiles', 'scores'] },
      ...{ result: 'erased', counts: { rows: 3, tables: 2 }, kept: null },
      ...{ answered_at: '2026-11-21T08:00:00.000Z', public_key: key.publicKey },
      ...changed,
    };
    const { result, counts, kept } = answer;
    const statement = { bot_id: BOT, holder: answer['key'], task_id: REQUEST, result, counts, kept };
    return { ...answer, statement: key.signs({ ...statement, at: '2026-11-21T07:59:58Z', ...said }) };
  }

  /** What a final certificate says. */
  final(changed: object = {}): Final {
    const cache = {
      ...{ key: 'cache', label_de: 'Zwischenspeicher', label_en: 'Cache', covers: ['sessions'] },
      ...{ result: 'nothing', counts: null, kept: null },
      ...{ answered_at: '2026-11-20T16:00:00.000Z', public_key: null, statement: null },
    };
    const invoices = this.signedAnswer(
      {
        ...{ key: 'invoices', label_de: 'Rechnungen', label_en: 'Invoices', covers: ['invoices'] },
        ...{ result: 'kept', counts: null, answered_at: '2026-11-22T09:30:00.000Z' },
        kept: { basis: 'Section 147 AO', until: '2036-12-31T00:00:00.000Z' },
      },
      {},
      this.invoices,
    );
    return {
      ...{ version: 1, bot_id: BOT, request_id: REQUEST, certificate: this.certificate() },
      holders: [cache, this.signedAnswer(), invoices],
      ...{ completed_at: '2026-11-22T09:30:00.000Z', issued_at: '2026-11-22T10:00:00.000Z' },
      ...changed,
    };
  }

  /** The final certificate, with one answer changed after its holder has signed it. */
  withAnswer(at: number, changed: Answer): string {
    const final = this.final();
    const holders = final.holders.with(at, { ...final.holders[at], ...changed });
    return this.signs({ ...final, holders }, 'final');
  }
}
