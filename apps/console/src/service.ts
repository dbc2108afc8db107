import { Lethe } from '@lethe/sdk';
import { keepHere, keptHere } from './kept-here';

export type Scope = 'read' | 'write' | 'erase' | 'admin';

/** A session of the console, as the service answers it. */
export interface Session {
  readonly bot_id: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
  /** Days from a withdrawal until what rested on the consent is erased; null: never. */
  readonly revoked_data_grace_days: number | null;
  /** `PUBLIC_URL` of the service; absent in a session that began before it said so. */
  readonly public_url?: string | null;
}

/** A session of the operator. */
export interface OperatorSession {
  readonly operator: true;
  readonly expires_at: string;
}

export type AnySession = Session | OperatorSession;
export const isOfOperator = (session: AnySession): session is OperatorSession => 'operator' in session;

const PAGE = { 'x-lethe-console': '1' };
/** The header with the bot of the page: the cookie is of all tabs, and another one may have signed in as another bot. */
const BOT = 'x-lethe-bot';
const TIMEOUT_MS = 20_000;
/** Of an erasure of many users, or of one user in many servers. */
export const ERASURE_MAX_MS = 600_000;
const SESSION = '/console/session';
/** What the page may know of its session after it was loaded anew: no key. */
const KEPT = 'lethe-session';

/** Called when the service no longer takes the session. */
let ended = (): void => undefined;
export const onSessionEnd = (listener: () => void): void => void (ended = listener);

/** A client of one session: it keeps the id of its bot. The browser sends the session, which no script can read. */
function connected(session: AnySession | undefined): Lethe {
  const bot = session && { [BOT]: isOfOperator(session) ? 'operator' : session.bot_id };
  let refusal: Response | undefined;
  const client = new Lethe({
    url: `${location.origin}/console`,
    fetch: async (input, init) => {
      // The session of another tab may by now be one that the service takes.
      if (refusal !== undefined) return refusal.clone();
      const headers = { ...(init?.headers as Record<string, string> | undefined), ...PAGE, ...bot };
      const response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
      if (response.status !== 401) return response;
      refusal = response.clone();
      // A late answer to an earlier session says nothing about this one.
      if (client === lethe) ended();
      return response;
    },
    retries: 1,
    timeoutMs: TIMEOUT_MS,
  });
  return client;
}

/** The client of the present session. */
export let lethe = connected(keptSession());

/** The client of the routes that need neither key nor session. */
export const openly = new Lethe({
  url: location.origin,
  fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
  retries: 1,
  timeoutMs: TIMEOUT_MS,
});

export class SessionError extends Error {
  constructor(readonly status: number) {
    super(`The service answered ${status}.`);
  }
}

/** Begins a session. The key or token is given to the service and kept nowhere else. @throws SessionError */
export async function signIn(key: string): Promise<AnySession> {
  const response = await fetch(SESSION, {
    method: 'POST',
    headers: { ...PAGE, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  if (!response.ok) throw new SessionError(response.status);
  const { data } = (await response.json()) as { data: AnySession };
  keepHere(KEPT, JSON.stringify(data), 'sessionStorage');
  lethe = connected(data);
  return data;
}

/** Ends the session. @throws where the service has not taken the cookie away */
export async function signOut(): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(SESSION, { method: 'DELETE', headers: PAGE, signal });
  if (!response.ok) throw new SessionError(response.status);
  keepHere(KEPT, null, 'sessionStorage');
}

/** The session that an earlier page of this tab has begun. The service decides whether it still is one. */
export function keptSession(): AnySession | undefined {
  const text = keptHere(KEPT, 'sessionStorage');
  const session = text === null ? undefined : (JSON.parse(text) as AnySession);
  return session !== undefined && Date.parse(session.expires_at) > Date.now() ? session : undefined;
}

export function forgetSession(): void {
  keepHere(KEPT, null, 'sessionStorage');
}
