import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectDigests } from '@app/crypto';
import { type Subject, subjectName } from '@app/subjects';
import type { DeletionRequest } from './deletion-request.entity';

/** How the installation of an erasure names its subject: by digests, and sealed for the bot that asks for its own request. */
@Injectable()
export class ErasedSubject {
  constructor(
    private readonly keys: InstallationKeys,
    private readonly digests: SubjectDigests,
  ) {}

  /** What stands in the row of a completed request. */
  columnsOf(subject: Subject, requestId: string): Record<'guildId' | 'userId' | 'subject', string> {
    const { guildId, userId } = this.digests.digested(subject);
    const ids = JSON.stringify([subject.guildId, subject.userId]);
    return {
      guildId,
      userId,
      subject: this.keys.installation.encrypt(ids, contextOf(subject.botId, requestId)),
    };
  }

  /** The ids that the request was about. */
  of({ botId, id, guildId, userId, subject }: DeletionRequest): Subject {
    if (subject === null) return { botId, guildId, userId };
    const opened = JSON.parse(this.keys.installation.decrypt(subject, contextOf(botId, id))) as [
      string,
      string,
    ];
    return { botId, guildId: opened[0], userId: opened[1] };
  }

  /** Both names of a subject in the table of requests: while anything is held, and after its erasure. */
  namesOf(subject: Subject): [guildId: string, userId: string, erasedGuildId: string, erasedUserId: string] {
    const { guildId, userId } = this.digests.digested(subject);
    return [subject.guildId, subject.userId, guildId, userId];
  }
}

/** The condition for {@link ErasedSubject.namesOf}. */
export const OF_SUBJECT = '((guild_id = ? AND user_id = ?) OR (guild_id = ? AND user_id = ?))';

/** What a certificate says about whom it is: whoever has the salt and the ids can tell, nobody else. */
export function commitmentTo(subject: Subject, salt: Buffer): string {
  const hash = createHash('sha256').update(salt).update(Buffer.of(0));
  return hash.update(subjectName(subject)).digest('base64url');
}

function contextOf(botId: string, requestId: string): string {
  return `deletion_requests/${botId}/${requestId}`;
}
