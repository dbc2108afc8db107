import type { ErasureTime } from '@app/subjects';

/** When the data that a withdrawn consent has left will be erased, by category, as its holders announce it. */
export class AnnouncedErasures {
  private readonly times = new Map<string, string>();

  /** Of several times of one category the last one counts: only then is all of it erased. */
  constructor(announced: Iterable<ErasureTime>) {
    for (const [category, at] of announced)
      if (at > (this.times.get(category) ?? '')) this.times.set(category, at);
  }

  of(category: string): string | undefined {
    return this.times.get(category);
  }

  /**
   * When the last of it is erased, without the categories `listed` on their own; undefined where nothing is held, or where
   * nothing is erased by itself.
   */
  lastBut(listed: readonly string[] = []): string | undefined {
    const times = [...this.times].filter(([category]) => !listed.includes(category)).map(([, at]) => at);
    return times.sort().at(-1);
  }
}
