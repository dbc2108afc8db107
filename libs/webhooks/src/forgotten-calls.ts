import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectDigests } from '@app/crypto';
import { encryptedBy } from '@app/primitives';
import type { Subject } from '@app/subjects';

/** What is stored of the call that tells of an erasure. */
export interface ForgottenCall {
  readonly userId: string;
  readonly guildId: string;
  readonly payload: string;
}

/**
 * Keeps calls that tell of an erasure from naming in plain whom it was about: the body is sealed with a key of the
 * installation, and in the place of the ids stand digests, by which whoever knows the id still finds the call.
 */
@Injectable()
export class ForgottenCalls {
  constructor(
    private readonly keys: InstallationKeys,
    private readonly digests: SubjectDigests,
  ) {}

  /** How a call about an erased subject is stored. */
  stored(subject: Subject, requestId: string, payload: string): ForgottenCall {
    const { userId, guildId } = this.digests.digested(subject);
    return { userId, guildId, payload: this.encrypt(subject.botId, requestId, payload) };
  }

  encrypt(botId: string, requestId: string, payload: string): string {
    return this.keys.installation.encrypt(payload, contextOf(botId, requestId));
  }

  /** The body as it is sent. One of another event stands in plain. @throws UnreadableSecretError */
  decrypt(botId: string, requestId: string | null, payload: string): string {
    if (encryptedBy(payload) !== this.keys.installation.id || requestId === null) return payload;
    return this.keys.installation.decrypt(payload, contextOf(botId, requestId));
  }

  /** Both ids under which calls about a user stand: of other events, and of erasures. */
  namesOf(botId: string, userId: string): [userId: string, erasedUserId: string] {
    return [userId, this.digests.of(botId, 'user', userId)];
  }
}

function contextOf(botId: string, requestId: string): string {
  return `webhook_deliveries/${botId}/${requestId}`;
}
