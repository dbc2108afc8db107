import type { SubjectKey } from './subject-key';

/** Keys of one generation at most, of which there are two. */
const KEYS_MAX = 25_000;
/** A key that is not asked for any more is forgotten after one to two of these. */
const GENERATION_MS = 300_000;

/** Keys opened lately: a bounded number, for a bounded time. Whoever asks for one has just read that it is in force. */
export class KeyCache {
  private young = new Map<string, SubjectKey>();
  private old = new Map<string, SubjectKey>();
  private bornMs = performance.now();

  get(id: string): SubjectKey | undefined {
    const found = this.young.get(id);
    if (found !== undefined) return found;
    const older = this.old.get(id);
    if (older === undefined) return undefined;
    this.old.delete(id);
    this.set(id, older);
    return older;
  }

  set(id: string, key: SubjectKey): void {
    if (this.young.size >= KEYS_MAX || performance.now() - this.bornMs > GENERATION_MS) {
      this.old = this.young;
      this.young = new Map();
      this.bornMs = performance.now();
    }
    this.young.set(id, key);
  }

  /** Forgets a key that was destroyed, and overwrites it. */
  drop(id: string): void {
    (this.young.get(id) ?? this.old.get(id))?.wipe();
    this.young.delete(id);
    this.old.delete(id);
  }
}
