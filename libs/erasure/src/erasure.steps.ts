import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { ConsentService } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { Clock, conflict, DomainEvents } from '@app/kernel';
import { type LabelOf, Metrics, NO_METRICS } from '@app/metrics';
import {
  ERASED_ID,
  type NamedSubject,
  type Subject,
  SubjectDataHolders,
  type SubjectIds,
  subjectOf,
} from '@app/subjects';
import type { DeletionRequest } from './deletion-request.entity';
import { insertRequests, lockRequests, updateRequests } from './deletion-requests.sql';
import { afterwards, type Ended, isRemoved, type Locked, type Removed } from './locked-requests';
import { addToLedger, doneBefore } from './ledger-entries.sql';
import { type ErasureOf, type NewErasure, NewErasures } from './new-erasures';
import { ErasuresCompleted } from './erasures-completed.event';
import { UsersForgotten } from './users-forgotten.event';

/** An erasure that begins. */
export interface Beginning {
  readonly subject: Subject;
  readonly erasure: NewErasure;
}

/**
 * The steps of erasures, in their order. Each runs inside a unit of its caller, for any number of requests by the same
 * statements, and answers them as they are afterwards. All steps after `begin` leave a request that has ended unchanged.
 */
@Injectable()
export class ErasureSteps {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;

  constructor(
    private readonly holders: SubjectDataHolders,
    private readonly consents: ConsentService,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly keys: SubjectKeys,
    private readonly erasures: NewErasures,
    private readonly clock: Clock,
  ) {}

  /** Closes the subject for submits and exports, and records the request. @throws ApiError 409 `deletion_in_progress` */
  async begin(tx: Tx, subject: Subject, erasure: NewErasure): Promise<DeletionRequest> {
    const createdAt = await this.consents.close(tx, [subject]);
    const [request] = await this.record(tx, [{ subject, erasure }], createdAt);
    if (request === undefined)
      throw conflict('deletion_in_progress', 'The data of this user is being erased already');
    return request;
  }

  /** {@link begin} of a request that a restored backup does not contain, or contains as failed. */
  async beginAgain(tx: Tx, subject: Subject, id: string, of: ErasureOf): Promise<DeletionRequest> {
    const failed = `DELETE FROM deletion_requests WHERE bot_id = ? AND id = ? AND status = 'failed'`;
    await tx.run(failed, subject.botId, id);
    await this.consents.lock(tx, [subject]);
    const ids = await this.idsOf(tx, subject);
    // The restored row names a key that is destroyed: the events of this erasure need another one.
    if (ids === undefined) await this.keys.destroy(tx, [subject]);
    return this.begin(tx, subject, of(ids));
  }

  /** {@link begin} for a subject about which anything is held; undefined for another one. */
  async beginIfHeld(tx: Tx, subject: Subject, of: ErasureOf): Promise<DeletionRequest | undefined> {
    await this.consents.lock(tx, [subject]);
    if ((await this.keys.idOf(tx, subject)) === undefined) return undefined;
    return this.begin(tx, subject, of(await this.idsOf(tx, subject)));
  }

  /**
   * All steps in one unit, for subjects that the unit has locked: they need not be closed. Undefined, with nothing written,
   * for a user who is being erased already. PostgreSQL only.
   */
  async eraseAtOnce(tx: Tx, given: readonly Beginning[]): Promise<(DeletionRequest | undefined)[]> {
    const requests = await this.record(tx, given, this.clock.nowIso());
    const begun = requests.filter((request) => request !== undefined);
    const completed = await this.completed(tx, await this.removed(tx, begun), new Set());
    const byId = new Map(completed.map((request) => [request.id, request]));
    return requests.map((request) => request && byId.get(request.id));
  }

  /** Destroys the keys, enters the erasures in the ledger and removes every row of those that are not removed yet. */
  async remove(tx: Tx, requests: readonly DeletionRequest[]): Promise<Removed> {
    const locked = await this.lock(tx, requests);
    const before = locked.processing.filter(isRemoved);
    return { ...locked, before, removed: await this.removed(tx, locked.processing) };
  }

  /** Records the end after {@link remove} in the same unit, and publishes `UsersForgotten`. */
  async complete(tx: Tx, given: Removed): Promise<readonly Ended[]> {
    const { before, removed, reapplied } = given;
    // Those that are removed by an earlier unit were closed by it.
    if (before.length > 0) await this.consents.reopen(tx, before.map(subjectOf));
    return afterwards(given, await this.completed(tx, [...before, ...removed], reapplied));
  }

  /** Closes the subjects after {@link remove} in the same unit, until a later one completes: no consent counts before. */
  async close(tx: Tx, given: Removed): Promise<readonly Ended[]> {
    const { before, removed } = given;
    if (removed.length > 0) await updateRequests(tx, removed);
    const closed = [...before, ...removed].map(subjectOf);
    if (closed.length > 0) await this.consents.close(tx, closed);
    return afterwards(given, removed);
  }

