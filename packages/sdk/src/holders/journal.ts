import type { Marks } from './store';

/** The name of the note that says up to when all is done. */
const SINCE = 'since';
export const BEGINNING = '1970-01-01T00:00:00.000Z';
/** How much later than its time a task may have appeared in the list. */
const LATE_MS = 3_600_000;

/** Of which time, how many rows were found first, and whether they are erased. */
interface Note {
  readonly at: string;
  readonly found: number;
  readonly done: boolean;
}

export interface Noted {
  readonly task_id: string;
  readonly created_at: string;
}

/**
 * What was erased in one store, kept in the store itself: a restored backup lacks exactly what was erased after it. A note
 * is written before the erasure, so that an attempt after a crash still knows what was found.
 */
export class Journal {
  private notes = new Map<string, Note>();
  private since: string | undefined;

  constructor(
    private readonly marks: Marks,
    private readonly list: string,
  ) {}

  /** Whether the store has been in use: a new one knows of no erasure. */
  get isNew(): boolean {
    return this.since === undefined;
  }

  /** Whether the notes went past this task: a restored store has not come so far. */
  hasPassed({ created_at: at }: Pick<Noted, 'created_at'>): boolean {
    return this.since !== undefined && Date.parse(this.since) >= Date.parse(at);
  }

  /** Every task that was made before is done. */
  get from(): string {
    return new Date(Math.max(0, Date.parse(this.since ?? BEGINNING) - LATE_MS)).toISOString();
  }

  /** Reads it as it is in the store now. @throws RangeError for a time to come */
  async load(): Promise<true> {
    const all = await this.marks.all(this.list);
    // After the notes: another process moves it before it removes those that are behind it.
    const since = await this.marks.get(this.list, SINCE);
    // A clock that is behind is right again soon. A store that counted as new until then would be erased of who has no consent.
    if (since !== undefined && Date.parse(since) > Date.now())
      throw new RangeError(
        `Its notes say that all is done up to ${since}, a time to come: no erasure is repeated until the clock has reached it. ` +
          `If the clock is right, remove the note ${SINCE} of ${this.list}.`,
      );
    this.since = since;
    this.notes = new Map(
      [...all].filter(([name]) => name !== SINCE).map(([name, note]) => [name, JSON.parse(note) as Note]),
    );
    return true;
  }

  isDone(id: string): boolean {
    return this.notes.get(id)?.done === true;
  }

  /** What was found where it is done by now, also by another process. */
  async foundBy(id: string): Promise<number | undefined> {
    const note = this.isDone(id) ? this.notes.get(id) : await this.noted(id);
    return note?.done === true ? note.found : undefined;
  }

  /** Notes what is about to be erased, and answers what the first attempt found, also that of another process. */
  async begin(task: Noted, found: number): Promise<number> {
    const first = Math.max(found, (await this.noted(task.task_id))?.found ?? 0);
    if (found > 0) await this.note(task, { found: first, done: false });
    return first;
  }

  async end(task: Noted, found: number): Promise<void> {
    if (!this.isDone(task.task_id)) await this.note(task, { found, done: true });
  }

  /** Every task that was made before `time` is done: their notes are no longer needed. */
  async settle(time: string): Promise<void> {
    if (this.since !== undefined && Date.parse(this.since) >= Date.parse(time)) return;
    await this.marks.put(this.list, SINCE, time);
    this.since = time;
    const old = [...this.notes].filter(([, { at }]) => Date.parse(at) < Date.parse(this.from));
    await this.marks.remove(
      this.list,
      old.map(([id]) => id),
    );
    for (const [id] of old) this.notes.delete(id);
  }

  private async noted(id: string): Promise<Note | undefined> {
    const note = await this.marks.get(this.list, id);
    return note === undefined ? undefined : (JSON.parse(note) as Note);
  }

  private async note({ task_id, created_at }: Noted, rest: Omit<Note, 'at'>): Promise<void> {
    const note = { at: created_at, ...rest };
    await this.marks.put(this.list, task_id, JSON.stringify(note));
    this.notes.set(task_id, note);
  }
}
