import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectDigests } from '@app/crypto';
import { type Subject, subjectName } from '@app/subjects';
import type { DeletionRequest } from './deletion-request.entity';

/** Names the subject of a completed request: by digests, and by encrypted ids for the answer to the bot. */
@Injectable()
export class ErasedSubject {
  constructor(
    private readonly keys: InstallationKeys,
    private readonly digests: SubjectDigests,
  ) {}

  /** The columns of a completed request. */
  columnsOf(subject: Subject, requestId: string): Record<'guildId' | 'userId' | 'subject', string> {
    const { guildId, userId } = this.digests.digested(subject);
    const ids = JSON.stringify([subject.guildId, subject.userId]);
    return {
      guildId,
      userId,
      subject: this.keys.installation.encrypt(ids, contextOf(subject.botId, requestId)),
    };
  }

  /** The ids of the request's subject. */
  of({ botId, id, guildId, userId, subject }: DeletionRequest): Subject {
    if (subject === null) return { botId, guildId, userId };
    const opened = JSON.parse(this.keys.installation.decrypt(subject, contextOf(botId, id))) as [
      string,
      string,
    ];
    return { botId, guildId: opened[0], userId: opened[1] };
  }

  /** The ids of a subject in a request, before and after its erasure. */
  namesOf(subject: Subject): [guildId: string, userId: string, erasedGuildId: string, erasedUserId: string] {
    const { guildId, userId } = this.digests.digested(subject);
    return [subject.guildId, subject.userId, guildId, userId];
  }
}

/** Base64url SHA-256 over the salt, a zero byte and the ids: only the salt and the ids together lead to it. */
export function commitmentTo(subject: Subject, salt: Buffer): string {
  const hash = createHash('sha256').update(salt).update(Buffer.of(0));
  return hash.update(subjectName(subject)).digest('base64url');
}

function contextOf(botId: string, requestId: string): string {
  return `deletion_requests/${botId}/${requestId}`;
}
