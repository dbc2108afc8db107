import { findBot } from '@app/bots';
import { Cursors, SubjectDigests, type SubjectIds, unlessUnreadable } from '@app/crypto';
import { asPartlyDone, type Tx, UnitOfWork } from '@app/database';
import { Acts, Answers, type Claim } from '@app/acts';
import { conflict, invalidRequest, notFound, storableIso } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type {
  AttemptView,
  DeliveriesQuery,
  DeliveriesView,
  DeliveryDetailsView,
  DeliveryView,
  Replay,
  ReplayView,
} from './deliveries.dto';
import { Attempt, ATTEMPTS_KEPT, Delivery } from './delivery.entity';
import { countSome, idsOfSome, NEWEST } from './delivery-list.sql';
import { DeliveryTexts, type StoredDelivery } from './delivery-texts';
import { Outbox } from './outbox';

/** The progress of a replay: the number of queued deliveries, and the id of the last one. */
interface Replayed {
  readonly queued: number;
  readonly last: string;
  readonly isWhole: boolean;
}

/** Lets a bot read and repeat its own webhook calls. Calls are sent only to the bot's own URL. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly answers: Answers,
    private readonly outbox: Outbox,
    private readonly texts: DeliveryTexts,
    private readonly digests: SubjectDigests,
    private readonly cursors: Cursors,
  ) {}

  async list(botId: string, query: DeliveriesQuery): Promise<DeliveriesView> {
    const page = this.cursors.page<[id: string]>(botId, 'deliveries', query);
    const { status, event, user_id: user } = query;
    const listed = {
      botId,
      status,
      event,
      userId: user == null ? undefined : this.digests.user(botId, user),
    };
    const { rows, total } = await page.inParts<Tx, DeliveryView>({
      begin: NEWEST,
      unit: (work) => this.unitOfWork.read(work),
      count: (tx, before) => countSome(tx, listed, before),
      read: async (tx, before, skip, take) =>
        this.viewsOf(tx, botId, await idsOfSome(tx, listed, before, skip, take)),
    });
    return { deliveries: [...page.cut(rows, ({ id }) => [id])], pagination: page.of(total) };
  }

  /** @throws ApiError 404 for an unknown, erased or expired delivery, and for one of another bot. */
  view(botId: string, id: string): Promise<DeliveryDetailsView> {
    return this.unitOfWork.read(async (tx) => {
      const delivery = await this.find(tx, botId, id);
      const body = await this.bodyOf(tx, delivery);
      const latest = { order: { number: 'DESC' }, take: ATTEMPTS_KEPT } as const;
      const attempts = await tx.manager.find(Attempt, { where: { botId, deliveryId: id }, ...latest });
      return { ...viewOf(delivery, body), payload: body, attempts: attemptViews(delivery, attempts) };
    });
  }

  /** Sends a delivery again, whatever its outcome. A waiting one is sent now; a running call continues. */
  redeliver(botId: string, id: string, claim: Claim): Promise<DeliveryView> {
    const redeliver = async (tx: Tx): Promise<DeliveryView> => {
      await this.find(tx, botId, id);
      await this.requireUrl(tx, botId);
      await this.outbox.resend(tx, botId, id);
      return this.viewIn(tx, botId, id);
    };
    // The delivery is about a user: a repeat answers it as it is then.
    return this.acts.once(claim, redeliver, { again: (tx) => this.viewIn(tx, botId, id) });
  }

  /**
   * Queues the events since a time again, oldest first, in several units; a repeated call continues.
   * @throws ApiError 400 for a time outside the years 0 to 9999
   */
  async replay(
    botId: string,
    { since, undelivered_only: undeliveredOnly }: Replay,
    claim: Claim,
  ): Promise<ReplayView> {
    const sinceIso = storableIso(since);
    if (sinceIso === undefined)
      throw invalidRequest([{ field: 'since', message: 'must be a time of the years 0 to 9999' }]);
    const scope = { sinceIso, undeliveredOnly: undeliveredOnly === true };
    let progress: Replayed = { queued: 0, last: '', isWhole: false };
    const replaySome = (tx: Tx): Promise<Replayed> =>
      this.answers.advance<Replayed>(tx, claim, async ({ queued, last } = progress) => {
        await this.requireUrl(tx, botId);
        const chunk = await this.outbox.resendSome(tx, botId, { ...scope, after: last });
        return { queued: queued + chunk.ids.length, last: chunk.last, isWhole: chunk.isWhole };
      });
    while (!progress.isWhole) {
      const { queued } = progress;
      progress = await this.unitOfWork.write(replaySome).catch((error: unknown) => {
        throw queued === 0 ? error : asPartlyDone(error);
      });
    }
    return { queued: progress.queued };
  }

  ping(botId: string, claim: Claim): Promise<DeliveryView> {
    const ping = async (tx: Tx): Promise<DeliveryView> => {
      await this.requireUrl(tx, botId);
      return this.viewIn(tx, botId, await this.outbox.ping(tx, botId));
    };
    return this.acts.once(claim, ping);
  }

  private async requireUrl(tx: Tx, botId: string): Promise<void> {
    const bot = await findBot(tx, botId);
    if (bot?.webhook_url == null)
      throw conflict('no_webhook_url', 'The bot has no webhook_url: set one with PUT /bots/{bot_id}');
  }

  private async find(tx: Tx, botId: string, id: string): Promise<Delivery> {
    const delivery = await tx.manager.findOneBy(Delivery, { botId, id });
    if (delivery === null) throw notFound('Delivery');
    return delivery;
  }

  private async viewsOf(tx: Tx, botId: string, ids: readonly string[]): Promise<DeliveryView[]> {
    const found = await tx.manager.find(Delivery, { where: { botId, id: In(ids) }, order: { id: 'DESC' } });
    const bodies = await this.texts.decryptAll(tx, botId, found.map(storedOf));
    return found.map((delivery, at) => viewOf(delivery, bodyOf(bodies[at])));
  }

  private async viewIn(tx: Tx, botId: string, id: string): Promise<DeliveryView> {
    const delivery = await this.find(tx, botId, id);
    return viewOf(delivery, await this.bodyOf(tx, delivery));
  }

  private async bodyOf(tx: Tx, delivery: Delivery): Promise<Body> {
    return bodyOf(await this.texts.decrypt(tx, delivery.botId, storedOf(delivery)).catch(unlessUnreadable));
  }
}