  /** Records a failure and opens the subject again, unless {@link remove} was committed: then only recovery follows. */
  async fail(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | null> {
    const subject = subjectOf(request);
    const found = (await this.lock(tx, [request])).all[0] ?? null;
    if (found?.status !== 'processing' || isRemoved(found)) return found;
    const failed: DeletionRequest = { ...found, status: 'failed' };
    await updateRequests(tx, [failed]);
    await this.consents.reopen(tx, [subject]);
    await this.audit.record(tx, subject, 'deletion_failed', { request_id: request.id });
    this.counted(tx, 'failed', [failed]);
    return failed;
  }

  /** Records requests; undefined, with nothing written, for a user who is being erased already. */
  private async record(
    tx: Tx,
    given: readonly Beginning[],
    createdAt: string,
  ): Promise<(DeletionRequest | undefined)[]> {
    const requests = given.map(({ subject, erasure }) =>
      this.erasures.requestOf(subject, erasure, createdAt),
    );
    const inserted = await insertRequests(tx, requests);
    const begun = requests.filter(({ id }) => inserted.has(id));
    const named = given.flatMap(({ subject, erasure: { id, ids, via } }) => {
      const about: Subject | NamedSubject = ids === undefined ? subject : { ...subject, ids };
      return inserted.has(id)
        ? [{ subject: about, details: { request_id: id, ...(via !== undefined && { via }) } }]
        : [];
    });
    if (named.length > 0)
      await this.audit.recordAll(
        tx,
        named.map((each) => ({ ...each, type: 'deletion_requested' })),
      );
    this.counted(tx, 'begun', begun);
    return requests.map((request) => (inserted.has(request.id) ? request : undefined));
  }

  /**
   * Removes the rows of those that are not removed yet, and answers these. The ledger is stored beside the keys, apart from
   * the data: a restored backup is erased again by it.
   */
  private async removed(tx: Tx, processing: readonly DeletionRequest[]): Promise<DeletionRequest[]> {
    const requests = processing.filter((request) => !isRemoved(request));
    if (requests.length === 0) return [];
    const subjects = requests.map(subjectOf);
    // Their first statements are sent in this order: the rows are counted before they are removed.
    const [rows, categories, keyIds] = await Promise.all([
      this.holders.count(tx, subjects),
      this.holders.erase(tx, subjects),
      this.keys.destroy(tx, subjects),
    ]);
    const removed = requests.map((request, at) => ({
      ...request,
      deletedCategories: categories[at] ?? [],
      erasedRows: rows[at] ?? {},
      keyId: keyIds[at] ?? null,
    }));
    await addToLedger(tx, removed, this.clock.nowIso());
    return removed;
  }

  private async completed(
    tx: Tx,
    requests: readonly DeletionRequest[],
    reapplied: ReadonlySet<string>,
  ): Promise<DeletionRequest[]> {
    if (requests.length === 0) return [];
    const completedAt = this.clock.nowIso();
    const completed = requests.map((request) => {
      // On PostgreSQL the bytes of a destroyed key stay in the files until a rewrite.
      const unrecoverableAt = tx.engine === 'sqlite' || request.keyId === null ? completedAt : null;
      return { ...request, status: 'completed' as const, completedAt, unrecoverableAt };
    });
    const acts = completed.map((request) => ({
      subject: subjectOf(request),
      type: 'deletion_completed' as const,
      details: {
        request_id: request.id,
        ...(request.via !== null && { via: request.via }),
        ...(reapplied.has(request.id) && { reapplied: true }),
      },
    }));
    const forgotten = completed
      .map((request) => ({
        subject: { ...subjectOf(request), ids: this.erasures.idsOf(request) },
        requestId: request.id,
        completedAt,
      }))
      .filter(({ subject }) => subject.ids.user_id !== ERASED_ID);
    await Promise.all([
      updateRequests(tx, completed),
      forgotten.length > 0 && this.events.publish(new UsersForgotten(tx, forgotten)),
      this.events.publish(new ErasuresCompleted(tx, completed)),
      this.audit.recordErased(tx, acts, completedAt),
    ]);
    this.counted(tx, 'completed', completed);
    return completed;
  }

  private counted(tx: Tx, what: LabelOf<'erasures'>, { length }: readonly DeletionRequest[]): void {
    tx.afterCommit(() => this.metrics.count('erasures', what, length));
  }

  /** The ids that are stored with the key; undefined where it is lost or damaged. The unit has locked the subject. */
  private async idsOf(tx: Tx, subject: Subject): Promise<SubjectIds | undefined> {
    return (await this.keys.inForce(tx, subject))?.ids;
  }

  /** Locks the subjects before the requests, as everywhere. */
  private async lock(tx: Tx, requests: readonly DeletionRequest[]): Promise<Locked> {
    await this.consents.lock(tx, requests.map(subjectOf));
    const [all, reapplied] = await Promise.all([lockRequests(tx, requests), doneBefore(tx, requests)]);
    // One request can be given twice, by two that resume it.
    const found = [...new Set(all)].filter((request) => request !== undefined);
    return { all, processing: found.filter(({ status }) => status === 'processing'), reapplied };
  }
}
