import { Injectable, Logger } from '@nestjs/common';
import { lockBot } from '@app/bots';
import { type Tx, UnitOfWork } from '@app/database';
import type { Acting, Actor } from '@app/http';
import { ApiError, BOT_WIDE_GUILD_ID, conflict, describeFault } from '@app/kernel';
import { Answers, type Claim, inProgress } from '@app/acts';
import { type Digest, HeldSubjects, SubjectDataHolders, SubjectDigests, subjectOf } from '@app/crypto';
import { countHolders } from '../holders/bot-holders.sql';
import { ErasureRecords } from './erasure-records';
import { ErasureAct, type KeptErasure } from './erasure.act';
import { type ForgottenEverywhereView, type ForgottenInGuildView, NOTICE } from './erasure.dto';
import { type BeginsAnyway, ErasureService, isOnRecord, type NoteBegun } from './erasure.service';

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

/** What is stored of an erasure, whose only step is done. */
type Part = KeptErasure & { readonly isWhole: true };

const NOTHING_BEGUN: Progress = { begun: 0, isWhole: false };

/** A call, with the answers by guild so far. Guilds whose ids are lost are shown alike, so that their digests name them. */
interface Call {
  readonly botId: string;
  readonly actor: Actor;
  readonly user_id: string;
  readonly claim: Claim;
  readonly views: Map<Digest, ForgottenInGuildView>;
}

const UNDER_WAY = `SELECT 1 FROM deletion_requests WHERE bot_id = ? AND user_id = ? AND status = 'processing'`;

/**
 * Erases one user in every guild of a bot where anything is held, guild by guild. Each guild is an erasure of its own,
 * with its request, certificate and webhook. After a crash the recovery finishes the guild under way; the caller repeats
 * the call for the guilds after it. The bot-wide scope is the last one, and for a bot with holders it is erased although nothing
 * is held: its task means every guild once Lethe holds nothing in another one, also those that only the stores of the bot know.
 */
@Injectable()
export class ErasureEverywhere {
  private readonly logger = new Logger(ErasureEverywhere.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly held: HeldSubjects,
    private readonly digests: SubjectDigests,
    private readonly erasures: ErasureService,
    private readonly act: ErasureAct,
    private readonly records: ErasureRecords,
    private readonly answers: Answers,
    private readonly holders: SubjectDataHolders,
  ) {}

  /**
   * When this resolves, everything that was held at the call is erased durably.
   * @throws ApiError 409 `deletion_in_progress` while another call erases the user; 503 when one guild failed; 500 for a
   * fault. `details.requests` lists the guilds completed before.
   */
  async forget(acting: Acting, user_id: string, claim: Claim): Promise<ForgottenEverywhereView> {
    const { requests } = await this.forgetSome(acting, user_id, claim, Infinity);
    return { user_id, scope: 'all_guilds', status: 'completed', requests, notice: NOTICE };
  }

  /** {@link forget} in at most so many guilds, the bot-wide scope aside; `isWhole` where these are all. */
  async forgetSome(
    { botId, actor }: Acting,
    user_id: string,
    claim: Claim,
    most: number,
  ): Promise<Pick<ForgottenEverywhereView, 'requests'> & { readonly isWhole: boolean }> {
    const call: Call = { botId, actor, user_id, claim, views: new Map() };
    try {
      const recorded = await this.unitOfWork.read((tx) => this.answers.recorded<Progress>(tx, claim));
      const { begun, isWhole } = recorded ?? NOTHING_BEGUN;
      await this.finish(call, 0, begun);
      if (!isWhole) {
        let known = begun;
        const isAll = await this.eraseHeld(call, most, async (tx, next) => {
          const noted = await this.advance(tx, claim, (before) => ({ begun: before + 1, isWhole: false }));
          // Undoes the erasure: a repeat of this request has ended meanwhile.
          if (noted.isWhole) throw inProgress();
          const place = noted.begun - 1;
          await this.answers.advance<Part>(tx, claim.part(place), async () => ({
            ...this.act.kept(next),
            isWhole: true,
          }));
          tx.afterCommit(() => (known += place === known ? 1 : 0));
        });
        if (!isAll) return { requests: inOrder(call), isWhole: false };
        const userId = this.digests.user(botId, user_id);
        await this.unitOfWork.write((tx) => this.holders.eraseUnheld(tx, { botId, userId }));
        if (claim.isGiven) await this.end(call, known);
      }
    } catch (error) {
      throw this.withRequests(error, inOrder(call));
    }
    return { requests: inOrder(call), isWhole: true };
  }

