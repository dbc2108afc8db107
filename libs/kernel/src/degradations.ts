/** The names of the parts that work worse than configured at present. Readiness and metrics read them. */
export class Degradations {
  private readonly names = new Set<string>();

  begin(name: string): void {
    this.names.add(name);
  }

  end(name: string): void {
    this.names.delete(name);
  }

  /** The present names, in the order in which they began. */
  get current(): readonly string[] {
    return [...this.names];
  }
}
