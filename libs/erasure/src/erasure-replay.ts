import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { SubjectKeys } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { JobLeases } from '@app/jobs';
import { ApiError } from '@app/kernel';
import { type Subject, subjectAt } from '@app/subjects';
import { ErasureService } from './erasure.service';
import { UnknownErasures } from './unknown-erasures';

const NAME = 'erasure-replay';
/** Pause between two looks whether another process has finished. */
const WAIT_MS = 200;
/** Tries of one erasure while another one of the same user is under way. */
const TRIES_MAX = 100;

/**
 * Repeats erasures after a restored backup (GDPR Art. 17): an erasure that is in the ledger and not in the data took
 * place after the backup was made. The start completes this before it answers requests; of several processes that start
 * together one does it and the others wait.
 */
@Injectable()
export class ErasureReplay implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ErasureReplay.name);
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly leases: JobLeases,
    private readonly keys: SubjectKeys,
    private readonly unknown: UnknownErasures,
    private readonly erasures: ErasureService,
  ) {}

  /** Resolves when the data contains every erasure of the ledger. @throws Error when one of them fails */
  run(): Promise<void> {
    const run = this.replayed();
    this.running = run.catch(() => undefined);
    return run;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async replayed(): Promise<void> {
    while (!this.stopping && (await this.unknown.nextBot()) !== undefined) {
      const lease = await this.unitOfWork.write((tx) => this.leases.take(tx, NAME, 'now'));
      if (lease === undefined) {
        await pause(WAIT_MS);
        continue;
      }
      try {
        await lease.keep(() => this.replayAll());
      } finally {
        await this.unitOfWork.write((tx) => lease.end(tx));
      }
    }
  }

  private async replayAll(): Promise<void> {
    let [found, absent] = [0, 0];
    for (
      let botId = await this.unknown.nextBot();
      botId !== undefined;
      botId = await this.unknown.nextBot(botId)
    ) {
      for (
        let sought = await this.unknown.of(botId);
        sought.length > 0;
        sought = await this.unknown.of(botId)
      ) {
        for (const entry of sought) {
          if (this.stopping) return;
          const subject = subjectAt(botId, entry);
          if (await this.isHeld(subject)) {
            await this.eraseAgain(subject, entry.request_id);
            found += 1;
          } else {
            await this.unknown.note(entry);
            absent += 1;
          }
        }
      }
    }
    this.logger.warn(
      `The data is older than the ledger of erasures: ${found} erasures were applied again; ` +
        `${absent} were only noted, since nothing is held about their subjects`,
    );
  }

  private async isHeld(subject: Subject): Promise<boolean> {
    return (await this.unitOfWork.read((tx) => this.keys.idOf(tx, subject))) !== undefined;
  }

  /** A conflict is an erasure of the same user that was under way when the backup was made: it is finished first. */
  private async eraseAgain(subject: Subject, id: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.erasures.reapply(subject, id);
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'conflict') || tries === TRIES_MAX) throw error;
        await this.erasures.finishLeft();
        await pause(WAIT_MS / 10);
      }
    }
  }
}