function storedOf({ id, guildId, userId, payload }: Delivery): StoredDelivery {
  return { id, guild_id: guildId, user_id: userId, payload };
}

/** An empty one for a text that cannot be decrypted. */
function bodyOf(text = '{}'): Body {
  return JSON.parse(text) as Body;
}

/** The body of a call; a ping names no user. */
type Body = Partial<Record<keyof SubjectIds, string | null>>;

function viewOf(delivery: Delivery, { user_id = null, guild_id = null }: Body): DeliveryView {
  return {
    id: delivery.id,
    event: delivery.event,
    status: delivery.status,
    user_id,
    guild_id,
    request_id: delivery.requestId,
    attempt_count: delivery.attempts,
    last_outcome: delivery.lastOutcome,
    last_status_code: delivery.lastStatus,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.status === 'pending' ? dueAt(delivery) : null,
    finished_at: delivery.finishedAt,
  };
}

/** A call that is put before older ones is stored as due before them, which can be before its creation. */
function dueAt({ createdAt, nextAttemptAt }: Delivery): string {
  return nextAttemptAt < createdAt ? createdAt : nextAttemptAt;
}

/** The latest attempts without the running one. An attempt without a stored result was interrupted. */
function attemptViews(delivery: Delivery, attempts: readonly Attempt[]): AttemptView[] {
  const isUnderWay = delivery.status === 'pending' && delivery.lockedBy !== null;
  const begun = delivery.attempts - (isUnderWay ? 1 : 0);
  const written = new Map(attempts.map((attempt) => [attempt.number, attempt]));
  const shown = Math.min(begun, ATTEMPTS_KEPT);
  return Array.from({ length: shown }, (_, index) => {
    const number = begun - shown + index + 1;
    const attempt = written.get(number);
    return {
      number,
      started_at: attempt?.startedAt ?? null,
      duration_ms: attempt?.durationMs ?? null,
      outcome: attempt?.outcome ?? 'interrupted',
      status_code: attempt?.status ?? null,
    };
  });
}
