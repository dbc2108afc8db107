import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectKeys } from '@app/crypto';
import { OwnError } from '@app/kernel';
import type { Subject } from '@app/subjects';
import type { ClaimName, Form } from './form';

/** Forms of outcomes that are stored encrypted. */
@Injectable()
export class EncryptedForms {
  constructor(
    private readonly keys: InstallationKeys,
    private readonly subjectKeys: SubjectKeys,
  ) {}

  /** An outcome that is secret, or names a guild. It outlives every subject. */
  ofInstallation<Outcome>(): Form<Outcome> {
    const { installation } = this.keys;
    return {
      write: (outcome, claim) => ({ text: installation.encrypt(JSON.stringify(outcome), contextOf(claim)) }),
      read: (text, claim) => JSON.parse(installation.decrypt(text, contextOf(claim))) as Outcome,
    };
  }

  /** An outcome about a subject, encrypted with the key of the subject. */
  ofSubject<Outcome>(subjectOf: (outcome: Outcome) => Subject): Form<Outcome> {
    return {
      write: async (outcome, claim, tx) => {
        const subject = subjectOf(outcome);
        const key = await this.subjectKeys.forWriting(tx, subject);
        return { text: key.encrypt(JSON.stringify(outcome), contextOf(claim)), subject };
      },
      read: async (text, claim, tx, subject) => {
        const key = subject && (await this.subjectKeys.inForce(tx, subject));
        if (key === undefined) throw new OwnError('The key of a stored answer is missing');
        return JSON.parse(key.decrypt(text, contextOf(claim))) as Outcome;
      },
    };
  }
}

/** The context of an encrypted answer. */
function contextOf({ botId, id }: ClaimName): string {
  return `idempotency_keys/${botId}/${id}`;
}
