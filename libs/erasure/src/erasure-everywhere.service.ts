import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';
import { ApiError, conflict } from '@app/kernel';
import { type Claim, inProgress } from '@app/idempotency';
import { HeldSubjects, SubjectDigests } from '@app/crypto';
import type { NamedSubject } from '@app/subjects';
import { type BegunErasures, BegunErasuresForm } from './begun-erasures';
import { ErasedSubject } from './erased-subject';
import { type ForgottenEverywhereView, type ForgottenInGuildView, NOTICE } from './erasure.dto';
import { type NoteBegun, ErasureService } from './erasure.service';

/** The answers by guild. */
type Views = Map<string, ForgottenInGuildView>;

const NOTHING_BEGUN: BegunErasures = { begun: [], isWhole: false };

const UNDER_WAY = `SELECT 1 FROM deletion_requests WHERE bot_id = ? AND user_id = ? AND status = 'processing'`;

/**
 * Erases one user in every guild of a bot where anything is held, guild by guild. Each guild is an erasure of its own,
 * with its request, certificate and webhook. After a crash the recovery finishes the guild under way; the caller repeats
 * the call for the guilds after it.
 */
@Injectable()
export class ErasureEverywhere {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly held: HeldSubjects,
    private readonly digests: SubjectDigests,
    private readonly erasures: ErasureService,
    private readonly erased: ErasedSubject,
    private readonly form: BegunErasuresForm,
  ) {}

  /**
   * When this resolves, everything that was held at the call is erased durably.
   * @throws ApiError 409 `deletion_in_progress` while another call erases the user; 503 when one guild failed. In
   * both cases `details.requests` lists the guilds completed before.
   */
  async forget(botId: string, user_id: string, claim: Claim, via?: string): Promise<ForgottenEverywhereView> {
    const views: Views = new Map();
    try {
      const recorded = await this.unitOfWork.read((tx) => claim.recorded(tx, this.form));
      let progress = recorded ?? NOTHING_BEGUN;
      await this.finish(progress, views);
      if (!progress.isWhole) {
        await this.eraseHeld({ botId, user_id, via }, views, async (tx, next) => {
          const noted = await claim.advance<BegunErasures>(tx, this.form, async ({ begun } = progress) => ({
            begun: [...begun, next],
            isWhole: false,
          }));
          // Undoes the erasure: a repeat of this request has ended meanwhile.
          if (!noted.begun.includes(next)) throw inProgress();
          tx.afterCommit(() => (progress = noted));
        });
        if (claim.isGiven) progress = await this.unitOfWork.write((tx) => this.end(tx, claim, progress));
        // Those that a repeat of this request has begun meanwhile.
        await this.finish(progress, views);
      }
    } catch (error) {
      throw withRequests(error, [...views.values()]);
    }
    return {
      user_id,
      scope: 'all_guilds',
      status: 'completed',
      requests: [...views.values()],
      notice: NOTICE,
    };
  }

  private end(tx: Tx, claim: Claim, progress: BegunErasures): Promise<BegunErasures> {
    return claim.advance<BegunErasures>(tx, this.form, async ({ begun } = progress) => ({
      begun,
      isWhole: true,
    }));
  }

  /** Carries out what has begun, and adds the answers that are missing. */
  private async finish({ begun }: BegunErasures, views: Views): Promise<void> {
    for (const each of begun) {
      const { guild_id } = this.erased.idsOf(each.request);
      if (!views.has(guild_id)) views.set(guild_id, { guild_id, ...(await this.erasures.finish(each)) });
    }
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
}

/** The answer must contain the completed requests: without an idempotency key the salts of their certificates are not stored. */
function withRequests(error: unknown, requests: readonly ForgottenInGuildView[]): unknown {
  if (requests.length === 0 || !(error instanceof ApiError)) return error;
  const message = 'Some guilds are done, as details.requests says: repeat the request for the others';
  return new ApiError(error.code, message, { ...error.details, requests });
}
