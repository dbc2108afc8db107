import { Inject, Injectable } from '@nestjs/common';
import { Signals } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';

const TOPIC = 'audit-unsealed';
/** For so long words for other processes are gathered. */
const GATHER_MS = 300;

/** The bots whose logs have grown: each is known once, however much is written. What is lost here the sweep finds. */
@Injectable()
export class UnsealedBots {
  /** Each with the time of the first word since they were taken, in milliseconds of the monotonic clock. */
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

  /** The log of this bot has grown; call it after the commit. */
  note(botId: string): void {
    if (!this.bots.has(botId)) this.bots.set(botId, this.clock.monotonicMs());
    if (this.config.jobs === 'on') this.listener?.();
    else this.telling ??= setTimeout(() => this.tell(), GATHER_MS).unref();
  }

  /** From now on `listener` hears that there is something to take. */
  onNote(listener: () => void): void {
    this.listener = listener;
    if (this.bots.size > 0) listener();
  }

  get size(): number {
    return this.bots.size;
  }

  /** Since when the first of them is known; Infinity for none. */
  get oldestMs(): number {
    const [first = Infinity] = this.bots.values();
    return first;
  }

  take(): ReadonlyMap<string, number> {
    const taken = this.bots;
    this.bots = new Map();
    return taken;
  }

  /** Where others seal. */
  private tell(): void {
    this.telling = undefined;
    for (const botId of this.take().keys()) this.signals.tell(TOPIC, botId);
  }
}
