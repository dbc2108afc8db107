import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { ApiError, conflict } from '@app/kernel';
import { HeldSubjects, SubjectDigests } from '@app/crypto';
import type { NamedSubject } from '@app/subjects';
import { type ForgottenEverywhereView, type ForgottenInGuildView, NOTICE } from './erasure.dto';
import { ErasureService } from './erasure.service';

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
  ) {}

  /**
   * When this resolves, everything that was held at the call is erased durably.
   * @throws ApiError 409 `deletion_in_progress` while another call erases the user; 503 when one guild failed. In
   * both cases `details.requests` lists the guilds completed before.
   */
  async forget(botId: string, user_id: string): Promise<ForgottenEverywhereView> {
    const subjects = await this.heldInAllGuilds(botId, user_id);
    const requests: ForgottenInGuildView[] = [];
    for (const subject of subjects) {
      // Another call may begin between two guilds. A call that has erased a guild waits for it; others are refused.
      const erasing =
        requests.length > 0 ? this.erasures.eraseInTurn(subject) : this.erasures.eraseIfHeld(subject);
      const erased = await erasing.catch((error: unknown) => {
        throw withRequests(error, requests);
      });
      if (erased !== undefined) requests.push({ guild_id: subject.ids.guild_id, ...erased });
    }
    return { user_id, scope: 'all_guilds', status: 'completed', requests, notice: NOTICE };
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
