import { Injectable } from '@nestjs/common';
import { Random } from '@app/kernel';
import { ERASED_IDS, type Subject, type SubjectIds, subjectOf } from '@app/subjects';
import type { DeletionRequest } from './deletion-request.entity';
import { commitmentTo, ErasedSubject } from './erased-subject';

const SALT_BYTES = 16;

/** A request that is not recorded yet. */
export interface NewErasure {
  readonly id: string;
  readonly subjectCommitment: string;
  /** Undefined where they are unknown: the subject was found in a restored backup without its key. */
  readonly ids: SubjectIds | undefined;
  /** The page on which the user has asked for it; undefined for a call of the bot. */
  readonly via: string | undefined;
}

/** The request of a subject with these ids. */
export type ErasureOf = (ids: SubjectIds | undefined) => NewErasure;

/** A new erasure whose subject has no ids yet. */
export interface Prepared {
  readonly id: string;
  /** Makes the request, the same at each call. */
  readonly of: ErasureOf;
  readonly certificateSalt: string;
}

/** Makes the requests of new erasures. */
@Injectable()
export class NewErasures {
  constructor(
    private readonly random: Random,
    private readonly erased: ErasedSubject,
  ) {}

  prepare(botId: string, via?: string, id = this.random.uuid()): Prepared {
    const salt = this.random.bytes(SALT_BYTES);
    const of: ErasureOf = (ids) => ({
      id,
      subjectCommitment: commitmentTo(botId, ids ?? ERASED_IDS, salt),
      ids,
      via,
    });
    return { id, of, certificateSalt: salt.toString('base64url') };
  }

  /** The request as it is recorded. */
  requestOf(subject: Subject, erasure: NewErasure, createdAt: string): DeletionRequest {
    const { id, subjectCommitment, ids = ERASED_IDS, via = null } = erasure;
    return {
      id,
      ...subjectOf(subject),
      status: 'processing',
      deletedCategories: null,
      webhookSent: 0,
      createdAt,
      completedAt: null,
      unrecoverableAt: null,
      subject: this.erased.encrypt(subject.botId, id, ids, subjectCommitment),
      subjectCommitment,
      keyId: null,
      erasedRows: null,
      certificate: null,
      via,
    };
  }

  /** The ids of the subject of a request; zeros where they are unknown. */
  idsOf(request: DeletionRequest): SubjectIds {
    return this.erased.idsOf(request);
  }
}
