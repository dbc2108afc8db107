import type { SubjectKey } from './subject-key';

/** The maximum of keys in one generation. There are two generations. */
const KEYS_MAX = 25_000;
/**
 * The time after which a generation is replaced, in milliseconds. An unused key is dropped after one to two of these
 * times.
 */
const GENERATION_MS = 300_000;

/**
 * Recently decrypted keys: a bounded number, for a bounded time. The caller must have just read that the key is still
 * in force.
 */
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

  /** Removes a destroyed key and overwrites its bytes. */
  drop(id: string): void {
    (this.young.get(id) ?? this.old.get(id))?.wipe();
    this.young.delete(id);
    this.old.delete(id);
  }
}
