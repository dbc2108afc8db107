import { Frame } from '../frame';
import { OPERATOR_PAGES } from './pages';
import { useOperatorWords } from './words';

/** The pages of the operator's session. */
export function OperatorShell({ onLeave }: { readonly onLeave: () => void }) {
  const { t } = useOperatorWords();
  const pages = OPERATOR_PAGES.map(([path, name, page]) => ({ path, title: t(name), page }));
  return <Frame brand={`Lethe · ${t('installation')}`} pages={pages} onLeave={onLeave} />;
}
