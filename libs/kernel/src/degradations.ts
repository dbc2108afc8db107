/** Names what runs worse than it was configured to, from its beginning to its end; readiness and metrics read it. */
export class Degradations {
  private readonly names = new Set<string>();

  begin(name: string): void {
    this.names.add(name);
  }

  end(name: string): void {
    this.names.delete(name);
  }

  /** The conditions of this moment, in the order in which they began. */
  get current(): readonly string[] {
    return [...this.names];
  }
}
