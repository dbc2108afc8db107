/** The name while the disk of the database is full or almost full. Requests that store more are refused. */
export const DISK_LOW = 'disk_low';

/** The names of the parts that work worse than configured at present. Readiness and metrics read them. */
export class Degradations {
  private readonly names = new Set<string>();

  /** Begins or ends a degradation. Returns whether that is a change, which the caller then reports once. */
  note(name: string, holds: boolean): boolean {
    if (holds === this.has(name)) return false;
    if (holds) this.names.add(name);
    else this.names.delete(name);
    return true;
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** The present names, in the order in which they began. */
  get current(): readonly string[] {
    return [...this.names];
  }
}
