/** Counts the running calls to each URL, so that no receiver gets too many at once. */
export class UrlConcurrency {
  private readonly taken = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** False when the limit of the URL is reached. */
  take(url: string): boolean {
    const count = this.taken.get(url) ?? 0;
    if (count >= this.max) return false;
    this.taken.set(url, count + 1);
    return true;
  }

  release(url: string): void {
    const count = this.taken.get(url) ?? 0;
    if (count > 1) this.taken.set(url, count - 1);
    else this.taken.delete(url);
  }
}
