import type { Tx } from '@app/database';
import type { NamedSubject } from '@app/subjects';

/** A consent that was withdrawn. */
export interface Revoked {
  readonly subject: NamedSubject;
  readonly revokedAt: string;
  readonly previousVersion: string;
}

/** Consents were withdrawn (GDPR Art. 7(3)). Published inside the withdrawing unit. */
export class ConsentsRevoked {
  constructor(
    readonly tx: Tx,
    readonly revoked: readonly Revoked[],
  ) {}
}
