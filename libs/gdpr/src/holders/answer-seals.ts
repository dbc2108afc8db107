import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ifReadable, InstallationKeys } from '@app/crypto';
import type { HolderTask } from './holder-task.entity';

/** The digest of an answer, and the keys of all holders that had a task for the erasure. */
type Sealed = readonly [digest: string, holders: readonly string[]];

/**
 * Binds stored answers of holders to the installation key (GDPR Art. 5(1)(f)): an answer that was written or changed in the
 * database alone has no seal, and the seal of an answer names the tasks beside it, so that a missing one is noticed.
 */
@Injectable()
export class AnswerSeals {
  constructor(private readonly keys: InstallationKeys) {}

  /** The seal to store with an answer. `holders` are the keys of all holders that have a task for the erasure. */
  seal(task: HolderTask, holders: readonly string[]): string {
    const sealed: Sealed = [digestOf(task), holders];
    return this.keys.installation.encrypt(JSON.stringify(sealed), contextOf(task));
  }

  /** Whether the answer is the one that was sealed, and no task beside it is missing. */
  isWhole(task: HolderTask, holders: readonly string[]): boolean {
    const { seal } = task;
    const json =
      seal === null ? undefined : ifReadable(() => this.keys.installation.decrypt(seal, contextOf(task)));
    if (json === undefined) return false;
    const [digest, sealed] = JSON.parse(json) as Sealed;
    return digest === digestOf(task) && sealed.every((key) => holders.includes(key));
  }
}

function digestOf({
  result,
  counts,
  keptBasis,
  keptUntil,
  statement,
  declared,
  answeredAt,
}: HolderTask): string {
  const parts = [result, counts, keptBasis, keptUntil, statement, declared, answeredAt];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function contextOf({ botId, holderKey, requestId }: HolderTask): string {
  return `holder_tasks/${botId}/${holderKey}/${requestId}`;
}
