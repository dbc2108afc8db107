import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectKeys } from '@app/crypto';
import { encryptedBy } from '@app/primitives';
import type { NamedSubject, Subject } from '@app/subjects';
import { answerErased } from './claim';
import type { ClaimName, Form } from './form';

/** Forms of outcomes that are stored encrypted. */
@Injectable()
export class EncryptedForms {
  constructor(
    private readonly keys: InstallationKeys,
    private readonly subjectKeys: SubjectKeys,
  ) {}

  /** An outcome that is secret, or names a guild, with the key of the installation. It outlives every subject. */
  ofInstallation<Outcome>(): Form<Outcome> {
    const { installation } = this.keys;
    return {
      write: (outcome, claim) => installation.encrypt(JSON.stringify(outcome), contextOf(claim)),
      read: ({ text, claim }) => JSON.parse(installation.decrypt(text, contextOf(claim))) as Outcome,
    };
  }

  /**
   * An outcome about a subject, with the key of the subject. After its erasure a repeat is 409 `idempotency_answer_erased`.
   */
  ofSubject<Outcome>(subject: Subject | NamedSubject): Form<Outcome> {
    return {
      write: async (outcome, claim, tx) => {
        const key = await this.subjectKeys.forWriting(tx, subject);
        return key.encrypt(JSON.stringify(outcome), contextOf(claim));
      },
      read: async ({ text, claim, tx }) => {
        const key = await this.subjectKeys.inForce(tx, subject);
        if (key === undefined || encryptedBy(text) !== key.id) throw answerErased();
        return JSON.parse(key.decrypt(text, contextOf(claim))) as Outcome;
      },
    };
  }
}

/** The context of an encrypted answer. */
function contextOf({ botId, id }: ClaimName): string {
  return `idempotency_keys/${botId}/${id}`;
}
