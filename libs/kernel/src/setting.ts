/**
 * One environment variable: a row of the table in docs/reference.md, of `.env.example` and of the check at the start.
 */
export interface Setting<T> {
  readonly name: string;
  readonly default: string;
  readonly description: string;
  /** @throws Error whose message completes the sentence "NAME must be …". */
  readonly parse: (text: string) => T;
}

export function setting<T>(
  name: string,
  fallback: string,
  description: string,
  parse: (text: string) => T,
): Setting<T> {
  return { name, default: fallback, description, parse };
}
