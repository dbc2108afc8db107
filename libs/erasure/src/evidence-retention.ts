import { Inject, Injectable } from '@nestjs/common';
import { ConsentHistoryPruning } from '@app/consent';
import type { Lease } from '@app/jobs';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { AuditPruning } from '@app/sealing';
import { ErasurePruning } from './erasure-pruning';
import { ledgerBegins } from './unknown-erasures';

/** Records of each kind. */
export interface ExpiredRecords {
  readonly ledgerEntries: number;
  readonly deletionRequests: number;
  readonly consentEntries: number;
  readonly auditEvents: number;
}

/**
 * What is kept of a bot to prove what was done (GDPR Art. 5(2)), for `EVIDENCE_RETENTION_DAYS`. The ledger of erasures
 * stays as long as backups do, if they stay longer: it is what keeps a restored one from bringing anybody back.
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

  /** Removes what is too old, in batches of the lease; answers how many records. */
  async prune(lease: Lease, botId: string, stopping: AbortSignal): Promise<number> {
    const { ledger, before } = this.cutoffs();
    // In this order: of an entry whose request is gone a start would think that a backup was restored.
    const entries = await this.erasures.pruneLedger(lease, botId, ledger, stopping);
    const requests = await this.erasures.pruneRequests(lease, botId, before, stopping);
    const consents = await this.consents.pruneBefore(lease, botId, before, stopping);
    const events = await this.audit.pruneBefore(lease, botId, before, stopping);
    return entries + requests + consents + events;
  }

  /** {@link prune} of what outlives a bot: the ledger. */
  pruneOfGoneBots(lease: Lease, stopping: AbortSignal): Promise<number> {
    return this.erasures.pruneOfGoneBots(lease, this.cutoffs().ledger, stopping);
  }

  /** What {@link prune} would remove. */
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

  /** Before which time entries of the ledger, and all else, are too old. */
  private cutoffs(): { readonly ledger: string; readonly before: string } {
    return {
      ledger: ledgerBegins(this.clock, this.config),
      before: this.clock.daysAgoIso(this.config.evidenceRetentionDays),
    };
  }
}
