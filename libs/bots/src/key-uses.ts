import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';
import type { Caller } from '@app/http';
import { Clock, Degradations, describeFault, DISK_LOW } from '@app/kernel';

/** Most keys noted between two writes; uses of further ones are not noted. */
const NOTED_MAX = 10_000;
const WRITE_EVERY_MS = 60_000;
/** Keys written by one unit. */
const BATCH = 200;

interface Use {
  readonly botId: string;
  /** Monotonic time. */
  atMs: number;
}

/**
 * The last use of each key. It is kept in memory and written once a minute, so that no request waits for it. Up to a
 * minute of it is lost when it cannot be written, and at the end of the process.
 */
@Injectable()
export class KeyUses implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Keys');
  private noted = new Map<string, Use>();
  /** What was noted before the last write. */
  private earlier: ReadonlyMap<string, Use> = new Map();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(Degradations) private readonly degradations: Degradations,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.writing;
  }

  /** Notes that a key is used at `atMs`, in monotonic milliseconds. */
  note({ botId, keyId }: Caller, atMs: number): void {
    const use = this.noted.get(keyId);
    if (use !== undefined) use.atMs = atMs;
    else if (this.noted.size < NOTED_MAX) {
      this.noted.set(keyId, { botId, atMs });
      if (!this.isStopped)
        this.timer ??= setTimeout(() => void (this.writing = this.write()), WRITE_EVERY_MS).unref();
    }
  }

  /** The last use of a key that this process has noted. Another process may have stored a later one. */
  lastOf(keyId: string): string | undefined {
    const use = this.noted.get(keyId) ?? this.earlier.get(keyId);
    return use && this.timeOf(use);
  }

  /** Writes what was noted. It never rejects. */
  async write(): Promise<void> {
    const uses = [...this.noted];
    this.earlier = this.noted;
    this.noted = new Map();
    this.timer = undefined;
    // The rest of the disk is for erasures.
    if (this.degradations.has(DISK_LOW)) return;
    try {
      for (let from = 0; from < uses.length; from += BATCH)
        await this.unitOfWork.write((tx) => this.writeSome(tx, uses.slice(from, from + BATCH)));
    } catch (error) {
      this.logger.debug('The last uses of some API keys were not stored', describeFault(error));
    }
  }

  private async writeSome(tx: Tx, uses: readonly (readonly [string, Use])[]): Promise<void> {
    for (const [keyId, use] of uses) {
      const usedAt = this.timeOf(use);
      const minuteBefore = new Date(Date.parse(usedAt) - WRITE_EVERY_MS).toISOString();
      const row = await tx.get<{ last_used_at: string | null }>(
        // Several processes write one key once a minute, and none waits for a key that is being changed.
        'SELECT last_used_at FROM api_keys WHERE bot_id = ? AND id = ? FOR NO KEY UPDATE SKIP LOCKED',
        ...[use.botId, keyId],
      );
      if (row === undefined || (row.last_used_at ?? '') > minuteBefore) continue;
      await tx.run(
        'UPDATE api_keys SET last_used_at = ? WHERE bot_id = ? AND id = ?',
        ...[usedAt, use.botId, keyId],
      );
    }
  }

  private timeOf({ atMs }: Use): string {
    const agoMs = Math.max(0, this.clock.monotonicMs() - atMs);
    return new Date(this.clock.nowMs() - agoMs).toISOString();
  }
}
