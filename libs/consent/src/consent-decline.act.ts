import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import type { Act } from '@app/idempotency';
import { notFound } from '@app/kernel';
import { type ConsentAsked, declined, pendingRequest } from './consent-changes';
import { ConsentTransitions } from './consent-transitions';
import type { ConsentDeclinedView, DeclineConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { type Addressed, NamedRequests } from './named-requests';

/** The refusal of a request that waits. */
export interface Refusal {
  readonly botId: string;
  readonly input: DeclineConsent;
}

interface Change {
  readonly before: Consent;
  /** The consent without the request; null where there was none. */
  readonly after: Omit<Consent, 'bot'> | null;
  readonly act: ConsentAsked & { readonly source: string | null | undefined };
  readonly input: DeclineConsent;
}

/** Ends requests that wait; what was before them stays or is there again. */
@Injectable()
export class ConsentDeclineAct implements Act<Refusal, Addressed, Change, ConsentDeclinedView> {
  constructor(
    private readonly transitions: ConsentTransitions,
    private readonly requests: NamedRequests,
  ) {}

  load(tx: Tx, given: readonly Refusal[]): Promise<Addressed[]> {
    return this.requests.hold(tx, given);
  }

  /** @throws ApiError 404 without a request that waits */
  decide({ consent }: Addressed, { input }: Refusal): Change {
    const request = consent === null ? undefined : pendingRequest(consent);
    if (consent === null || request === undefined || !this.requests.matches(consent, request, input))
      throw notFound('Consent request', { current_status: consent?.status ?? 'none' });
    return { before: consent, after: declined(consent), act: { ...request, source: input.source }, input };
  }

  store(tx: Tx, changes: readonly Change[]): Promise<ConsentDeclinedView[]> {
    return Promise.all(
      changes.map(async ({ before, after, act, input }) => {
        const declined_at = await this.transitions.decline(tx, before, after, act);
        const subject = await this.requests.named(tx, before, input);
        const found = { consent: after, declinedAt: declined_at };
        return { ...(await this.transitions.statusOf(tx, subject, found)), declined_at };
      }),
    );
  }
}
