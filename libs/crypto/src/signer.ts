import { notBeforeServer, type UnitOfWork } from '@app/database';
import { type Clock, type Moment, OwnError, type Random } from '@app/kernel';
import { ifReadable } from './aead';
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import {
  addInstallationKey,
  contextOfSecret,
  installationKeys,
  type ServiceKeyRow,
} from './installation-keys';
import type { Keyring } from './keyring';
import { webhookSeed } from './webhook-signatures';

const NAME = 'signing';
const SEED_BYTES = 32;
/** The bytes before the seed of an Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/**
 * How long a process may use its copy of the present key, in milliseconds. After a rotation it may sign with the
 * retired key for this time.
 */
const TRUSTED_MS = 30_000;
/** The webhook keys that a process keeps: to make one takes as long as ten signatures. */
const WEBHOOK_KEYS_MAX = 1_000;

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
  /** A webhook key in the form of Standard Webhooks. */
  readonly webhook_key?: string;
}

interface KeySet {
  readonly keys: readonly PublicKey[];
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
  private present: { readonly key: Promise<SigningKey>; readonly readAt: Moment } | undefined;
  /** The public keys of the last reading. They are read again when a statement names another one. */
  private publicKeys: readonly PublicKey[] = [];
  /** Webhook keys by the signing key and the bot. */
  private readonly webhookKeys = new Map<string, KeyObject>();

  private constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keyring: Keyring,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Makes the first key when there is none. If several processes start at the same time, one of them makes it. */
  static async open(unitOfWork: UnitOfWork, keyring: Keyring, clock: Clock, random: Random): Promise<Signer> {
    const signer = new Signer(unitOfWork, keyring, clock, random);
    const isMissing = (keys: readonly ServiceKeyRow[]): boolean => keys.every(isRetired);
    // Most starts find one, and lock nothing: a process that only reads cannot lock rows.
    if (isMissing(await unitOfWork.read((tx) => installationKeys(tx, NAME)))) await signer.replace(isMissing);
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
  async keySet(): Promise<KeySet> {
    return this.publicKeysOf((key) => jwkOf(key));
  }

  /**
   * The key that signs the calls to one bot at present: a webhook key, made from the signing key in force and the id of the bot.
   * Nothing of it is stored. A call to one bot is no valid call to another, and no statement of the service.
   */
  async webhookKey(botId: string): Promise<KeyObject> {
    const { kid, key } = await this.inForce();
    const name = `${kid}/${botId}`;
    const kept = this.webhookKeys.get(name);
    if (kept !== undefined) return kept;
    const made = webhookKeyOf(key, botId);
    if (this.webhookKeys.size >= WEBHOOK_KEYS_MAX) this.webhookKeys.clear();
    this.webhookKeys.set(name, made);
    return made;
  }

  /**
   * Every key that has ever signed calls to the bot, the one in force first. The set is made from the id alone, so that it
   * tells a stranger nothing about which bots exist.
   */
  async webhookKeySet(botId: string): Promise<KeySet> {
    return this.publicKeysOf((key) => {
      const jwk = jwkOf(webhookKeyOf(key, botId));
      return { ...jwk, webhook_key: `whpk_${Buffer.from(jwk.x, 'base64url').toString('base64')}` };
    });
  }

  /** Puts a new key in force and retires the present one. Returns the id of the new key. */
  async rotate(): Promise<string> {
    const kid = await this.replace(() => true);
    this.present = undefined;
    return kid ?? '';
  }

  private async replace(isDue: (keys: readonly ServiceKeyRow[]) => boolean): Promise<string | undefined> {
    return this.unitOfWork.write(async (tx) => {
      // Every installation has this row. Its lock excludes other rotations.
      await tx.get(`SELECT 1 FROM keys.service_keys WHERE name = 'digest' AND id = '1' FOR UPDATE`);
      if (!isDue(await installationKeys(tx, NAME))) return undefined;
      const createdAt = new Date(await notBeforeServer(tx, this.clock.nowMs())).toISOString();
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
    if (this.present === undefined || this.clock.passedMs(this.present.readAt) > TRUSTED_MS) {
      this.present = { key: this.read(), readAt: this.clock.moment() };
      // A failed reading is not kept: the next call reads again.
      this.present.key.catch(() => (this.present = undefined));
    }
    return this.present.key;
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

  private async publicKeysOf(publicPart: (key: KeyObject) => PublicKey): Promise<KeySet> {
    const rows = await this.unitOfWork.read((tx) => installationKeys(tx, NAME));
    const sorted = [...rows.filter((row) => !isRetired(row)), ...rows.filter(isRetired)];
    return { keys: sorted.flatMap((row) => this.publicOf(row, publicPart) ?? []) };
  }

  /** The public key; undefined for a row that the keyring did not encrypt. */
  private publicOf(row: ServiceKeyRow, publicPart: (key: KeyObject) => PublicKey): PublicKey | undefined {
    const jwk = ifReadable(() => publicPart(this.opened(row)));
    return jwk === undefined || row.retired_at === null ? jwk : { ...jwk, retired_at: row.retired_at };
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

function webhookKeyOf(key: KeyObject, botId: string): KeyObject {
  const { d = '' } = key.export({ format: 'jwk' });
  return privateKey(webhookSeed(Buffer.from(d, 'base64url'), botId));
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
