import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InstallationKeys } from '@app/crypto';
import { ERASED_IDS, type SubjectIds } from '@app/subjects';
import type { DeletionRequest } from './deletion-request.entity';

/**
 * Keeps the ids of a request's subject for the answer to its bot, with the commitment of its certificate, encrypted with
 * the installation key.
 */
@Injectable()
export class ErasedSubject {
  constructor(private readonly keys: InstallationKeys) {}

  encrypt(botId: string, requestId: string, ids: SubjectIds, commitment: string): string {
    return this.keys.installation.encrypt(
      JSON.stringify([ids.guild_id, ids.user_id, commitment]),
      contextOf(botId, requestId),
    );
  }

  /** Zeros where they are unknown: the subject was found in a restored backup without its key. */
  idsOf(request: DeletionRequest): SubjectIds {
    const [guild_id, user_id] = this.partsOf(request);
    return { guild_id, user_id };
  }

  /** Undefined for a request that a restore has only noted. */
  commitmentOf(request: DeletionRequest): string | undefined {
    return this.partsOf(request)[2];
  }

  private partsOf({ botId, id, subject }: DeletionRequest): Parts {
    if (subject === null) return [ERASED_IDS.guild_id, ERASED_IDS.user_id];
    return JSON.parse(this.keys.installation.decrypt(subject, contextOf(botId, id))) as Parts;
  }
}

type Parts = readonly [guildId: string, userId: string, commitment?: string];

/** Base64url SHA-256 over the salt, a zero byte and the ids: only the salt and the ids together lead to it. */
export function commitmentTo(botId: string, { guild_id, user_id }: SubjectIds, salt: Buffer): string {
  const hash = createHash('sha256').update(salt).update(Buffer.of(0));
  return hash.update(`${botId}/${guild_id}/${user_id}`).digest('base64url');
}

function contextOf(botId: string, requestId: string): string {
  return `deletion_requests/${botId}/${requestId}`;
}
