import type { Tx, UnitOfWork } from '@app/database';
import { type Clock, OwnError, type Random, StartError } from '@app/kernel';
import { type Digest, DigestKey } from './keyed-digest';
import { UnreadableSecretError } from './aead';
import { ERASED_ID, type NamedSubject, type Subject, type SubjectIds } from './subject';
import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { Entity, PrimaryColumn } from 'typeorm';
import { type Keyring, missingKey } from './keyring';
import { SubjectKey } from './subject-key';

const SECRET_BYTES = 32;

/** The installation whose keys the data needs: one row, written at the first start. */
@Entity('installation')
export class Installation {
  /** A digest under the digest key. It tells nothing about the key, and no other key has it. */
  @PrimaryColumn({ type: 'varchar', length: 43 }) id: string;
}

/** A stored key of the installation. */
export interface ServiceKeyRow {
  readonly id: string;
  readonly sealed: string;
  readonly public_part: string | null;
  readonly created_at: string;
  readonly retired_at: string | null;
}

/**
 * The keys of the installation: random, encrypted by the keyring, the same in every process, and kept when the master
 * key changes.
 */
export class InstallationKeys {
  private constructor(
    /** The key of the digests that replace ids: an erased person can be recognised by them, but not identified. */
    readonly digest: Buffer,
    /** Encrypts what the service must keep about an erasure after the subject key is destroyed. */
    readonly installation: SubjectKey,
  ) {}

  /**
   * Reads the keys, or makes them at the first start.
   * @throws StartError when another master key encrypted them, or the data needs the keys of another installation
   */
  static async open(
    unitOfWork: UnitOfWork,
    keyring: Keyring,
    clock: Clock,
    random: Random,
  ): Promise<InstallationKeys> {
    const needed = await unitOfWork.get<{ id: string }>('SELECT id FROM installation');
    const secret = async (name: string): Promise<Buffer> => {
      const row = await unitOfWork.write(async (tx) => {
        const [found] = await installationKeys(tx, name);
        if (found !== undefined) return found;
        if (needed !== undefined) throw otherInstallation();
        const id = '1';
        const text = random.bytes(SECRET_BYTES).toString('base64url');
        const sealed = keyring.encrypt(text, contextOfSecret(name, id));
        await addInstallationKey(tx, name, { id, sealed, public_part: null, created_at: clock.nowIso() });
        return (await installationKeys(tx, name))[0];
      });
      return Buffer.from(opened(keyring, name, row), 'base64url');
    };
    const digest = await secret('digest');
    const evidence = await secret('evidence');
    const id = createHmac('sha256', digest).update('lethe/installation').digest('base64url');
    // SQLite commits to its two files one after the other. The keys are durable here, so that no data needs lost ones.
    if (needed === undefined)
      await unitOfWork.write((tx) =>
        tx.run('INSERT INTO installation (id) VALUES (?) ON CONFLICT DO NOTHING', id),
      );
    else if (needed.id !== id) throw otherInstallation();
    return new InstallationKeys(digest, new SubjectKey('evidence', evidence, random));
  }
}

/** Every key with this name, the newest first. */
export function installationKeys(tx: Tx, name: string): Promise<ServiceKeyRow[]> {
  return tx.all<ServiceKeyRow>(
    `SELECT id, sealed, public_part, created_at, retired_at FROM keys.service_keys
     WHERE name = ? ORDER BY created_at DESC, id`,
    name,
  );
}

/**
 * Refuses to start with a new master key when texts exist that an older one has encrypted.
 * @throws StartError when the database holds such texts
 */
export async function requireUnencrypted(unitOfWork: UnitOfWork, keyFile: string): Promise<void> {
  const found = await unitOfWork.read((tx) => tx.get('SELECT 1 AS found FROM keys.service_keys LIMIT 1'));
  if (found === undefined) return;
  throw new StartError(
    `The keys of this database were encrypted with another master key, and there is no key file ${keyFile}, or an empty one. ` +
      'Set LETHE_MASTER_KEY, LETHE_MASTER_KEY_FILE or LETHE_MASTER_KEY_COMMAND as it was, or put the key file back.',
  );
}

/** Adds a key, unless another process has added the same one first. */
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

/** The context of a stored key. */
export function contextOfSecret(name: string, id: string): string {
  return `service_keys/${name}/${id}`;
}

function opened(keyring: Keyring, name: string, row: ServiceKeyRow | undefined): string {
  if (row === undefined) throw new OwnError(`The installation key ${name} is missing`);
  try {
    return keyring.decrypt(row.sealed, contextOfSecret(name, row.id));
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw new StartError(
      `The keys of this database were encrypted with another master key${missingKey(error)}. ` +
        'Restore LETHE_MASTER_KEY, its file, its command, or the key file beside the database, as it was.',
    );
  }
}

function otherInstallation(): StartError {
  return new StartError(
    'The keys are those of another installation than the data. Nothing was changed. Restore keys.db, or the schema "keys", from a ' +
      'backup of the installation that has written the data; or restore the data, if the keys are the right ones.',
  );
}

/**
 * Keyed digests in the place of the ids of users and guilds (GDPR Art. 4(5)). With the ids the rows of a person are
 * found. Without the ids, or without the key of the installation, the person is not.
 */
@Injectable()
export class SubjectDigests {
  private readonly key: DigestKey;

  constructor(keys: InstallationKeys) {
    this.key = new DigestKey(keys.digest);
  }

  /** The subject that a request names. */
  named(botId: string, { guild_id, user_id }: SubjectIds): NamedSubject {
    const ids = { guild_id, user_id };
    return { botId, guildId: this.guild(botId, guild_id), userId: this.user(botId, user_id), ids };
  }

  /**
   * The ids that a subject comes with; undefined without any, and for zeros in place of lost ones. Zeros can be an id too: the
   * digest shows it.
   */
  idsOf(subject: Subject | NamedSubject): SubjectIds | undefined {
    if (!('ids' in subject)) return undefined;
    const { botId, guildId, ids } = subject;
    const isGuild = ids.guild_id !== ERASED_ID || this.guild(botId, ERASED_ID) === guildId;
    return isGuild && this.namesUser(subject) ? ids : undefined;
  }

  /** Whether the id of the user is its own, and not zeros in place of a lost one. */
  namesUser({ botId, userId, ids }: NamedSubject): boolean {
    return ids.user_id !== ERASED_ID || this.user(botId, ERASED_ID) === userId;
  }

  user(botId: string, userId: string): Digest {
    return this.key.of(botId, 'user', userId);
  }

  guild(botId: string, guildId: string): Digest {
    return this.key.of(botId, 'guild', guildId);
  }
}
