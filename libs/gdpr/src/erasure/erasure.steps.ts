import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { ConsentService } from '@app/consent';
import { SubjectDataHolders, SubjectKeys, subjectOf, UnreadableSecretError } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import { Clock, conflict, DomainEvents, type LabelOf, Metrics, NO_METRICS } from '@app/kernel';
import { callsOf, HolderTasksMade } from '../holders/holder-calls';
import { addTasks } from '../holders/holder-tasks.sql';
import type { DeletionRequest } from './deletion-request.entity';
import { insertRequests, lockRequests, updateRequests } from './deletion-requests.sql';
import { ErasureRecords, type NewErasure } from './erasure-records';
import { ErasuresCompleted, UsersForgotten } from './erasure.events';
import { addToLedger, doneAt, doneBefore } from './ledger-entries.sql';

/** A request on its way through the steps of a unit. */
export interface Followed {
  /** As the last step has left it. */
  readonly request: DeletionRequest;
  /**
   * How the unit has found it: `removed` if an earlier unit has erased its rows and closed its subject. No step changes one
   * that has ended.
   */
  readonly found: 'processing' | 'removed' | 'ended';
  /** Whether it was done before the data was restored from a backup. */
  readonly isReapplied: boolean;
}

/**
 * The steps of erasures, in their order. Each runs inside a unit of its caller, for any number of requests by the same
 * statements, and returns them as they are afterwards, each at its place; undefined for one whose bot was deleted.
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
    private readonly records: ErasureRecords,
    private readonly clock: Clock,
  ) {}

  /** Closes the subject for submits and exports, and records the request as of a time after `after`. @throws ApiError 409 `deletion_in_progress` */
  async begin(tx: Tx, erasure: NewErasure, after = ''): Promise<DeletionRequest> {
    const closedAt = await this.consents.close(tx, [erasure.subject]);
    const createdAt = closedAt > after ? closedAt : new Date(Date.parse(after) + 1).toISOString();
    const [request] = await this.record(tx, [erasure], createdAt);
    if (request === undefined)
      throw conflict('deletion_in_progress', 'The data of this user is being erased already');
    return request;
  }

  /** {@link begin} of a request that a restored backup does not contain, or contains as failed. */
  async beginAgain(tx: Tx, erasure: NewErasure): Promise<DeletionRequest> {
    const { id, subject } = erasure;
    const failed = `DELETE FROM deletion_requests WHERE bot_id = ? AND id = ? AND status = 'failed'`;
    await tx.run(failed, subject.botId, id);
    await this.consents.lock(tx, [subject]);
    const named = await this.named(tx, erasure);
    // The restored row names a key that is destroyed: the events of this erasure need another one.
    if (!('ids' in named.subject)) await this.keys.destroy(tx, [subject]);
    // By its later time it is known as a repeat, also where the clock was ahead at the first time.
    return this.begin(tx, named, await doneAt(tx, subject.botId, id));
  }

  /** {@link begin} for a subject about which anything is held; undefined for another one. */
  async beginIfHeld(tx: Tx, erasure: NewErasure): Promise<DeletionRequest | undefined> {
    await this.consents.lock(tx, [erasure.subject]);
    if ((await this.keys.idOf(tx, erasure.subject)) === undefined) return undefined;
    return this.begin(tx, await this.named(tx, erasure));
  }

  /**
   * All steps in one unit, for subjects that the unit has locked: they need not be closed. Undefined, with nothing written,
   * for a user who is being erased already. PostgreSQL only.
   */
  async eraseAtOnce(tx: Tx, erasures: readonly NewErasure[]): Promise<(DeletionRequest | undefined)[]> {
    const begun = await this.record(tx, erasures, this.clock.nowIso());
    const followed = begun.map((request) => request && followedOf(request, false));
    const ended = await this.complete(tx, await this.removeFound(tx, followed));
    return ended.map((each) => each?.request);
  }

  /** Destroys the keys, enters the erasures in the ledger and removes every row, unless an earlier unit has done it. */
  async remove(tx: Tx, requests: readonly DeletionRequest[]): Promise<(Followed | undefined)[]> {
    return this.removeFound(tx, await this.lock(tx, requests));
  }

  /** Records the end after {@link remove} in the same unit, and publishes `UsersForgotten`. */
  async complete(tx: Tx, given: readonly (Followed | undefined)[]): Promise<(Followed | undefined)[]> {
    const closed = given.flatMap((each) => (each?.found === 'removed' ? [each.request] : []));
    if (closed.length > 0) await this.consents.reopen(tx, closed);
    return changed(given, ['processing', 'removed'], (open) => this.completed(tx, open));
  }

  /** Closes the subjects after {@link remove} in the same unit, until a later one completes: no consent counts before. */
  async close(tx: Tx, given: readonly (Followed | undefined)[]): Promise<(Followed | undefined)[]> {
    return changed(given, ['processing', 'removed'], async (open) => {
      const removed = open.map(({ request }) => request);
      await updateRequests(tx, removed);
      await this.consents.close(tx, removed);
      return removed;
    });
  }

  /** Records a failure and opens the subject again, unless {@link remove} was committed: then only recovery follows. */
  async fail(tx: Tx, request: DeletionRequest): Promise<DeletionRequest | undefined> {
    const [followed] = await this.lock(tx, [request]);
    if (followed?.found !== 'processing') return followed?.request;
    const failed: DeletionRequest = { ...followed.request, status: 'failed' };
    await updateRequests(tx, [failed]);
    await this.consents.reopen(tx, [failed]);
    const about = { subject: subjectOf(failed), details: { request_id: failed.id }, ...byOf(failed) };
    await this.recorded(tx, [{ ...about, type: 'deletion_failed' }]);
    this.counted(tx, 'failed', 1);
    return failed;
  }

  /** An erasure needs no key: where the one of the subject does not open, its event has the installation key. */
  private async recorded(tx: Tx, acts: Parameters<AuditService['recordAll']>[1]): Promise<void> {
    try {
      await this.audit.recordAll(tx, acts);
    } catch (error) {
      // Each of several is recorded again alone.
      if (acts.length > 1 || !(error instanceof UnreadableSecretError)) throw error;
      await this.audit.recordErased(tx, acts, this.clock.nowIso());
    }
  }

  /** Records requests; undefined, with nothing written, for a user who is being erased already. */
  private async record(
    tx: Tx,
    erasures: readonly NewErasure[],
    createdAt: string,
  ): Promise<(DeletionRequest | undefined)[]> {
    const requests = erasures.map((erasure) => this.records.requestOf(erasure, createdAt));
    const inserted = await insertRequests(tx, requests);
    const acts = erasures.flatMap(({ id, subject, by }) =>
      inserted.has(id)
        ? [{ subject, type: 'deletion_requested' as const, details: { request_id: id }, by }]
        : [],
    );
    if (acts.length > 0) await this.recorded(tx, acts);
    this.counted(tx, 'begun', acts.length);
    return requests.map((request) => (inserted.has(request.id) ? request : undefined));
  }

  /** The ledger is stored beside the keys, apart from the data: a restored backup is erased again by it. */
  private removeFound(tx: Tx, given: readonly (Followed | undefined)[]): Promise<(Followed | undefined)[]> {
    return changed(given, ['processing'], async (open) => {
      const subjects = open.map(({ request }) => subjectOf(request));
      // Their first statements are sent in this order: the rows are counted before they are removed.
      const [rows, categories, keyIds] = await Promise.all([
        this.holders.count(tx, subjects),
        this.holders.erase(tx, subjects),
        this.keys.destroy(tx, subjects),
      ]);
      const removed = open.map(({ request }, at) => ({
        ...request,
        deletedCategories: categories[at] ?? [],
        erasedRows: rows[at] ?? {},
        keyId: keyIds[at] ?? null,
      }));
      const now = this.clock.nowIso();
      await addToLedger(
        tx,
        removed.map(({ botId, id, guildId, userId, keyId }) => [botId, id, guildId, userId, keyId, now]),
      );
      return removed;
    });
  }

  private async completed(tx: Tx, open: readonly Followed[]): Promise<DeletionRequest[]> {
    const completedAt = this.clock.nowIso();
    const completed = open.map(({ request }) => {
      // On PostgreSQL the bytes of a destroyed key stay in the files until a rewrite.
      const unrecoverableAt = tx.engine === 'sqlite' || request.keyId === null ? completedAt : null;
      return { ...request, status: 'completed' as const, completedAt, unrecoverableAt };
    });
    const acts = open.map(({ request, isReapplied }) => ({
      subject: subjectOf(request),
      type: 'deletion_completed' as const,
      details: { request_id: request.id, ...(isReapplied && { reapplied: true }) },
      ...byOf(request),
    }));
    const forgotten = completed.flatMap((request) => {
      const subject = this.records.namedOf(request);
      return subject === undefined ? [] : [{ subject, requestId: request.id, completedAt }];
    });
    await Promise.all([
      updateRequests(tx, completed),
      forgotten.length > 0 && this.events.publish(new UsersForgotten(tx, forgotten)),
      this.events.publish(new ErasuresCompleted(tx, completed)),
      this.audit.recordErased(tx, acts, completedAt),
    ]);
    // The audit events have locked the bots: a holder that is registered or deleted meanwhile waits, or is seen as it is.
    const calls = callsOf(await addTasks(tx, completed, completedAt), forgotten);
    if (calls.length > 0) await this.events.publish(new HolderTasksMade(tx, calls));
    this.counted(tx, 'completed', completed.length);
    return completed;
  }

  private counted(tx: Tx, what: LabelOf<'erasures'>, number: number): void {
    tx.afterCommit(() => this.metrics.count('erasures', what, number));
  }

  /** With the ids that are stored with the key; with the given ones, if any, where it does not open. The unit has locked the subject. */
  private async named(tx: Tx, erasure: NewErasure): Promise<NewErasure> {
    const ids = await this.keys.idsOf(tx, erasure.subject);
    return ids === undefined ? erasure : { ...erasure, subject: { ...subjectOf(erasure.subject), ids } };
  }

  /** Locks the subjects before the requests, as everywhere. */
  private async lock(tx: Tx, requests: readonly DeletionRequest[]): Promise<(Followed | undefined)[]> {
    await this.consents.lock(tx, requests);
    const [found, reapplied] = await Promise.all([lockRequests(tx, requests), doneBefore(tx, requests)]);
    return found.map((request) => request && followedOf(request, reapplied.has(request.id)));
  }
}

function followedOf(request: DeletionRequest, isReapplied: boolean): Followed {
  const isOpen = request.status === 'processing';
  const isRemoved = request.deletedCategories !== null;
  return { request, found: isOpen ? (isRemoved ? 'removed' : 'processing') : 'ended', isReapplied };
}

/** The requests of a step: it changes those that were found in some states, and leaves the others as they are. */
async function changed(
  given: readonly (Followed | undefined)[],
  states: readonly Followed['found'][],
  change: (open: readonly Followed[]) => Promise<readonly DeletionRequest[]>,
): Promise<(Followed | undefined)[]> {
  const open = given.filter((each) => each !== undefined && states.includes(each.found)) as Followed[];
  if (open.length === 0) return [...given];
  const byId = new Map((await change(open)).map((request) => [request.id, request]));
  return given.map((each) => each && { ...each, request: byId.get(each.request.id) ?? each.request });
}

/** Who asked for an erasure; unknown for one of an earlier release. */
function byOf({ by }: DeletionRequest): { readonly by?: Actor } {
  return by === null ? {} : { by };
}
