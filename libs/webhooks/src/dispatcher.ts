import { setMaxListeners } from 'node:events';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Signer } from '@app/crypto';
import { NO_SIGNALS, Signals } from '@app/database';
import { Clock, type Config, CONFIG, describeFault, Metrics, NO_METRICS } from '@app/kernel';
import { CircuitBreakers } from './circuit-breakers';
import { DeliveryLeases, FAULT_PAUSE_MS } from './delivery-leases';
import { DeliveryResults } from './delivery-results';
import { DueQueue, WakeUpTimer } from './due-queue';
import { type Admit, HostSlots, type Slot } from './host-slots';
import { type CallResult, type Found, type LeasedDelivery, webhookCall, WebhookSender } from './webhook-call';

const SHORTEST_SLEEP_MS = 5;
/** Signals between processes about a bot. */
const TOPICS = { due: 'webhooks.due', byHand: 'webhooks.by-hand', anew: 'webhooks.anew' } as const;
/** A delivery is due; a call is asked for by hand, which is made during a pause too; a new URL, which ends a pause. */
type Reason = keyof typeof TOPICS;
const FAILURES = { follow: 'did not follow its new URL yet; it is tried again', hasten: 'keep their times' };

/**
 * Sends due deliveries: at once after a commit, otherwise at their time. Bots are served in turn. The calls at one time are
 * limited in total, for each host, and for each bot there: see {@link HostSlots}. Each process signals its commits to the others,
 * and the first one with a free place leases the delivery. Leases of a process that dies expire. `JOBS=off`: signals, but no calls.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Interval of the search for expired leases and for deliveries of other processes, in milliseconds. */
  pollMs = 5_000;
  /** A call that begins later than this after its lease, in milliseconds, could outlast it: the process was suspended. */
  beginMaxMs = 2_500;
  /** Longest wait for running calls at a shutdown, in milliseconds: a process has ten seconds to close; an interrupted call is made again. */
  drainMaxMs = 8_000;
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  @Inject(Signals) private readonly signals: Signals = NO_SIGNALS;
  private readonly logger = new Logger('Webhooks');
  private readonly due = new DueQueue();
  private readonly slots: HostSlots;
  private readonly breakers: CircuitBreakers;
  /** Calls whose result is not stored yet, and what else a shutdown waits for. */
  private readonly running = new Set<Promise<void>>();
  /** Bots whose deliveries follow a changed URL. */
  private readonly following = new Set<string>();
  private underWay = 0;
  private readonly interrupted = new AbortController();
  private pumping: Promise<void> | undefined;
  private again = false;
  private stopped = true;
  private polledMs = -Infinity;

  constructor(
    private readonly leases: DeliveryLeases,
    private readonly results: DeliveryResults,
    private readonly sender: WebhookSender,
    private readonly alarm: WakeUpTimer,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(Signer) private readonly signer: Pick<Signer, 'webhookKey'>,
  ) {
    setMaxListeners(0, this.interrupted.signal); // One for each running call.
    const { webhookConcurrency: calls, webhookConcurrencyPerHost: perHost } = config;
    this.slots = new HostSlots(calls, perHost, () => clock.monotonicMs());
    this.breakers = new CircuitBreakers(() => clock.monotonicMs());
  }

  onApplicationBootstrap(): void {
    this.metrics.gauge('webhookCalls', () => this.underWay);
    if (this.config.jobs === 'off') return;
    this.stopped = false;
    for (const why of ['due', 'byHand', 'anew'] as const)
      this.signals.on(TOPICS[why], (botId) => this.wake(botId, why));
    // Signals of other processes can have been lost.
    this.signals.onGap(() => {
      this.polledMs = -Infinity;
      this.pump();
    });
    this.pump();
  }

  /** Leases no further delivery, waits for running calls, and gives back the leases of calls that take too long. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    this.alarm.clear();
    await this.pumping;
    const drainMs = Math.min(this.config.shutdownTimeoutMs, this.drainMaxMs);
    const deadline = setTimeout(() => this.interrupted.abort(), drainMs);
    await Promise.all(this.running);
    clearTimeout(deadline);
  }

  /** Notes that the bot has deliveries to send; call it after the commit. */
  poke(botId: string, why: Reason = 'due'): void {
    this.wake(botId, why);
    this.signals.tell(TOPICS[why], botId);
  }

  private wake(botId: string, why: Reason = 'due'): void {
    if (this.stopped) return;
    if (why === 'byHand') this.breakers.probeNow(botId);
    if (why === 'anew') {
      this.breakers.forget(botId);
      this.follow(botId);
    }
    this.due.wake(botId, this.clock.confirmedMs());
    this.pump();
  }

  private pump(): void {
    if (this.stopped) return;
    this.again = true;
    this.pumping ??= this.leaseAll();
  }

  private async leaseAll(): Promise<void> {
    let pauseMs = this.pollMs;
    try {
      while (this.again && !this.stopped) {
        this.again = false;
        await this.poll();
        while (!this.stopped && (await this.leaseSome()));
      }
    } catch (error) {
      this.report('Due webhooks could not be looked up; it is tried again in a second', error);
      pauseMs = FAULT_PAUSE_MS;
    }
    this.pumping = undefined;
    if (this.stopped) return;
    const isFull = this.underWay >= this.config.webhookConcurrency;
    const dueInMs = isFull ? this.pollMs : this.due.nextDueMs - this.clock.confirmedMs();
    this.alarm.set(Math.max(SHORTEST_SLEEP_MS, Math.min(dueInMs, pauseMs)), () => this.pump());
  }

  private async poll(): Promise<void> {
    if (this.clock.monotonicMs() - this.polledMs < this.pollMs) return;
    const waiting = await this.leases.dueBots();
    this.polledMs = this.clock.monotonicMs();
    for (const { botId, dueMs } of waiting) this.due.wake(botId, dueMs);
    this.breakers.retain(new Set(waiting.map(({ botId }) => botId)));
    for (const { bot_id } of await this.leases.movedBots()) this.follow(bot_id);
  }

  /** Leases one delivery of each bot in turn, up to the free places; false when nothing is due. */
  private async leaseSome(): Promise<boolean> {
    this.due.unpark((place) => this.slots.callsAt(place));
    const free = this.config.webhookConcurrency - this.underWay;
    const bots = this.due.take(this.clock.confirmedMs(), free, (botId) => this.breakers.waitMs(botId));
    if (bots.length === 0) return false;
    const admitted: Slot[] = [];
    const admit: Admit = (...slot) => {
      const busy = this.slots.take(...slot);
      if (busy === undefined) admitted.push(slot);
      return busy;
    };
    try {
      for (const found of await this.leases.leaseDue(bots, admit)) this.accept(found, admitted);
    } catch (error) {
      // The next look begins with others: those at the front can be the ones that fail.
      for (const botId of bots.toReversed()) this.due.wake(botId, this.clock.confirmedMs() + FAULT_PAUSE_MS);
      throw error;
    } finally {
      for (const slot of admitted) this.slots.release(...slot);
    }
    return true;
  }

  private accept({ botId, leased, busy, nextDueMs }: Found, admitted: Slot[]): void {
    if (nextDueMs !== undefined) this.due.wake(botId, nextDueMs);
    if (busy !== undefined) this.due.park(botId, busy);
    if (leased === undefined) return;
    const isIts = ([bot, url]: Slot): boolean => bot === botId && url === leased.target.url;
    admitted.splice(admitted.findIndex(isIts), 1);
    this.underWay++;
    this.run(this.call(leased));
  }

  private run(work: Promise<void>): void {
    const running = work.then(() => void this.running.delete(running));
    this.running.add(running);
  }

  /** Lets the deliveries of a bot follow its changed URL, beside the leases: it waits for other units of the bot. */
  private follow(botId: string): void {
    if (this.following.has(botId)) return;
    this.following.add(botId);
    this.run(this.byChunks(botId, 'follow').then(() => void this.following.delete(botId)));
  }

  /** Until the last chunk, a failure, or the end of the process; leases what each has made due. */
  private async byChunks(botId: string, work: keyof typeof FAILURES): Promise<void> {
    const what = `Deliveries of bot ${botId} ${FAILURES[work]}`;
    const failed = (error: unknown): undefined => void this.report(what, error);
    let after: string | undefined = '';
    do {
      after = await this.results[work](botId, after).catch(failed);
      this.wake(botId);
    } while (after !== undefined && !this.stopped);
  }

  private async call(leased: LeasedDelivery): Promise<void> {
    this.breakers.begin(leased.botId);
    const result = await this.attempt(leased);
    const recovered = this.breakers.learn(leased.botId, result, leased.delivery.failures);
    this.underWay--;
    this.slots.release(leased.botId, leased.target.url, result);
    const settled = this.settle(leased, result, recovered);
    // The delivery for the free place is leased in the commit that stores the result.
    this.pump();
    await settled;
  }

  private async attempt(leased: LeasedDelivery): Promise<CallResult> {
    // The secrets sign without it: most receivers verify nothing else.
    const unsigned = (error: unknown): undefined =>
      void this.report(`A webhook of bot ${leased.botId} is sent without the signature v1a`, error);
    const webhookKey = await this.signer.webhookKey(leased.botId).catch(unsigned);
    const waitedMs = this.clock.confirmedMs() - Date.parse(leased.startedAt);
    if (waitedMs > this.beginMaxMs) return { outcome: 'interrupted', durationMs: 0 };
    try {
      const call = webhookCall(leased, this.clock.wallMs(), webhookKey);
      return await this.sender.send(call, this.interrupted.signal);
    } catch (error) {
      this.report(`A webhook of bot ${leased.botId} could not be sent; it is tried again later`, error);
      return { outcome: 'connection_failed', durationMs: 0 };
    }
  }

  private async settle(leased: LeasedDelivery, result: CallResult, recovered: boolean): Promise<void> {
    try {
      const nextDueMs = await this.results.settle(leased, result);
      if (recovered) return await this.byChunks(leased.botId, 'hasten');
      if (nextDueMs === undefined) return;
      this.due.wake(leased.botId, nextDueMs);
      // Deliveries that this process gives back at its end are left to other processes.
      if (this.stopped) this.signals.tell(TOPICS.due, leased.botId);
      this.pump();
    } catch (error) {
      if (recovered) this.breakers.unlearn(leased.botId);
      this.report(`The result of delivery ${leased.delivery.id} was not stored; the call is repeated`, error);
    }
  }

  private report(what: string, error: unknown): void {
    this.logger.error(what, describeFault(error));
  }
}
