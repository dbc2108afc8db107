import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InstallationKeys } from '@app/crypto';
import { ERASED_IDS, type SubjectIds } from '@app/subjects';
import type { DeletionRequest } from './deletion-request.entity';

/** Keeps the ids of a request's subject for the answer to its bot, encrypted with the installation key. */
@Injectable()
export class ErasedSubject {
  constructor(private readonly keys: InstallationKeys) {}

  encrypt(botId: string, requestId: string, ids: SubjectIds): string {
    return this.keys.installation.encrypt(
      JSON.stringify([ids.guild_id, ids.user_id]),
      contextOf(botId, requestId),
    );
  }

  /** Zeros where they are unknown: the subject was found in a restored backup without its key. */
  idsOf({ botId, id, subject }: DeletionRequest): SubjectIds {
    if (subject === null) return ERASED_IDS;
    const text = this.keys.installation.decrypt(subject, contextOf(botId, id));
    const [guild_id, user_id] = JSON.parse(text) as [string, string];
    return { guild_id, user_id };
  }
}

/** Base64url SHA-256 over the salt, a zero byte and the ids: only the salt and the ids together lead to it. */
export function commitmentTo(botId: string, { guild_id, user_id }: SubjectIds, salt: Buffer): string {
  const hash = createHash('sha256').update(salt).update(Buffer.of(0));
  return hash.update(`${botId}/${guild_id}/${user_id}`).digest('base64url');
}

function contextOf(botId: string, requestId: string): string {
  return `deletion_requests/${botId}/${requestId}`;
}
