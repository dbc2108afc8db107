import { Inject, Injectable } from '@nestjs/common';
import { ledgerEntriesOf, Signer, type Subject, type SubjectIds } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, conflict, daysAfter, notFound } from '@app/kernel';
import { type AuditLogHead, AuditProofs } from '@app/sealing';
import { coverageOf } from '../holders/coverage';
import type { CoverageView } from '../holders/coverage.dto';
import type { DeletionRequest } from './deletion-request.entity';
import { findRequest, newestErasureOf } from './deletion-requests.sql';
import { ErasureRecords } from './erasure-records';
import type { CertificateView, DeletionRequestView } from './erasure.dto';

const CERTIFICATE_TYPE = 'lethe-erasure-certificate+jwt';

/**
 * Shows erasure requests and signs their certificates, which contain no id of the user (GDPR Art. 5(2), 19). A certificate
 * names the subject by a commitment: anyone with the ids and the `certificate_salt` of the erasure's answer can check it.
 */
@Injectable()
export class ErasureRequests {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly signer: Signer,
    private readonly records: ErasureRecords,
    private readonly log: AuditProofs,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** @throws ApiError 404 for an unknown request and for one of another bot */
  async status(botId: string, id: string): Promise<DeletionRequestView> {
    return this.unitOfWork.read(async (tx) => {
      const request = await requireRequest(tx, botId, id);
      const coverage = await coverageOf(tx, botId, request.id, this.clock.nowIso());
      const view = deletionView(request, this.records.idsOf(request));
      return coverage === undefined ? view : { ...view, coverage };
    });
  }

  /** What the bot's own stores have answered to the newest erasure of a subject; undefined without one, and without stores. */
  coverage(subject: Subject): Promise<CoverageView | undefined> {
    return this.unitOfWork.read(async (tx) => {
      const id = await newestErasureOf(tx, subject);
      return id === undefined ? undefined : coverageOf(tx, subject.botId, id, this.clock.nowIso());
    });
  }

  /**
   * Issues the certificate. Once the erased data is unrecoverable, every call returns the same text; until then a
   * certificate is issued at every call, with null as the time.
   * @throws ApiError 404 as {@link status}; 409 `deletion_not_completed`; 409 `no_certificate` if the ledger beside the
   * keys does not contain the erasure of this subject, and for a request that a restore has only noted; 503 while older
   * units keep the log from being sealed.
   */
  async certificate(botId: string, id: string): Promise<CertificateView> {
    const request = await this.completed(botId, id);
    return { certificate: (await this.kept(request)) ?? (await this.issue(request)) };
  }

  /** @throws ApiError 404 as {@link status}; 409 `deletion_not_completed` */
  async completed(botId: string, id: string): Promise<DeletionRequest> {
    const request = await this.unitOfWork.read((tx) => requireRequest(tx, botId, id));
    if (request.status !== 'completed')
      throw conflict('deletion_not_completed', 'Only a completed erasure has a certificate');
    return request;
  }

  /** The stored text, if this installation has signed it about this request. */
  private async kept(request: DeletionRequest): Promise<string | undefined> {
    const { botId, id, subjectCommitment, certificate } = request;
    if (certificate === null) return undefined;
    const payload = await this.signer.verified(certificate, CERTIFICATE_TYPE);
    const isOwn =
      payload?.['bot_id'] === botId &&
      payload['request_id'] === id &&
      payload['subject_commitment'] === subjectCommitment &&
      // The ledger did not vouch for it.
      payload['ledger'] !== null;
    return isOwn ? certificate : undefined;
  }

  private payloadOf(request: DeletionRequest, audit: AuditLogHead): object {
    const { botId, id, createdAt, completedAt, unrecoverableAt, deletedCategories, erasedRows, keyId } =
      request;
    return {
      iss: 'lethe',
      iat: Math.floor(this.clock.nowMs() / 1000),
      request_id: id,
      bot_id: botId,
      subject_commitment: request.subjectCommitment,
      requested_at: requestedAt(request),
      completed_at: completedAt,
      unrecoverable_at: unrecoverableAt,
      deleted_categories: deletedCategories,
      erased_rows: erasedRows,
      destroyed_key: keyId,
      audit,
      backups_clear_by: daysAfter(completedAt ?? createdAt, this.config.backupRetentionDays),
    };
  }

  private async issue(request: DeletionRequest): Promise<string> {
    const { botId, id, guildId, userId } = request;
    const [entry] = await this.unitOfWork.read((tx) => ledgerEntriesOf(tx, botId, [id]));
    const isListed = entry?.guild_id === guildId && entry.user_id === userId;
    if (!isListed || this.records.commitmentOf(request) !== request.subjectCommitment)
      throw conflict(
        'no_certificate',
        'The ledger of erasures does not contain this erasure as it is recorded',
      );
    const payload = this.payloadOf(request, await this.log.head(botId));
    const issued = await this.signer.sign(payload, CERTIFICATE_TYPE);
    if (request.unrecoverableAt === null) return issued;
    return this.unitOfWork.write(async (tx) => {
      // The text of the first of two concurrent calls is kept.
      await tx.run(
        `UPDATE deletion_requests SET certificate = ? WHERE bot_id = ? AND id = ? AND COALESCE(certificate, '') = ?`,
        ...[issued, botId, id, request.certificate ?? ''],
      );
      const sql = 'SELECT certificate FROM deletion_requests WHERE bot_id = ? AND id = ?';
      const kept = await tx.get<{ certificate: string | null }>(sql, botId, id);
      return kept?.certificate ?? issued;
    });
  }
}

/** @throws ApiError 404 */
async function requireRequest(tx: Tx, botId: string, id: string): Promise<DeletionRequest> {
  const found = await findRequest(tx, { botId, id: id.toLowerCase() });
  if (found === undefined) throw notFound('Deletion request');
  return found;
}

/** When a request was made. A repeat after a restore is recorded as of a later time than its end where the clock was ahead at the first one. */
function requestedAt({ createdAt, completedAt }: DeletionRequest): string {
  return completedAt !== null && completedAt < createdAt ? completedAt : createdAt;
}

/** A request as its bot sees it. */
export function deletionView(
  request: DeletionRequest,
  { user_id, guild_id }: SubjectIds,
): DeletionRequestView {
  return {
    request_id: request.id,
    status: request.status,
    user_id,
    guild_id,
    created_at: requestedAt(request),
    completed_at: request.completedAt,
    unrecoverable_at: request.unrecoverableAt,
    deleted_categories: request.status === 'completed' ? request.deletedCategories : null,
    webhook_sent: request.webhookSent === 1,
  };
}
