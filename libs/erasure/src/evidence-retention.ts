import { Inject, Injectable } from '@nestjs/common';
import { ConsentHistoryPruning } from '@app/consent';
import type { Lease } from '@app/jobs';
import { Clock, CONFIG, type Config, daysAfter } from '@app/kernel';
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

  /** Removes records that are too old, in batches of the lease; answers their number. */
  async prune(lease: Lease, botId: string, stopping: AbortSignal): Promise<number> {
    const { ledger, before } = this.cutoffs();
    // In this order: a start takes an entry without its request for the sign of a restored backup.
    const entries = await this.erasures.pruneLedger(lease, botId, ledger, stopping);
    const requests = await this.erasures.pruneRequests(lease, botId, before, stopping);
    const consents = await this.consents.pruneBefore(lease, botId, before, stopping);
    const events = await this.audit.pruneBefore(lease, botId, before, stopping);
    return entries + requests + consents + events;
  }

  /** {@link prune} of the ledger of deleted bots, which outlives them. */
  pruneOfGoneBots(lease: Lease, stopping: AbortSignal): Promise<number> {
    return this.erasures.pruneOfGoneBots(lease, this.cutoffs().ledger, stopping);
  }

  /** Numbers of the records that {@link prune} would remove now, or in some days. */
  async expired(botId: string, inDays = 0): Promise<ExpiredRecords> {
    const { ledger, before } = this.cutoffs(inDays);
    const { entries, requests } = await this.erasures.expired(botId, ledger, before);
    return {
      ledgerEntries: entries,
      deletionRequests: requests,
      consentEntries: await this.consents.endedEntries(botId, before),
      auditEvents: await this.audit.expiredEvents(botId, before),
    };
  }

  /** ISO times before which entries of the ledger, and all other records, are too old. */
  private cutoffs(inDays = 0): { readonly ledger: string; readonly before: string } {
    return {
      ledger: daysAfter(ledgerBegins(this.clock, this.config), inDays),
      before: this.clock.daysAgoIso(this.config.evidenceRetentionDays - inDays),
    };
  }
}
