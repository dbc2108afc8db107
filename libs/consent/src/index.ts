export { ConsentAcceptAct } from './consent-accept.act';
export { ConsentDeclineAct } from './consent-decline.act';
export { ConsentHistoryPruning } from './consent-history-pruning';
export {
  consentCovering,
  consentScope,
  coversInForce,
  type Decision,
  decisionShown,
  lockDecisions,
  requireConsent,
  requireOpen,
} from './consent.gate';
export { ConsentReceipts, type ShownRequest } from './consent-receipts.service';
export { ConsentRequestAct } from './consent-request.act';
export { ConsentRevokeAct } from './consent-revoke.act';
export { isInForce } from './consent-states';
export { ConsentsRevoked, type Revoked } from './consent-writer';
export { type ShownWords, wordsFound, type WordsInLanguage } from './consent-words';
export { CATEGORIES_MAX, type ConsentStatusView } from './consent.dto';
export { ConsentModule } from './consent.module';
export { ConsentService } from './consent.service';
export { holdConsents, holdSubject, holdSubjectsAndConsents } from './consent.sql';
export { consentsInForce } from './consents-in-force';
