import { Inject, Injectable } from '@nestjs/common';
import { ConsentHistoryPruning } from '@app/consent';
import type { Batches } from '@app/jobs';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { AuditPruning } from '@app/sealing';
import { ErasurePruning } from './erasure-pruning';
import { ledgerBegins } from './unknown-erasures';

/** Numbers of records. */
export interface ExpiredRecords {
  readonly ledgerEntries: number;
  readonly deletionRequests: number;
  readonly consentEntries: number;
  readonly auditEvents: number;
}

/**
 * Holds the records that prove a bot's acts (GDPR Art. 5(2)) to `EVIDENCE_RETENTION_DAYS`. The ledger of erasures stays
 * for `BACKUP_RETENTION_DAYS` if that is longer: with it a restored backup is erased again.
 */
@Injectable()
export class EvidenceRetention {
  constructor(
    private readonly erasures: ErasurePruning,
    private readonly consents: ConsentHistoryPruning,
    private readonly audit: AuditPruning,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Removes records that are too old. */
  async *prune(botId: string): Batches {
    const { ledger, before } = this.cutoffs();
    // In this order: a start takes an entry without its request for the sign of a restored backup.
    yield* this.erasures.pruneLedger(botId, ledger);
    yield* this.erasures.pruneRequests(botId, before);
    yield* this.consents.pruneBefore(botId, before);
    yield* this.audit.pruneBefore(botId, before);
  }

  /** {@link prune} of the ledger of deleted bots, which outlives them. */
  pruneOfGoneBots(): Batches {
    return this.erasures.pruneOfGoneBots(this.cutoffs().ledger);
  }

  /** Numbers of the records that {@link prune} would remove. */
  async expired(botId: string): Promise<ExpiredRecords> {
    const { ledger, before } = this.cutoffs();
    const { entries, requests } = await this.erasures.expired(botId, ledger, before);
    return {
      ledgerEntries: entries,
      deletionRequests: requests,
      consentEntries: await this.consents.endedEntries(botId, before),
      auditEvents: Number(await this.audit.expiredEvents(botId, before)),
    };
  }

  /** ISO times before which entries of the ledger, and all other records, are too old. */
  private cutoffs(): { readonly ledger: string; readonly before: string } {
    return {
      ledger: ledgerBegins(this.clock, this.config),
      before: this.clock.daysAgoIso(this.config.evidenceRetentionDays),
    };
  }
}
