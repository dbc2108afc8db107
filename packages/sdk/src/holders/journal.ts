import { digestOfList, type Marks } from './store';

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
  /** Done without an erasure. */
  readonly left?: true;
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

  /** Reads it as it is in the store now. @throws RangeError for a time that is more than an hour ahead */
  async load(): Promise<true> {
    const all = await this.marks.all(this.list);
    // After the notes: another process moves it before it removes those that are behind it.
    const since = await this.marks.get(this.list, SINCE);
    // Clocks of two machines differ a little. One that is far behind is right again soon: until then the store is not taken for a new one,
    // in which the rows of all erased users without a consent would be erased again.
    if (since !== undefined && Date.parse(since) > Date.now() + LATE_MS)
      throw new RangeError(
        `Its notes say that all is done up to ${since}, a time to come: no erasure is repeated until an hour before. ` +
          `If the clock is right, remove the note ${SINCE} of ${this.list} (as the name of a folder: ${digestOfList(this.list)}). ` +
          'The store then counts as new: every erasure that Lethe knows of is repeated, but for users with a reason to keep data.',
      );
    this.since = since;
    this.notes = new Map(
      [...all].filter(([name]) => name !== SINCE).map(([name, note]) => [name, JSON.parse(note) as Note]),
    );
    return true;
  }

  private isDone(id: string): boolean {
    return this.notes.get(id)?.done === true;
  }

  /** Whether it is done by now, also by another process. */
  async isDoneAnywhere(id: string): Promise<boolean> {
    return this.isDone(id) || (await this.noted(id))?.done === true;
  }

  /** What was found where it is erased by now, as the store says: it may have been restored since. */
  async erasedBy(id: string): Promise<number | undefined> {
    const note = await this.noted(id);
    return note?.done === true && note.left !== true ? note.found : undefined;
  }

  /** Notes what is about to be erased, and answers what the first attempt found, also that of another process. */
  async begin(task: Noted, found: number): Promise<number> {
    const first = Math.max(found, (await this.noted(task.task_id))?.found ?? 0);
    if (found > 0) await this.note(task, { found: first, done: false });
    return first;
  }

  async end(task: Noted, found: number): Promise<void> {
    if (!this.isDone(task.task_id) || this.notes.get(task.task_id)?.left === true)
      await this.note(task, { found, done: true });
  }

  /** Notes that the store has nothing to erase for this task. */
  async leave(task: Noted): Promise<void> {
    if (!this.isDone(task.task_id)) await this.note(task, { found: 0, done: true, left: true });
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
    const text = await this.marks.get(this.list, id);
    const note = text === undefined ? undefined : (JSON.parse(text) as Note);
    if (note === undefined) this.notes.delete(id);
    else this.notes.set(id, note);
    return note;
  }

  private async note({ task_id, created_at }: Noted, rest: Omit<Note, 'at'>): Promise<void> {
    const note = { at: created_at, ...rest };
    await this.marks.put(this.list, task_id, JSON.stringify(note));
    this.notes.set(task_id, note);
  }
}