  /** Ends the request once the erasures that a repeat of it has begun meanwhile are carried out too. */
  private async end(call: Call, known: number): Promise<void> {
    const { begun, isWhole } = await this.unitOfWork.write((tx) =>
      this.advance(tx, call.claim, (before) => ({ begun: before, isWhole: before === known })),
    );
    await this.finish(call, known, begun);
    if (!isWhole) await this.end(call, begun);
  }

  private advance(tx: Tx, claim: Claim, next: (begun: number) => Progress): Promise<Progress> {
    return this.answers.advance<Progress>(tx, claim, async ({ begun } = NOTHING_BEGUN) => next(begun));
  }

  /** Carries out what has begun at the places from `from` to before `to`, and adds the answers that are missing. */
  private async finish({ botId, claim, views }: Call, from: number, to: number): Promise<void> {
    for (let place = from; place < to; place++) {
      const begun = await this.unitOfWork.read(async (tx) => {
        const kept = await this.answers.recorded<Part>(tx, claim.part(place));
        return kept && this.act.recall(tx, kept, { subject: { botId } });
      });
      // A failed one is begun again at another place.
      if (begun === undefined) continue;
      const { guildId } = begun.request;
      if (views.has(guildId)) continue;
      const { guild_id } = this.records.idsOf(begun.request);
      views.set(guildId, { guild_id, ...(await this.erasures.finish(begun)) });
    }
  }

  /** Erases guild by guild and adds the answers, up to `most`; whether these are all. A guild with an answer is not erased again. */
  private async eraseHeld(
    { botId, actor, user_id, views }: Call,
    most: number,
    note: NoteBegun,
  ): Promise<boolean> {
    const subjects = await this.held.inAllGuilds(botId, user_id);
    // Asked afterwards: an erasure that has removed a subject before the reading, and is not completed, is found.
    if ((await this.unitOfWork.get(UNDER_WAY, botId, this.digests.user(botId, user_id))) !== undefined)
      throw conflict('deletion_in_progress', 'The data of this user is being erased already');
    const botWide = this.digests.named(botId, { guild_id: BOT_WIDE_GUILD_ID, user_id });
    for (const subject of [...subjects.filter(({ guildId }) => guildId !== botWide.guildId), botWide]) {
      if (views.has(subject.guildId)) continue;
      if (views.size >= most && subject !== botWide) return false;
      // The ids of the bot-wide scope are known without its key; those of a guild whose key is lost are zeros.
      const [erasing, anyway] =
        subject === botWide ? [botWide, hasHolders(botId)] : [subjectOf(subject), undefined];
      // Another call may begin between two guilds. A call that has erased a guild waits for it; others are refused.
      const erased = await (views.size > 0
        ? this.erasures.eraseInTurn(erasing, actor, note, anyway)
        : this.erasures.eraseIfHeld(erasing, actor, note, anyway));
      if (erased !== undefined) views.set(subject.guildId, { guild_id: subject.ids.guild_id, ...erased });
    }
    return true;
  }

  /** The answer must contain the completed requests: without an idempotency key the salts of their certificates are not stored. */
  private withRequests(error: unknown, requests: readonly ForgottenInGuildView[]): unknown {
    if (requests.length === 0 && !isOnRecord(error)) return error;
    const message =
      requests.length === 0
        ? 'Not all guilds are done: repeat the request'
        : 'Not all guilds are done; details.requests has those that are: repeat the request for the others';
    const done = requests.length === 0 ? {} : { requests };
    // The status is of one guild alone: nothing but a repeat erases the guilds after it.
    if (error instanceof ApiError)
      return new ApiError(error.code, message, { ...error.details, status: undefined, ...done });
    this.logger.error('An erasure in all guilds met a fault: the guilds done before are answered', {
      ...describeFault(error),
    });
    return new ApiError('internal_error', message, { requests });
  }
}

const inOrder = ({ views }: Call): ForgottenInGuildView[] =>
  [...views.values()].sort((one, other) => (one.guild_id < other.guild_id ? -1 : 1));

/** A holder that is registered meanwhile waits, or is seen. */
const hasHolders =
  (botId: string): BeginsAnyway =>
  async (tx) => {
    await lockBot(tx, botId, 'KEY SHARE');
    return (await countHolders(tx, botId)) > 0;
  };
