import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import {
  ERASED_IDS,
  ifReadable,
  InstallationKeys,
  type NamedSubject,
  type Subject,
  SubjectDigests,
  type SubjectIds,
  subjectOf,
} from '@app/crypto';
import type { Actor } from '@app/http';
import { Random } from '@app/kernel';
import type { DeletionRequest } from './deletion-request.entity';

const SALT_BYTES = 16;

/** An erasure that is not recorded yet. */
export interface NewErasure {
  readonly id: string;
  /** Has no ids if they are unknown: the subject was found in a restored backup without its key. */
  readonly subject: Subject | NamedSubject;
  readonly certificateSalt: string;
  readonly by: Actor;
}

/** The ids of a subject, and the commitment of its certificate unless the ids are unknown. */
type Parts = readonly [guildId: string, userId: string, commitment?: string];

/**
 * Makes the records of erasures. A record keeps the ids of its subject for the answer to the bot, with the commitment of
 * its certificate, encrypted with the installation key.
 */
@Injectable()
export class ErasureRecords {
  private readonly logger = new Logger(ErasureRecords.name);

  constructor(
    private readonly random: Random,
    private readonly keys: InstallationKeys,
    private readonly digests: SubjectDigests,
  ) {}

  /** A new erasure, with an id and a salt. */
  prepare(subject: Subject, by: Actor, id = this.random.uuid()): NewErasure {
    return { id, subject, certificateSalt: this.random.bytes(SALT_BYTES).toString('base64url'), by };
  }

  /** The request as it is recorded. */
  requestOf({ id, subject, certificateSalt, by }: NewErasure, createdAt: string): DeletionRequest {
    const ids = 'ids' in subject ? subject.ids : ERASED_IDS;
    const subjectCommitment = commitmentTo(subject.botId, ids, Buffer.from(certificateSalt, 'base64url'));
    const parts: Parts = [ids.guild_id, ids.user_id, subjectCommitment];
    return {
      id,
      ...subjectOf(subject),
      status: 'processing',
      deletedCategories: null,
      webhookSent: 0,
      createdAt,
      completedAt: null,
      unrecoverableAt: null,
      subject: this.keys.installation.encrypt(JSON.stringify(parts), contextOfRequest(subject.botId, id)),
      subjectCommitment,
      keyId: null,
      erasedRows: null,
      certificate: null,
      by,
    };
  }

  /** The ids of the subject of a request; zeros if they are unknown or damaged. */
  idsOf(request: DeletionRequest): SubjectIds {
    const [guild_id, user_id] = this.partsOf(request);
    return { guild_id, user_id };
  }

  /** The subject of a request; undefined if the id of its user is unknown or damaged. */
  namedOf(request: DeletionRequest): NamedSubject | undefined {
    const subject = { ...subjectOf(request), ids: this.idsOf(request) };
    return this.digests.namesUser(subject) ? subject : undefined;
  }

  /** Undefined for a request that a restore has only noted, and for a damaged one. */
  commitmentOf(request: DeletionRequest): string | undefined {
    return this.partsOf(request)[2];
  }

  /** Damage to one request hides no other, and holds up no erasure: its key may be destroyed already. */
  private partsOf({ botId, id, subject }: DeletionRequest): Parts {
    const unknown = [ERASED_IDS.guild_id, ERASED_IDS.user_id] as const;
    if (subject === null) return unknown;
    const json = ifReadable(() => this.keys.installation.decrypt(subject, contextOfRequest(botId, id)));
    if (json !== undefined) return JSON.parse(json) as Parts;
    this.logger.error(`The ids of the erasure request ${id} cannot be decrypted: they are shown as zeros`);
    return unknown;
  }
}

/** Base64url SHA-256 over the salt, a zero byte and the ids: only the salt and the ids together lead to it. */
function commitmentTo(botId: string, { guild_id, user_id }: SubjectIds, salt: Buffer): string {
  const hash = createHash('sha256').update(salt).update(Buffer.of(0));
  return hash.update(`${botId}/${guild_id}/${user_id}`).digest('base64url');
}

function contextOfRequest(botId: string, id: string): string {
  return `deletion_requests/${botId}/${id}`;
}
