import { useContext } from 'preact/hooks';
import { useWords } from '../language';
import type { Scope } from '../service';
import { SessionContext, useScopeName } from '../session';

/** One line on a page whose acts need scopes that the key of the session lacks; nothing where it has them. */
export function Lacks({ scopes }: { readonly scopes: readonly Scope[] }) {
  const { t, listed } = useWords();
  const scopeName = useScopeName();
  const session = useContext(SessionContext);
  const missing = scopes.filter((scope) => !session.scopes.includes(scope));
  if (missing.length === 0) return null;
  const names = missing.map(scopeName);
  return (
    <p class="notice">{t(names.length === 1 ? 'lacksScope' : 'lacksScopes', { names: listed(names) })}</p>
  );
}
