import type { Tx, UnitOfWork } from '@app/database';
import { OwnError, type Clock, type Random, StartError } from '@app/kernel';
import { UnreadableSecretError } from '@app/primitives';
import { type Keyring, missingKey } from './keyring';
import { SubjectKey } from './subject-key';

const SECRET_BYTES = 32;

/** A secret of the installation, such as it is stored. */
export interface ServiceKeyRow {
  readonly id: string;
  readonly sealed: string;
  readonly public_part: string | null;
  readonly created_at: string;
  readonly retired_at: string | null;
}

/**
 * The secrets of the installation itself: random, sealed by the keyring, the same in every process, and kept when the
 * master key changes.
 */
export class InstallationKeys {
  private constructor(
    /** Keys the digests by which an erased person can be recognised, but not found out. */
    readonly digest: Buffer,
    /** Seals what the service has to keep about an erasure, once the key of its subject is gone. */
    readonly installation: SubjectKey,
  ) {}

  /** Reads them, or makes them at the first start. @throws StartError when they were sealed with another master key */
  static async open(
    unitOfWork: UnitOfWork,
    keyring: Keyring,
    clock: Clock,
    random: Random,
  ): Promise<InstallationKeys> {
    const secret = async (name: string): Promise<Buffer> => {
      const row = await unitOfWork.write(async (tx) => {
        const [found] = await installationKeys(tx, name);
        if (found !== undefined) return found;
        const id = '1';
        const text = random.bytes(SECRET_BYTES).toString('base64url');
        const sealed = keyring.encrypt(text, contextOf(name, id));
        await addInstallationKey(tx, name, { id, sealed, public_part: null, created_at: clock.nowIso() });
        return (await installationKeys(tx, name))[0];
      });
      return Buffer.from(opened(keyring, name, row), 'base64url');
    };
    const digest = await secret('digest');
    const evidence = await secret('evidence');
    return new InstallationKeys(digest, new SubjectKey('evidence', evidence, random));
  }
}

/** Every key of a name, the newest first. */
export function installationKeys(tx: Tx, name: string): Promise<ServiceKeyRow[]> {
  return tx.all<ServiceKeyRow>(
    `SELECT id, sealed, public_part, created_at, retired_at FROM keys.service_keys
     WHERE name = ? ORDER BY created_at DESC, id`,
    name,
  );
}

/**
 * A new master key opens nothing that an older one has encrypted.
 * @throws StartError where something is encrypted already
 */
export async function requireUnencrypted(unitOfWork: UnitOfWork, keyFile: string): Promise<void> {
  const found = await unitOfWork.read((tx) => tx.get('SELECT 1 AS found FROM keys.service_keys LIMIT 1'));
  if (found === undefined) return;
  throw new StartError(
    `The keys of this database were encrypted with another master key, and there is no key file ${keyFile}. ` +
      'Set LETHE_MASTER_KEY as it was, or put the key file back.',
  );
}

/** Adds one, unless another process was faster with the same. */
export async function addInstallationKey(
  tx: Tx,
  name: string,
  { id, sealed, public_part: publicPart, created_at: createdAt }: Omit<ServiceKeyRow, 'retired_at'>,
): Promise<void> {
  await tx.run(
    `INSERT INTO keys.service_keys (name, id, sealed, public_part, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    ...[name, id, sealed, publicPart, createdAt],
  );
}

/** What a stored key is bound to. */
export function contextOf(name: string, id: string): string {
  return `service_keys/${name}/${id}`;
}

function opened(keyring: Keyring, name: string, row: ServiceKeyRow | undefined): string {
  if (row === undefined) throw new OwnError(`The service key ${name} is missing`);
  try {
    return keyring.decrypt(row.sealed, contextOf(name, row.id));
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw new StartError(
      `The keys of this database were encrypted with another master key${missingKey(error)}. ` +
        'Restore LETHE_MASTER_KEY, or the key file beside the database, as it was.',
    );
  }
}
