import type { LetheError } from './errors';
import type { Route } from './routes';

/** One attempt of an operation, as hooks see it. It has no id of a user and no value. */
export interface Attempt {
  readonly route: Route;
  readonly attempt: number;
}

export interface Hooks {
  readonly onRequest?: (attempt: Attempt) => void;
  readonly onResponse?: (
    attempt: Attempt & { status: number; durationMs: number; requestId?: string },
  ) => void;
  readonly onRetry?: (attempt: Attempt & { waitMs: number; error: LetheError }) => void;
  /** Runs a call with all its attempts inside a span, for example `tracer.startActiveSpan`. The call is sent once, also where it returns nothing. */
  readonly trace?: <T>(name: Route, run: () => Promise<T>) => Promise<T>;
}

/** Also of a document, which is no operation. */
export type Attempted = Omit<Attempt, 'route'> & { readonly route: string };

/** A hook that fails does not fail the call. */
export function report<Name extends 'onRequest' | 'onResponse' | 'onRetry'>(
  { hooks }: { readonly hooks: Hooks },
  name: Name,
  about: Omit<Parameters<NonNullable<Hooks[Name]>>[0], 'route'> & Attempted,
): void {
  try {
    (hooks[name] as ((given: typeof about) => void) | undefined)?.(about);
  } catch {
    // Logs and metrics of the caller are not part of the call.
  }
}
