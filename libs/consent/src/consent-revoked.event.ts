import type { Tx } from '@app/database';
import type { NamedSubject } from '@app/subjects';

/** A consent was withdrawn (GDPR Art. 7(3)). Published inside the withdrawing unit. */
export class ConsentRevoked {
  constructor(
    readonly tx: Tx,
    readonly subject: NamedSubject,
    readonly revokedAt: string,
    readonly previousVersion: string,
  ) {}
}
