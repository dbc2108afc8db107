import { Injectable } from '@nestjs/common';
import { InstallationKeys } from '@app/crypto';
import type { ClaimName, Form } from './form';

/** Forms of outcomes that are stored encrypted with the key of the installation. */
@Injectable()
export class EncryptedForms {
  constructor(private readonly keys: InstallationKeys) {}

  /** An outcome that is secret, or names a guild. It outlives every subject. */
  ofInstallation<Outcome>(): Form<Outcome> {
    const { installation } = this.keys;
    return {
      write: (outcome, claim) => ({ text: installation.encrypt(JSON.stringify(outcome), contextOf(claim)) }),
      read: ({ text, claim }) => JSON.parse(installation.decrypt(text, contextOf(claim))) as Outcome,
    };
  }
}

/** The context of an encrypted answer. */
function contextOf({ botId, id }: ClaimName): string {
  return `idempotency_keys/${botId}/${id}`;
}
