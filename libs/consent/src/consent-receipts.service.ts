import { Inject, Injectable, Logger } from '@nestjs/common';
import { Cursors, type NamedSubject, Signer, type Subject } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { type Acting, ListPage } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { type Config, CONFIG, describeFault, notFound } from '@app/kernel';
import { ConsentAcceptAct } from './consent-accept.act';
import { type ConsentAsked, pendingRequest } from './consent-changes';
import { countHistory, historyPage, latestOf } from './consent-history';
import { factsInForce, type ReceiptFacts, receiptOf } from './receipt-facts';
import { wordsFound, type WordsInLanguage } from './consent-words';
import type {
  AcceptConsent,
  AcceptedConsentView,
  ConsentHistoryQuery,
  ConsentReceiptView,
} from './consent.dto';
import { findConsent } from './consent.sql';

/** The `typ` in the header of a receipt's JWS (RFC 7515). */
const RECEIPT_TYPE = 'lethe-consent-receipt+jwt';

/** A request that waits, with the words that its acceptance is about. */
export interface ShownRequest extends ConsentAsked {
  /** The entry of the history about what was shown last. */
  readonly entry: string | undefined;
  readonly words: WordsInLanguage | undefined;
}

/** What a user was shown: under the decision that holds, and of a request that waits. */
interface ShownConsents {
  readonly asked: ShownRequest | undefined;
  readonly decided: WordsInLanguage | undefined;
}

/**
 * The proof of a consent (GDPR Art. 7(1)): its history, and receipts for the user. A receipt is personal data: it is
 * signed from committed facts, answered, and not stored.
 */
@Injectable()
export class ConsentReceipts {
  private readonly logger = new Logger('Consent');

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly accepting: ConsentAcceptAct,
    private readonly signer: Signer,
    private readonly cursors: Cursors,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Accepts a request, and adds a receipt. The consent is committed before: if the receipt cannot be signed, the answer has
   * none, and {@link receipt} can be called later.
   */
  async accept(
    { botId, actor: by }: Acting,
    input: AcceptConsent,
    claim: Claim,
  ): Promise<AcceptedConsentView> {
    const { consent, facts } = await this.acts.run(this.accepting, { botId, input, by }, claim);
    if (facts === undefined) return consent;
    try {
      return { ...consent, receipt: await this.signer.sign(this.payloadOf(facts), RECEIPT_TYPE) };
    } catch (error) {
      this.logger.error(
        'A consent was accepted and answered without its receipt, which could not be signed; GET /api/v1/consents/receipt answers it later',
        { unsigned: RECEIPT_TYPE, ...describeFault(error) },
      );
      return consent;
    }
  }

  /** The words that the user was shown, as a receipt names them. */
  shown(subject: NamedSubject): Promise<ShownConsents> {
    return this.unitOfWork.read(async (tx) => {
      const consent = await findConsent(tx, subject);
      const request = consent === null ? undefined : pendingRequest(consent);
      const last = async (id: string | undefined) => {
        const entry = id === undefined ? undefined : await latestOf(tx, subject, id);
        const text = entry?.texts?.[0];
        const words = text && (await wordsFound(tx, subject.botId, text.digest));
        return { entry: entry?.id, words: words && { ...words, language: text.language } };
      };
      const asked = await last(request?.id);
      const { words: decided } = await last(consent?.status === 'pending' ? undefined : consent?.id);
      return { asked: request && { ...request, ...asked }, decided };
    });
  }

  /** A receipt of the consent in force. @throws ApiError 404 without one. */
  async receipt(subject: NamedSubject): Promise<ConsentReceiptView> {
    const facts = await this.unitOfWork.read(async (tx) => {
      const found = await factsInForce(tx, subject);
      if (found !== undefined) return found;
      throw notFound('Consent', { current_status: (await findConsent(tx, subject))?.status ?? 'none' });
    });
    const payload = this.payloadOf(facts);
    return { receipt: await this.signer.sign(payload, RECEIPT_TYPE), payload };
  }

  private payloadOf(facts: ReceiptFacts): ReturnType<typeof receiptOf> {
    return receiptOf(facts, this.config.revokedDataGraceDays);
  }

  /** One page of the history of a subject, newest first. */
  history(subject: Subject, query: ConsentHistoryQuery): Promise<ListPage> {
    const page = this.cursors.page<[id: string]>(subject.botId, 'history', query);
    return this.unitOfWork.read(async (tx) => {
      const total = await page.total(() => countHistory(tx, subject));
      const entries = await historyPage(tx, subject, page);
      return new ListPage('entries', entries, page.of(total));
    });
  }
}
