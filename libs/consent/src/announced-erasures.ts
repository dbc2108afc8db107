/** When the data that a withdrawn consent has left will be erased, by category; said by whoever holds it. */
export class AnnouncedErasures {
  private readonly times = new Map<string, string>();

  add(category: string, erasedAt: string): void {
    this.times.set(category, erasedAt);
  }

  of(category: string): string | undefined {
    return this.times.get(category);
  }

  /**
   * When the last of it will be gone, but for categories that are told by themselves; undefined where nothing is held, or
   * nothing will be erased by itself.
   */
  lastBut(told: readonly string[] = []): string | undefined {
    const times = [...this.times].filter(([category]) => !told.includes(category)).map(([, at]) => at);
    return times.sort().at(-1);
  }
}
