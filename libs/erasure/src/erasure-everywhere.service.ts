import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { ApiError, conflict } from '@app/kernel';
import type { Claim } from '@app/idempotency';
import { HeldSubjects, SubjectDigests } from '@app/crypto';
import type { NamedSubject } from '@app/subjects';
import { type BegunErasures, BegunErasuresForm } from './begun-erasures';
import { ErasedSubject } from './erased-subject';
import { type ForgottenEverywhereView, type ForgottenInGuildView, NOTICE } from './erasure.dto';
import { type NoteBegun, ErasureService } from './erasure.service';

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
  async forget(botId: string, user_id: string, claim: Claim): Promise<ForgottenEverywhereView> {
    const requests: ForgottenInGuildView[] = [];
    const before = claim.isGiven && (await this.unitOfWork.read((tx) => claim.recorded(tx, this.form)));
    let { begun, isWhole } = before || NOTHING_BEGUN;
    for (const each of begun) {
      const { guild_id } = this.erased.idsOf(each.request);
      requests.push({ guild_id, ...(await this.erasures.finish(each)) });
    }
    if (!isWhole) {
      const note: NoteBegun = async (tx, next) => {
        await claim.record(tx, this.form, { begun: [...begun, next], isWhole });
        tx.afterCommit(() => (begun = [...begun, next]));
      };
      await this.eraseHeld(botId, user_id, requests, note);
      isWhole = true;
      if (claim.isGiven) await this.unitOfWork.write((tx) => claim.record(tx, this.form, { begun, isWhole }));
    }
    return { user_id, scope: 'all_guilds', status: 'completed', requests, notice: NOTICE };
  }

  /** Erases guild by guild and adds the answers to `requests`. */
  private async eraseHeld(
    botId: string,
    user_id: string,
    requests: ForgottenInGuildView[],
    note: NoteBegun,
  ): Promise<void> {
    for (const subject of await this.heldInAllGuilds(botId, user_id)) {
      // Another call may begin between two guilds. A call that has erased a guild waits for it; others are refused.
      const erasing =
        requests.length > 0
          ? this.erasures.eraseInTurn(subject, note)
          : this.erasures.eraseIfHeld(subject, note);
      const erased = await erasing.catch((error: unknown) => {
        throw withRequests(error, requests);
      });
      if (erased !== undefined) requests.push({ guild_id: subject.ids.guild_id, ...erased });
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

/** The answer must contain the completed requests: the salts of their certificates are not stored. */
function withRequests(error: unknown, requests: readonly ForgottenInGuildView[]): unknown {
  if (requests.length === 0 || !(error instanceof ApiError)) return error;
  const message = 'Some guilds are done, as details.requests says: repeat the request for the others';
  return new ApiError(error.code, message, { ...error.details, requests });
}
