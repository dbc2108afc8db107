import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@app/common';
import { Signals } from '@app/database';

const TOPIC = 'audit-unsealed';
/** For so long words for other processes are gathered. */
const GATHER_MS = 300;

/** The bots whose logs have grown: each is known once, however much is written. What is lost here the sweep finds. */
@Injectable()
export class UnsealedBots {
  private bots = new Set<string>();
  private listener: (() => void) | undefined;
  private telling: NodeJS.Timeout | undefined;

  constructor(
    private readonly signals: Signals,
    @Inject(CONFIG) private readonly config: Pick<Config, 'jobs'>,
  ) {
    if (config.jobs === 'on') signals.on(TOPIC, (botId) => this.note(botId));
  }

  /** The log of this bot has grown; call it after the commit. */
  note(botId: string): void {
    this.bots.add(botId);
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

  take(): ReadonlySet<string> {
    const taken = this.bots;
    this.bots = new Set();
    return taken;
  }

  /** Where others seal. */
  private tell(): void {
    this.telling = undefined;
    for (const botId of this.take()) this.signals.tell(TOPIC, botId);
  }
}
