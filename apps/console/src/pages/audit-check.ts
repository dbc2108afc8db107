import {
  type AuditEventEvidence,
  type AuditProof,
  type KeySet,
  VerificationError,
  verifiedBatches,
  verifyAuditProof,
} from '@lethe/sdk/evidence/web';

/** Events of the sealed log that one check reads at most. */
const READ_MAX = 10_000;

/** An event as the page shows it. */
export interface ShownEvent {
  readonly id: string;
  readonly user_id: string;
  readonly guild_id: string;
  readonly event_type: string;
  readonly source: string;
  readonly details: object | null;
  readonly created_at: string;
  readonly erased?: boolean;
}

/** What the shown events were asked for. */
export interface EventFilter {
  readonly event_type?: string;
  readonly user_id?: string;
  readonly guild_id?: string;
}

/** Where a check reads what the service has signed. */
export interface SealedLog {
  readonly keys: () => Promise<KeySet>;
  readonly proof: (eventId: string) => Promise<AuditProof>;
  /** The lines of the export behind a batch. */
  readonly linesAfter: (batch: number) => AsyncIterable<string>;
}

export type PageFinding =
  | { readonly result: 'holds'; readonly count: number; readonly sealedAt: string }
  | { readonly result: 'fails'; readonly why: 'differs' | 'missing' | 'unknown'; readonly eventId: string }
  /** What was signed is wrong. `reason` is a message of the SDK, in English. */
  | { readonly result: 'fails'; readonly why: 'signature'; readonly reason: string }
  | { readonly result: 'unclear' };

/**
 * Checks a page of the log, newest first, against what is signed: that each event is sealed as it is shown, and that none
 * that fits the filter is left out between the first and the last. Unclear where these are too far apart to be read.
 */
export async function checkPage(
  botId: string,
  shown: readonly ShownEvent[],
  filter: EventFilter,
  log: SealedLog,
): Promise<PageFinding> {
  try {
    return await checked(botId, shown, filter, log);
  } catch (error) {
    if (error instanceof VerificationError)
      return { result: 'fails', why: 'signature', reason: error.message };
    throw error;
  }
}

/** An event alone, by its proof. */
export async function checkEvent(
  botId: string,
  event: ShownEvent,
  proof: AuditProof,
  keys: KeySet,
): Promise<PageFinding> {
  try {
    const { sealed_at: sealedAt } = await verifyAuditProof(proof, keys);
    if (proof.bot_id !== botId || proof.event.id !== event.id) return unknown(event.id);
    if (!isShown(event, proof.event)) return { result: 'fails', why: 'differs', eventId: event.id };
    return { result: 'holds', count: 1, sealedAt: String(sealedAt) };
  } catch (error) {
    if (error instanceof VerificationError)
      return { result: 'fails', why: 'signature', reason: error.message };
    throw error;
  }
}

async function checked(
  botId: string,
  shown: readonly ShownEvent[],
  filter: EventFilter,
  log: SealedLog,
): Promise<PageFinding> {
  const oldest = shown.at(-1);
  if (oldest === undefined) return { result: 'unclear' };
  const keys = await log.keys();
  const proof = await log.proof(oldest.id);
  const { number } = await verifyAuditProof(proof, keys);
  if (proof.bot_id !== botId || proof.event.id !== oldest.id) return unknown(oldest.id);
  const waiting = new Map(shown.map((event) => [event.id, event]));
  let read = 0;
  let isBetween = false;
  for await (const { checkpoint, sealed } of verifiedBatches(log.linesAfter(Number(number) - 1), keys)) {
    if (checkpoint['bot_id'] !== botId) return unknown(oldest.id);
    for (const event of sealed) {
      const found = waiting.get(event.id);
      isBetween ||= event.id === oldest.id;
      if (found !== undefined && !isShown(found, event))
        return { result: 'fails', why: 'differs', eventId: event.id };
      if (found === undefined && isBetween && isAskedFor(event, filter))
        return { result: 'fails', why: 'missing', eventId: event.id };
      waiting.delete(event.id);
      if (waiting.size === 0)
        return { result: 'holds', count: shown.length, sealedAt: String(checkpoint['sealed_at']) };
    }
    if ((read += sealed.length) > READ_MAX) return { result: 'unclear' };
  }
  const [left = oldest.id] = waiting.keys();
  return unknown(left);
}

function unknown(eventId: string): PageFinding {
  return { result: 'fails', why: 'unknown', eventId };
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
  return isOfUser && textOf(parts.details?.value) === JSON.stringify(shown.details);
}

/** The JSON text of the details of a sealed event, in the form of a page. */
function textOf(details: string | null | undefined): string {
  return JSON.stringify(details == null ? null : JSON.parse(details));
}

/** Whether an event must be on a page. Whose it was is unknown once the user is erased. */
function isAskedFor(
  { event_type: type, erased, parts }: AuditEventEvidence,
  { event_type, user_id, guild_id }: EventFilter,
): boolean {
  if (event_type !== undefined && event_type !== type) return false;
  if (user_id === undefined && guild_id === undefined) return true;
  if (erased || parts === null) return false;
  const isUser = user_id === undefined || parts.user?.value === user_id;
  return isUser && (guild_id === undefined || parts.guild?.value === guild_id);
}
