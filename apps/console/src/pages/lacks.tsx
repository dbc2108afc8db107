import { useContext } from 'preact/hooks';
import { useWords } from '../language';
import type { Scope } from '../service';
import { SessionContext } from '../session';

/** One line on a page whose acts need scopes that the key of the session lacks; nothing where it has them. */
export function Lacks({ scopes }: { readonly scopes: readonly Scope[] }) {
  const { t, listed } = useWords();
  const session = useContext(SessionContext);
  const missing = scopes.filter((scope) => !session.scopes.includes(scope));
  if (missing.length === 0) return null;
  const names = missing.map((scope) => t(`scope_${scope}`).split(':')[0] ?? scope);
  return (
    <p class="notice">{t(names.length === 1 ? 'lacksScope' : 'lacksScopes', { names: listed(names) })}</p>
  );
}
