import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Scope, Session } from './service';

export const SessionContext = createContext<Session>({
  bot_id: '',
  scopes: [],
  expires_at: '',
  revoked_data_grace_days: null,
});

/** Whether the key of the session has one of the scopes. `admin` also reads what it manages. */
export function useAllowed(...scopes: readonly Scope[]): boolean {
  const session = useContext(SessionContext);
  return scopes.some((scope) => session.scopes.includes(scope));
}
