import type { Digest } from '@app/crypto';
import { declined, leavesData, pendingRequest, requested } from './consent-changes';
import { declinedAt } from './consent-history';
import {
  CONSENT_ACTIONS,
  CONSENT_STATUSES,
  type ConsentAction,
  type ConsentStatus,
  DECISIVE,
  inForce,
  isInForce,
  LEAVING_REFUSAL,
  PUTTING_IN_FORCE,
} from './consent-states';
import type { Consent } from './consent.entity';

const SUBJECT = { botId: 'bot', guildId: 'guild' as Digest, userId: 'user' as Digest };
const [EARLIER, NOW] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
const DECIDED = { requestedAt: EARLIER, acceptedAt: EARLIER, revokedAt: EARLIER };
const KEPT = { ...DECIDED, id: 'kept', version: '0', categories: null };
const ASKED = { id: 'new', version: '2', categories: null, at: NOW };

const consentWith = (status: ConsentStatus, more: Partial<Consent> = {}): Consent => ({
  ...{ ...SUBJECT, ...DECIDED, id: 'c1', version: '1', categories: null, erasing: 0 },
  ...{ pendingId: null, pendingVersion: null, pendingCategories: null, pendingRequestedAt: null },
  ...{ beforeRequest: null, status, ...more },
});

describe('what a state of a consent means', () => {
  /** Of each state: whether it is in force, and whether data is left beside a consent to all, and beside one to some categories. */
  const MEANING: Record<ConsentStatus, readonly [inForce: boolean, ofAll: boolean, ofSome: boolean]> = {
    none: [false, false, false],
    pending: [false, true, true],
    accepted: [true, false, true],
    revoked: [false, true, true],
  };

  it.each(CONSENT_STATUSES)('%s: whether it is in force, never during an erasure', (status) => {
    expect(isInForce({ status, erasing: 0 })).toBe(MEANING[status][0]);
    expect(isInForce({ status, erasing: 1 })).toBe(false);
  });

  it('is no consent in force where only a newer version knows the state', () => {
    expect(isInForce({ status: 'paused' as ConsentStatus, erasing: 0 })).toBe(false);
  });

  it('has one condition in SQL that names the states in which a row is in force', () => {
    const names = CONSENT_STATUSES.filter((status) => isInForce({ status, erasing: 0 }));
    const listed = names.map((name) => `'${name}'`).join(', ');
    expect(inForce('rows')).toBe(`rows.status IN (${listed}) AND rows.erasing = 0`);
  });

  it.each(CONSENT_STATUSES)('%s: whether data is left for a later erasure', (status) => {
    const [, ofAll, ofSome] = MEANING[status];
    expect(leavesData({ status, categories: null })).toBe(ofAll);
    expect(leavesData({ status, categories: { a: status } })).toBe(ofSome);
  });

  const BEFORE: Record<ConsentStatus, readonly [before: Consent, afterRefusal: object | null]> = {
    none: [consentWith('none'), null],
    pending: [consentWith('pending', { beforeRequest: KEPT }), consentWith('revoked', KEPT)],
    accepted: [consentWith('accepted'), consentWith('accepted')],
    revoked: [consentWith('revoked'), consentWith('revoked')],
  };

  it.each(CONSENT_STATUSES)('%s: a new request and its refusal lose nothing that it has kept', (status) => {
    const [before, after] = BEFORE[status];
    const asked = requested(SUBJECT, before, ASKED);
    expect(pendingRequest(asked)).toStrictEqual(ASKED);
    expect(isInForce(asked)).toBe(isInForce(before));
    expect(declined(asked)).toEqual(after);
  });
});

describe('what an action of the history means', () => {
  const MEANING: Record<ConsentAction, string> = {
    requested: '',
    shown: '',
    accepted: 'decisive puts in force',
    declined: '',
    revoked: 'decisive leaves a refusal',
    categories_withdrawn: 'leaves a refusal',
  };

  it.each(CONSENT_ACTIONS)('%s: is named by the lists of the statements that it concerns', (action) => {
    const lists = {
      decisive: DECISIVE,
      'puts in force': PUTTING_IN_FORCE,
      'leaves a refusal': LEAVING_REFUSAL,
    };
    const named = Object.entries(lists).filter(([, list]) => list.split(', ').includes(`'${action}'`));
    expect(named.map(([name]) => name).join(' ')).toBe(MEANING[action]);
  });

  it('leaves the time of a refusal as it is after a withdrawal alone', () => {
    expect(declinedAt('TRUE')).toContain(`action NOT IN ('revoked', 'categories_withdrawn')`);
  });
});
