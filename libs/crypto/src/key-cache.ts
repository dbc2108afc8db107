import type { SubjectKey } from './subject-key';

/** The maximum of entries in one generation. There are two generations. */
const ENTRIES_MAX = 25_000;
/**
 * The time, in milliseconds, after which the next new entry begins a generation. An unused entry is dropped with the
 * second generation after its own.
 */
const GENERATION_MS = 300_000;

/** Recent entries by the ids of keys: a bounded number, for a bounded time. */
class Recent<Entry> {
  private young = new Map<string, Entry>();
  private old = new Map<string, Entry>();
  private bornMs = performance.now();

  get(id: string): Entry | undefined {
    const found = this.young.get(id);
    if (found !== undefined) return found;
    const older = this.old.get(id);
    if (older === undefined) return undefined;
    this.old.delete(id);
    this.set(id, older);
    return older;
  }

  set(id: string, entry: Entry): void {
    if (this.young.size >= ENTRIES_MAX || performance.now() - this.bornMs > GENERATION_MS) {
      this.old = this.young;
      this.young = new Map();
      this.bornMs = performance.now();
    }
    this.young.set(id, entry);
  }

  delete(id: string): void {
    this.young.delete(id);
    this.old.delete(id);
  }
}

/** Recently decrypted keys. The caller must have just read that the key is still in force. */
export class KeyCache {
  private readonly keys = new Recent<SubjectKey>();
  /** Of keys that were dropped. */
  private readonly dropped = new Recent<true>();

  get(id: string): SubjectKey | undefined {
    return this.keys.get(id);
  }

  /**
   * Answers the key to use, which is the cached one where there is one. A key that was dropped is not cached: its caller
   * has read it before its destruction.
   */
  set(key: SubjectKey): SubjectKey {
    const known = this.keys.get(key.id);
    if (known !== undefined) return known;
    if (this.dropped.get(key.id) === undefined) this.keys.set(key.id, key);
    return key;
  }

  /** Removes a destroyed key and overwrites its bytes. */
  drop(id: string): void {
    this.keys.get(id)?.wipe();
    this.keys.delete(id);
    this.dropped.set(id, true);
  }
}
