/** Hands a failure to the people who run the bot; `console.error` by default. */
export function reportTo(onError: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    // The answer says that the failure was reported.
    (onError ?? ((failure) => globalThis.console.error(failure)))(error);
  } catch {
    // A log that fails does not fail the answer.
  }
}
