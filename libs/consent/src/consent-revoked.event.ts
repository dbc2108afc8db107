import type { Tx } from '@app/database';

/** A consent was withdrawn (GDPR Art. 7(3)). Published inside the withdrawing unit. */
export class ConsentRevoked {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly userId: string,
    readonly guildId: string,
    readonly revokedAt: string,
    readonly previousVersion: string,
  ) {}
}
