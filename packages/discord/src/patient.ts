/** A call for a user, whose interaction is deferred: it waits for the limiter of the service, which begins anew each minute. */
export const PATIENT = { timeoutMs: 90_000 };
