import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectDigests } from '@app/crypto';
import { encryptedBy } from '@app/primitives';
import type { Subject } from '@app/subjects';

/** The stored form of a call about an erasure. */
export interface ForgottenCall {
  readonly userId: string;
  readonly guildId: string;
  readonly payload: string;
}

/**
 * Stores calls about an erasure without readable ids: the body is encrypted with an installation key, and digests replace
 * the ids. A search by the id itself still finds the call.
 */
@Injectable()
export class ForgottenCalls {
  constructor(
    private readonly keys: InstallationKeys,
    private readonly digests: SubjectDigests,
  ) {}

  /** The stored form of a call about an erased subject. */
  stored(subject: Subject, requestId: string, payload: string): ForgottenCall {
    const { userId, guildId } = this.digests.digested(subject);
    return { userId, guildId, payload: this.encrypt(subject.botId, requestId, payload) };
  }

  encrypt(botId: string, requestId: string, payload: string): string {
    return this.keys.installation.encrypt(payload, contextOf(botId, requestId));
  }

  /** The body of the call. Bodies of other events are not encrypted. @throws UnreadableSecretError */
  decrypt(botId: string, requestId: string | null, payload: string): string {
    if (encryptedBy(payload) !== this.keys.installation.id || requestId === null) return payload;
    return this.keys.installation.decrypt(payload, contextOf(botId, requestId));
  }

  /** Both ids in stored calls about a user: of erasures and of other events. */
  namesOf(botId: string, userId: string): [userId: string, erasedUserId: string] {
    return [userId, this.digests.of(botId, 'user', userId)];
  }
}

function contextOf(botId: string, requestId: string): string {
  return `webhook_deliveries/${botId}/${requestId}`;
}
