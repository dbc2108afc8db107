import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useWords } from './language';
import { useBot } from './queries';
import type { Scope, Session } from './service';

export const SessionContext = createContext<Session>({
  bot_id: '',
  scopes: [],
  expires_at: '',
  revoked_data_grace_days: null,
});

/** Whether the key of the session has one of the scopes. */
export function useHas(...scopes: readonly Scope[]): boolean {
  const session = useContext(SessionContext);
  return scopes.some((scope) => session.scopes.includes(scope));
}

/** Whether its calls with one of the scopes are taken now. A suspended bot reads and erases, and changes nothing else. */
export function useAllowed(...scopes: readonly Scope[]): boolean {
  const isSuspended = useBot().data?.suspended_at != null;
  const open = scopes.filter((scope) => !isSuspended || scope === 'read' || scope === 'erase');
  return useHas(...open);
}

/** Names a scope of an API key in one word of the language. */
export function useScopeName(): (scope: Scope) => string {
  const { t } = useWords();
  return (scope) => t(`scope_${scope}`).split(':')[0] ?? scope;
}
