import type { ComponentChildren } from 'preact';
import { Frame } from '../frame';
import { OperatorBots } from './bots';
import { OperatorHealth } from './health';
import { OperatorLedger } from './ledger';
import { OperatorOverview } from './overview';
import { useOperatorWords } from './words';

/** The pages of the operator's session, below `/console`. */
const PAGES = [
  ['/', 'overview', OperatorOverview],
  ['/bots', 'bots', OperatorBots],
  ['/health', 'health', OperatorHealth],
  ['/ledger', 'ledger', OperatorLedger],
] as const;

export function OperatorShell({
  notice,
  hasBegun,
  onLeave,
}: {
  readonly notice: ComponentChildren;
  readonly hasBegun: boolean;
  readonly onLeave: () => Promise<void>;
}) {
  const { t } = useOperatorWords();
  const pages = PAGES.map(([path, name, page]) => ({ path, title: t(name), page }));
  return <Frame brand={`Lethe · ${t('installation')}`} {...{ pages, notice, hasBegun, onLeave }} />;
}
