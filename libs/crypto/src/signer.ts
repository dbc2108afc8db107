import type { UnitOfWork } from '@app/database';
import { type Clock, OwnError, type Random } from '@app/kernel';
import { UnreadableSecretError } from './aead';
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import {
  addInstallationKey,
  contextOfSecret,
  installationKeys,
  type ServiceKeyRow,
} from './installation-keys';
import type { Keyring } from './keyring';

const NAME = 'signing';
const SEED_BYTES = 32;
/** The bytes before the seed of an Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/**
 * How long a process may use its copy of the present key, in milliseconds. After a rotation it may sign with the
 * retired key for this time.
 */
const TRUSTED_MS = 30_000;

/** A public key in a key set (RFC 7517, RFC 8037). */
interface PublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly kid: string;
  readonly x: string;
  /** The time of its last signature. Earlier signatures stay valid. */
  readonly retired_at?: string;
}

interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/**
 * Signs statements of the service as compact JWS (RFC 7515) with Ed25519 (RFC 8037), so that anyone can verify them
 * offline. The whole installation has one key in force. Retired keys stay in the key set.
 */
export class Signer {
  private present: Promise<SigningKey> | undefined;
  private readMs = -Infinity;
  /** The public keys of the last reading. They are read again when a statement names another one. */
  private publicKeys: readonly PublicKey[] = [];

  private constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keyring: Keyring,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Makes the first key when there is none. If several processes start at the same time, one of them makes it. */
  static async open(unitOfWork: UnitOfWork, keyring: Keyring, clock: Clock, random: Random): Promise<Signer> {
    const signer = new Signer(unitOfWork, keyring, clock, random);
    await signer.replace((keys) => keys.every(isRetired));
    return signer;
  }

  /**
   * `typ` names the purpose of the statement, so that a signature for one purpose is not valid for another (RFC 8725,
   * section 3.11).
   */
  async sign(payload: object, typ: string): Promise<string> {
    const { kid, key } = await this.inForce();
    const input = `${encoded({ alg: 'EdDSA', typ, kid })}.${encoded(payload)}`;
    return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
  }

  /** The payload of a statement that an own key has signed for this purpose; undefined for anything else. */
  async verified(jws: string, typ: string): Promise<Record<string, unknown> | undefined> {
    const [header = '', payload = '', signature = '', ...further] = jws.split('.');
    if (further.length > 0) return undefined;
    const { kid, typ: given } = decoded(header) ?? {};
    const known = (): PublicKey | undefined => this.publicKeys.find((key) => key.kid === kid);
    if (known() === undefined) this.publicKeys = (await this.keySet()).keys;
    const jwk = known();
    const bytes = Buffer.from(signature, 'base64url');
    // The last digit has unused bits, so a changed text can have the same bytes.
    if (jwk === undefined || given !== typ || bytes.toString('base64url') !== signature) return undefined;
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    return verify(null, Buffer.from(`${header}.${payload}`), key, bytes) ? decoded(payload) : undefined;
  }

  /**
   * Every key that has ever signed, the one in force first. Public keys are derived from the encrypted private keys, so
   * that write access to the database is not enough to add a key.
   */
  async keySet(): Promise<{ readonly keys: readonly PublicKey[] }> {
    const rows = await this.unitOfWork.read((tx) => installationKeys(tx, NAME));
    const sorted = [...rows.filter((row) => !isRetired(row)), ...rows.filter(isRetired)];
    return { keys: sorted.flatMap((row) => this.publicOf(row) ?? []) };
  }

  /** Puts a new key in force and retires the present one. Returns the id of the new key. */
  async rotate(): Promise<string> {
    const kid = await this.replace(() => true);
    this.readMs = -Infinity;
    return kid ?? '';
  }

  private async replace(isDue: (keys: readonly ServiceKeyRow[]) => boolean): Promise<string | undefined> {
    return this.unitOfWork.write(async (tx) => {
      // Every installation has this row. Its lock excludes other rotations.
      await tx.get(`SELECT 1 FROM keys.service_keys WHERE name = 'digest' AND id = '1' FOR UPDATE`);
      if (!isDue(await installationKeys(tx, NAME))) return undefined;
      const createdAt = this.clock.nowIso();
      await tx.run(
        'UPDATE keys.service_keys SET retired_at = ? WHERE name = ? AND retired_at IS NULL',
        ...[createdAt, NAME],
      );
      const seed = this.random.bytes(SEED_BYTES);
      const jwk = jwkOf(privateKey(seed));
      await addInstallationKey(tx, NAME, {
        id: jwk.kid,
        sealed: this.keyring.encrypt(seed.toString('base64url'), contextOfSecret(NAME, jwk.kid)),
        public_part: JSON.stringify(jwk),
        created_at: createdAt,
      });
      return jwk.kid;
    });
  }

  private inForce(): Promise<SigningKey> {
    const nowMs = this.clock.monotonicMs();
    if (this.present === undefined || nowMs - this.readMs > TRUSTED_MS) {
      this.readMs = nowMs;
      this.present = this.read();
      // A failed reading is not kept: the next call reads again.
      this.present.catch(() => (this.readMs = -Infinity));
    }
    return this.present;
  }

  private async read(): Promise<SigningKey> {
    // Not inside a unit, since the caller may be inside one.
    const row = await this.unitOfWork.get<ServiceKeyRow>(
      `SELECT id, sealed FROM keys.service_keys WHERE name = ? AND retired_at IS NULL ORDER BY created_at DESC LIMIT 1`,
      NAME,
    );
    if (row === undefined) throw new OwnError('There is no signing key');
    const key = this.opened(row);
    return { kid: jwkOf(key).kid, key };
  }

  /** The public key; undefined for a row that the keyring did not encrypt. */
  private publicOf(row: ServiceKeyRow): PublicKey | undefined {
    try {
      const jwk = jwkOf(this.opened(row));
      return row.retired_at === null ? jwk : { ...jwk, retired_at: row.retired_at };
    } catch (error) {
      if (error instanceof UnreadableSecretError) return undefined;
      throw error;
    }
  }

  private opened({ id, sealed }: Pick<ServiceKeyRow, 'id' | 'sealed'>): KeyObject {
    return privateKey(Buffer.from(this.keyring.decrypt(sealed, contextOfSecret(NAME, id)), 'base64url'));
  }
}

function isRetired({ retired_at: retiredAt }: ServiceKeyRow): boolean {
  return retiredAt !== null;
}

function privateKey(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** The id is the thumbprint (RFC 7638): the hash of the required members, ordered by name. */
function jwkOf(key: KeyObject): PublicKey {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const members = { crv: 'Ed25519', kty: 'OKP', x } as const;
  const kid = hash('sha256', JSON.stringify(members), 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const PREFIX = 'whsec_';
const WEBHOOK_SECRET_BYTES = 32;

/** A new signing secret in the form of Standard Webhooks: `whsec_` and 256 random bits in base64. */
export function newWebhookSecret(random: Random): string {
  return PREFIX + random.bytes(WEBHOOK_SECRET_BYTES).toString('base64');
}

/** `X-GDPR-Signature`. The key is the UTF-8 bytes of the whole secret, so that any HMAC function can verify it. */
export function gdprSignature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/**
 * One entry of `webhook-signature` (Standard Webhooks). It covers id and time, so that a receiver can refuse an old
 * call.
 */
export function standardSignature(secret: string, id: string, seconds: number, body: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
}
