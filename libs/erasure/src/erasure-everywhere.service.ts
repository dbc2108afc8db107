import { Injectable, Logger } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';
import { ApiError, conflict, describeFault } from '@app/kernel';
import { Answers, type Claim, inProgress } from '@app/idempotency';
import { HeldSubjects, SubjectDigests } from '@app/crypto';
import type { NamedSubject } from '@app/subjects';
import type { BegunErasure } from './begun-erasures';
import { findRequest } from './deletion-requests.sql';
import { ErasedSubject } from './erased-subject';
import { type ForgottenEverywhereView, type ForgottenInGuildView, NOTICE } from './erasure.dto';
import { type NoteBegun, ErasureService } from './erasure.service';

/** The answers by guild. */
type Views = Map<string, ForgottenInGuildView>;

/**
 * How far a request is. Each erasure is noted in a part of its claim, so that nothing that is stored grows with the number of
 * guilds.
 */
interface Progress {
  /** Number of erasures that have begun. */
  readonly begun: number;
  /** Whether no further one follows. */
  readonly isWhole: boolean;
}

/** What a part of the claim notes of an erasure. */
interface Noted {
  readonly id: string;
  readonly certificateSalt: string;
  readonly isWhole: true;
}

const NOTHING_BEGUN: Progress = { begun: 0, isWhole: false };

const UNDER_WAY = `SELECT 1 FROM deletion_requests WHERE bot_id = ? AND user_id = ? AND status = 'processing'`;

/**
 * Erases one user in every guild of a bot where anything is held, guild by guild. Each guild is an erasure of its own,
 * with its request, certificate and webhook. After a crash the recovery finishes the guild under way; the caller repeats
 * the call for the guilds after it.
 */
@Injectable()
export class ErasureEverywhere {
  private readonly logger = new Logger(ErasureEverywhere.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly held: HeldSubjects,
    private readonly digests: SubjectDigests,
    private readonly erasures: ErasureService,
    private readonly erased: ErasedSubject,
    private readonly answers: Answers,
  ) {}

  /**
   * When this resolves, everything that was held at the call is erased durably.
   * @throws ApiError 409 `deletion_in_progress` while another call erases the user; 503 when one guild failed; 500 for a
   * fault. `details.requests` lists the guilds completed before.
   */
  async forget(botId: string, user_id: string, claim: Claim, via?: string): Promise<ForgottenEverywhereView> {
    const views: Views = new Map();
    try {
      const recorded = await this.unitOfWork.read((tx) => this.answers.recorded<Progress>(tx, claim));
      const { begun, isWhole } = recorded ?? NOTHING_BEGUN;
      await this.finish(botId, claim, [0, begun], views);
      if (!isWhole) {
        let known = begun;
        await this.eraseHeld({ botId, user_id, via }, views, async (tx, { request, certificateSalt }) => {
          const noted = await this.advance(tx, claim, (before) => ({ begun: before + 1, isWhole: false }));
          // Undoes the erasure: a repeat of this request has ended meanwhile.
          if (noted.isWhole) throw inProgress();
          const place = noted.begun - 1;
          const next: Noted = { id: request.id, certificateSalt, isWhole: true };
          await this.answers.advance(tx, claim.part(place), async () => next);
          tx.afterCommit(() => (known += place === known ? 1 : 0));
        });
        if (claim.isGiven) await this.end(botId, claim, known, views);
      }
    } catch (error) {
      throw this.withRequests(error, [...views.values()]);
    }
    return {
      user_id,
      scope: 'all_guilds',
      status: 'completed',
      requests: [...views.values()],
      notice: NOTICE,
    };
  }

  /** Ends the request once the erasures that a repeat of it has begun meanwhile are carried out too. */
  private async end(botId: string, claim: Claim, known: number, views: Views): Promise<void> {
    const { begun, isWhole } = await this.unitOfWork.write((tx) =>
      this.advance(tx, claim, (before) => ({ begun: before, isWhole: before === known })),
    );
    await this.finish(botId, claim, [known, begun], views);
    if (!isWhole) await this.end(botId, claim, begun, views);
  }

  private advance(tx: Tx, claim: Claim, next: (begun: number) => Progress): Promise<Progress> {
    return this.answers.advance<Progress>(tx, claim, async ({ begun } = NOTHING_BEGUN) => next(begun));
  }

  /** Carries out what has begun at some places, and adds the answers that are missing. */
  private async finish(
    botId: string,
    claim: Claim,
    [from, to]: readonly [number, number],
    views: Views,
  ): Promise<void> {
    for (let place = from; place < to; place++) {
      const begun = await this.unitOfWork.read((tx) => this.begunAt(tx, botId, claim.part(place)));
      if (begun === undefined) continue;
      const { guild_id } = this.erased.idsOf(begun.request);
      if (!views.has(guild_id)) views.set(guild_id, { guild_id, ...(await this.erasures.finish(begun)) });
    }
  }

  /** The erasure that a part of the claim notes; undefined for a failed one, which is begun again at another place. */
  private async begunAt(tx: Tx, botId: string, part: Claim): Promise<BegunErasure | undefined> {
    const noted = await this.answers.recorded<Noted>(tx, part);
    if (noted === undefined) return undefined;
    const request = await findRequest(tx, { botId, id: noted.id });
    if (request === null || request.status === 'failed') return undefined;
    return { request, certificateSalt: noted.certificateSalt };
  }

  /** Erases guild by guild and adds the answers. A guild with an answer is not erased again. */
  private async eraseHeld(
    {
      botId,
      user_id,
      via,
    }: { readonly botId: string; readonly user_id: string; readonly via: string | undefined },
    views: Views,
    note: NoteBegun,
  ): Promise<void> {
    for (const subject of await this.heldInAllGuilds(botId, user_id)) {
      const { guild_id } = subject.ids;
      if (views.has(guild_id)) continue;
      // Another call may begin between two guilds. A call that has erased a guild waits for it; others are refused.
      const erased = await (views.size > 0
        ? this.erasures.eraseInTurn(subject, note, via)
        : this.erasures.eraseIfHeld(subject, note, via));
      if (erased !== undefined) views.set(guild_id, { guild_id, ...erased });
    }
  }

  private async heldInAllGuilds(botId: string, user_id: string): Promise<readonly NamedSubject[]> {
    const subjects = await this.held.inAllGuilds(botId, user_id);
    // Asked afterwards: an erasure that has removed a subject before the reading, and is not completed, is found.
    if ((await this.unitOfWork.get(UNDER_WAY, botId, this.digests.user(botId, user_id))) !== undefined)
      throw conflict('deletion_in_progress', 'The data of this user is being erased already');
    return subjects;
  }

  /** The answer must contain the completed requests: without an idempotency key the salts of their certificates are not stored. */
  private withRequests(error: unknown, requests: readonly ForgottenInGuildView[]): unknown {
    if (requests.length === 0) return error;
    const message = 'Some guilds are done, as details.requests says: repeat the request for the others';
    if (error instanceof ApiError) return new ApiError(error.code, message, { ...error.details, requests });
    this.logger.error('An erasure in all guilds met a fault: the guilds done before are answered', {
      ...describeFault(error),
    });
    return new ApiError('internal_error', message, { requests });
  }
}
