import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import type { Act } from '@app/acts';
import { declined, notBefore } from './consent-changes';
import { ConsentWriter, type Declined } from './consent-writer';
import type { ConsentDeclinedView, DeclineConsent } from './consent.dto';
import { ConsentService } from './consent.service';
import { type Addressed, NamedRequests, waitingRequest } from './named-requests';

/** The refusal of a request that waits. */
interface Decline {
  readonly botId: string;
  readonly input: DeclineConsent;
}

interface Change extends Declined {
  readonly input: DeclineConsent;
}

/** Ends requests that wait; what was before them stays or is there again. */
@Injectable()
export class ConsentDeclineAct implements Act<Decline, Addressed, Change, ConsentDeclinedView> {
  constructor(
    private readonly writer: ConsentWriter,
    private readonly requests: NamedRequests,
    private readonly consents: ConsentService,
  ) {}

  load(tx: Tx, given: readonly Decline[]): Promise<Addressed[]> {
    return this.requests.hold(tx, given);
  }

  /** @throws ApiError 404 without a request that waits */
  decide(state: Addressed, { input }: Decline, now: string): Change {
    const { consent, request } = waitingRequest(state, input);
    const act = { ...request, source: input.source };
    return { before: consent, after: declined(consent), act, at: notBefore(now, request.at), input };
  }

  store(tx: Tx, changes: readonly Change[]): Promise<ConsentDeclinedView[]> {
    return Promise.all(
      changes.map(async (change) => {
        const { before, after, input } = change;
        const declined_at = await this.writer.decline(tx, change);
        const subject = await this.requests.named(tx, before, input);
        const found = { consent: after, declinedAt: declined_at };
        return { ...(await this.consents.statusOf(tx, subject, found)), declined_at };
      }),
    );
  }
}
