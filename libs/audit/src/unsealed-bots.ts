import { Inject, Injectable } from '@nestjs/common';
import { Signals } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';

const TOPIC = 'audit-unsealed';
/** Notes for other processes are collected for this long, in milliseconds. */
const GATHER_MS = 300;

/** The bots with unsealed events, each listed once. The sweep of the seal loop finds any that are lost here. */
@Injectable()
export class UnsealedBots {
  /** Bot id to the time of its first note since the last `take`, in milliseconds of the monotonic clock. */
  private bots = new Map<string, number>();
  private listener: (() => void) | undefined;
  private telling: NodeJS.Timeout | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'jobs'>,
  ) {
    if (config.jobs === 'on') signals.on(TOPIC, (botId) => this.note(botId));
  }

  /** Notes that the log of this bot has grown. Call it after the commit. */
  note(botId: string): void {
    if (!this.bots.has(botId)) this.bots.set(botId, this.clock.monotonicMs());
    if (this.config.jobs === 'on') this.listener?.();
    else this.telling ??= setTimeout(() => this.tell(), GATHER_MS).unref();
  }

  /** Calls `listener` whenever there is a bot to take. */
  onNote(listener: () => void): void {
    this.listener = listener;
    if (this.bots.size > 0) listener();
  }

  get size(): number {
    return this.bots.size;
  }

  /** Time of the oldest note; Infinity without one. */
  get oldestMs(): number {
    const [first = Infinity] = this.bots.values();
    return first;
  }

  take(): ReadonlyMap<string, number> {
    const taken = this.bots;
    this.bots = new Map();
    return taken;
  }

  /** Notifies the processes that seal. */
  private tell(): void {
    this.telling = undefined;
    for (const botId of this.take().keys()) this.signals.tell(TOPIC, botId);
  }
}
