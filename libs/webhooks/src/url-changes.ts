import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { findBot, lockBot } from '@app/bots';
import { type Tx, UnitOfWork } from '@app/database';
import { type Job, type Lease, PeriodicJob } from '@app/jobs';
import { Clock, describeFault } from '@app/kernel';
import { cancelSome, CHUNK, restartSome } from './delivery-states';
import { Dispatcher } from './dispatcher';
import { RetrySchedule } from './retry-schedule';

/** Interval of the search for unfinished changes. */
const INTERVAL_MS = 60_000;

/**
 * Moves the deliveries of a bot to its changed URL. Waiting and given-up deliveries are sent to a new URL at once;
 * running calls end at the old one, and are repeated unless confirmed. Without a URL waiting deliveries are cancelled.
 * The unit of the change moves only the first chunk, since a bot can have any number of deliveries. The progress is
 * committed with each chunk in `webhook_url_changes`: after a crash another process continues from it.
 */
@PeriodicJob({ lookEveryMs: INTERVAL_MS, atStart: 'now' })
@Injectable()
export class UrlChanges implements Job, BeforeApplicationShutdown {
  readonly name = 'webhook-url-changes';
  readonly everyMs = INTERVAL_MS;
  private readonly logger = new Logger('Webhooks');
  private readonly going = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly dispatcher: Dispatcher,
    private readonly schedule: RetrySchedule,
    private readonly clock: Clock,
  ) {}

  /** Begins no further chunk: the rest is for the others, or for the next start. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.going);
  }

  /** Begins to move deliveries in the unit that changed the URL and locked the bot; the rest follows after the commit. */
  async begin(tx: Tx, botId: string): Promise<void> {
    const more = await this.follow(tx, botId, '');
    tx.afterCommit(() => {
      this.dispatcher.pokeAnew(botId);
      if (more) this.goOn(botId);
    });
  }

  /** Continues every unfinished change; two processes at one change take turns and repeat nothing. */
  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    await lease.keep(async () => {
      const left = await this.unitOfWork.read((tx) =>
        tx.all<{ bot_id: string }>('SELECT bot_id FROM webhook_url_changes ORDER BY bot_id'),
      );
      for (const { bot_id } of left) await this.finish(bot_id, stopping);
    });
  }

  private goOn(botId: string): void {
    const going = this.finish(botId, this.stopping.signal)
      .catch((error: unknown) =>
        this.logger.error(
          `The deliveries of bot ${botId} are moved to its new URL only in part; the rest is moved within ${INTERVAL_MS / 1_000} s`,
          { botId, ...describeFault(error) },
        ),
      )
      .finally(() => this.going.delete(going));
    this.going.add(going);
  }

  private async finish(botId: string, stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted && (await this.next(botId)));
  }

  private next(botId: string): Promise<boolean> {
    return this.unitOfWork.write((tx) => this.goOnIn(tx, botId));
  }

  private async goOnIn(tx: Tx, botId: string): Promise<boolean> {
    // The bot before its deliveries, and alone: what follows is its URL as it is, from where the last chunk ended.
    await lockBot(tx, botId, 'NO KEY UPDATE');
    const change = await tx.get<{ after_id: string }>(
      'SELECT after_id FROM webhook_url_changes WHERE bot_id = ?',
      botId,
    );
    if (change === undefined) return false;
    tx.afterCommit(() => this.dispatcher.poke(botId));
    return this.follow(tx, botId, change.after_id);
  }

  /** Moves one chunk and stores whether more can follow. */
  private async follow(tx: Tx, botId: string, after: string): Promise<boolean> {
    const bot = await findBot(tx, botId);
    const looked =
      bot?.webhook_url == null
        ? await cancelSome(tx, botId, after, this.clock.confirmedIso())
        : await restartSome(tx, botId, after, this.schedule.begin(this.clock.confirmedMs()));
    if (looked.length < CHUNK) {
      await tx.run('DELETE FROM webhook_url_changes WHERE bot_id = ?', botId);
      return false;
    }
    await tx.run(
      `INSERT INTO webhook_url_changes (bot_id, after_id) VALUES (?, ?)
       ON CONFLICT (bot_id) DO UPDATE SET after_id = excluded.after_id`,
      ...[botId, looked.at(-1) ?? after],
    );
    return true;
  }
}
