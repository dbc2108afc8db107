import {
  type AuditEventEvidence,
  type AuditProof,
  type KeySet,
  VerificationError,
  verifiedBatches,
  verifyAuditProof,
} from '@lethe/sdk/evidence/web';
import type { AuditFilter } from './audit-filter';
import { isAmong, type ShownEvent } from './audit-walk';

export type Found =
  /** Of an event that is shown: it is sealed in another way, left out of the list, or not in the log. */
  | { readonly result: 'fails'; readonly why: 'differs' | 'missing' | 'unknown'; readonly eventId: string }
  | { readonly result: 'fails'; readonly why: 'foreign' }
  /** What was signed is wrong. `reason` is a message of the SDK, in English. */
  | { readonly result: 'fails'; readonly why: 'signature'; readonly reason: string };

export interface EventHolds {
  readonly result: 'holds';
  readonly sealedAt: string;
}

export interface LogHolds {
  readonly result: 'holds';
  readonly events: number;
  readonly erased: number;
  readonly batches: number;
  /** When the last batch was sealed; absent for an empty log. */
  readonly sealedAt?: string;
  /** Events on the page that are in the log as they are shown. */
  readonly shown: number;
  /** Events on the page whose user was erased after it was loaded. */
  readonly erasedSince: number;
}

/** What a page shows of the log, and what it was asked for. */
export interface Shown {
  readonly events: readonly ShownEvent[];
  readonly filter: AuditFilter;
}

/** Checks an event by its proof: that it is sealed as it is shown. */
export function checkEvent(
  botId: string,
  event: ShownEvent,
  proof: AuditProof,
  keys: KeySet,
): Promise<EventHolds | Found> {
  return faultsOf(async () => {
    const { sealed_at: sealedAt } = await verifyAuditProof(proof, keys);
    if (proof.bot_id !== botId) return { result: 'fails', why: 'foreign' };
    if (proof.event.id !== event.id) return { result: 'fails', why: 'unknown', eventId: event.id };
    if (!isShown(event, proof.event)) return { result: 'fails', why: 'differs', eventId: event.id };
    return { result: 'holds', sealedAt: String(sealedAt) };
  });
}

/**
 * Checks the whole log, of which one batch at a time is in memory: that no event was changed, exchanged or removed since it was
 * sealed. Checks by the way that the events on the page are sealed as they are shown, and that none between them is left out.
 */
export function checkLog(
  botId: string,
  lines: AsyncIterable<string>,
  keys: KeySet,
  shown: Shown,
  onRead: (events: number) => void,
): Promise<LogHolds | Found> {
  return faultsOf(async () => {
    const compared = new Comparison(shown);
    const batches = verifiedBatches(lines, keys);
    let read = 0;
    let sealedAt: string | undefined;
    for (;;) {
      const step = await batches.next();
      if (step.done === true) {
        const { botId: of, ...log } = step.value;
        if (of !== botId) return { result: 'fails', why: 'foreign' };
        if (!log.isWhole) throw new VerificationError('the export lacks the beginning of the log');
        const { events, erased, batches: count } = log;
        const seal = sealedAt === undefined ? {} : { sealedAt };
        const counts = { events, erased, batches: count, ...seal };
        return compared.fault() ?? { result: 'holds', ...counts, ...compared.counts() };
      }
      const { checkpoint, sealed } = step.value;
      for (const event of sealed) compared.take(event);
      sealedAt = String(checkpoint['sealed_at']);
      onRead((read += sealed.length));
    }
  });
}

async function faultsOf<T>(check: () => Promise<T | Found>): Promise<T | Found> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof VerificationError)
      return { result: 'fails', why: 'signature', reason: error.message };
    throw error;
  }
}

/** Compares what a page shows, newest first, with the sealed events, oldest first. */
class Comparison {
  private readonly waiting: Map<string, ShownEvent>;
  private readonly oldest: string | undefined;
  private isBetween = false;
  private found: Found | undefined;
  private erasedSince = 0;

  constructor(private readonly of: Shown) {
    this.waiting = new Map(of.events.map((event) => [event.id, event]));
    this.oldest = of.events.at(-1)?.id;
  }

  take(event: AuditEventEvidence): void {
    if (this.found !== undefined || this.waiting.size === 0) return;
    const shown = this.waiting.get(event.id);
    this.isBetween ||= event.id === this.oldest;
    const fails = (why: 'differs' | 'missing') => (this.found = { result: 'fails', why, eventId: event.id });
    if (shown === undefined) {
      if (this.isBetween && isAskedFor(event, this.of.filter)) fails('missing');
      return;
    }
    this.waiting.delete(event.id);
    if (event.erased && shown.erased !== true) this.erasedSince += 1;
    else if (!isShown(shown, event)) fails('differs');
  }

  fault(): Found | undefined {
    const [left] = this.waiting.keys();
    if (this.found !== undefined || left === undefined) return this.found;
    return { result: 'fails', why: 'unknown', eventId: left };
  }

  counts(): Pick<LogHolds, 'shown' | 'erasedSince'> {
    const { erasedSince } = this;
    return { shown: this.of.events.length - erasedSince, erasedSince };
  }
}

/** Whether an event is shown as it was sealed. Of an erased user neither shows who it was. */
function isShown(shown: ShownEvent, sealed: AuditEventEvidence): boolean {
  const { parts } = sealed;
  const isSame =
    shown.event_type === sealed.event_type &&
    shown.source === sealed.source &&
    shown.created_at === sealed.created_at &&
    (shown.erased === true) === sealed.erased;
  if (!isSame) return false;
  if (parts === null) return sealed.erased && shown.details === null;
  const isOfUser =
    sealed.erased || (parts.user?.value === shown.user_id && parts.guild?.value === shown.guild_id);
  // Details that the service says it cannot read are shown as such, and not as null.
  return (
    isOfUser && (shown.unreadable === true || textOf(parts.details?.value) === JSON.stringify(shown.details))
  );
}

/** The JSON text of the details of a sealed event, in the form of a page. */
function textOf(details: string | null | undefined): string {
  return JSON.stringify(details == null ? null : JSON.parse(details));
}

/** Whether an event must be on a page. Whose it was is unknown once the user is erased. */
function isAskedFor(event: AuditEventEvidence, filter: AuditFilter): boolean {
  const { event_type: type, erased, parts } = event;
  if ((filter.type !== undefined && filter.type !== type) || !isAmong(filter, event)) return false;
  if (filter.user === undefined && filter.server === undefined) return true;
  if (erased || parts === null) return false;
  const isUser = filter.user === undefined || parts.user?.value === filter.user;
  return isUser && (filter.server === undefined || parts.guild?.value === filter.server);
}
