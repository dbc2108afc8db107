export { ConsentHistoryPruning } from './consent-history-pruning';
export {
  consentCovering,
  consentHeld,
  ConsentScope,
  consentShown,
  consentsInForce,
  requireConsent,
  requireConsentTo,
} from './consent.gate';
export { ConsentReceipts, type ShownRequest } from './consent-receipts.service';
export { type ShownWords, wordsFound } from './consent-words';
export { CATEGORIES_MAX } from './consent.dto';
export { ConsentModule } from './consent.module';
export { ConsentService } from './consent.service';
export { holdSubject } from './consent.sql';
export { tryHoldConsents } from './consents-erasing.sql';
export { ConsentsRevoked, type Revoked } from './consents-revoked.event';
