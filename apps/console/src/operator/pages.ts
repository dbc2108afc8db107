import { OperatorBots } from './bots';
import { OperatorHealth } from './health';
import { OperatorLedger } from './ledger';
import { OperatorOverview } from './overview';
import type { OperatorTextName } from './texts.en';

/** The pages of the operator, below `/console`. */
export const OPERATOR_PAGES: readonly (readonly [
  path: string,
  name: OperatorTextName,
  page: () => preact.JSX.Element,
])[] = [
  ['/', 'overview', OperatorOverview],
  ['/bots', 'bots', OperatorBots],
  ['/health', 'health', OperatorHealth],
  ['/ledger', 'ledger', OperatorLedger],
];
