/** The name while the disk of the database is full or almost full. Requests that store more are refused. */
export const DISK_LOW = 'disk_low';

/** The name while the standby of `DATABASE_READ_URL` is away or too late, and the primary reads what it should read. */
export const STANDBY_AWAY = 'standby_away';

/** The names of the parts that work worse than configured at present. Readiness and metrics read them. */
export class Degradations {
  private readonly names = new Set<string>();

  begin(name: string): void {
    this.names.add(name);
  }

  end(name: string): void {
    this.names.delete(name);
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** The present names, in the order in which they began. */
  get current(): readonly string[] {
    return [...this.names];
  }
}
