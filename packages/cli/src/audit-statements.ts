import {
  ACTS_EN,
  actsOf,
  type AuditAct,
  type AuditProof,
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
} from '@lethe/sdk/evidence';
import { many, scope } from './output';

/** What was verified: its kind, a sentence for everybody, and what was signed. */
export interface Said<Kind extends string> {
  readonly kind: Kind;
  readonly sentence: string;
  readonly statement: object;
}

export function proof(given: AuditProof, keys: KeySet): Said<'proof'> {
  const checkpoint = verifyAuditProof(given, keys);
  const { event, bot_id: bot } = given;
  const user = event.parts?.user?.value;
  const subject = user
    ? `user ${user} in ${scope(event.parts?.guild?.value ?? 'none')}`
    : // No hash covers that the event says `erased`.
      'a user whom the proof does not name';
  const author = event.source === 'service' ? '' : ', as the bot itself wrote,';
  const acts = actsOf(event).map((act) => (Object.hasOwn(ACTS_EN, act) ? ACTS_EN[act as AuditAct] : act));
  return {
    kind: 'proof',
    sentence: `The audit log of the bot ${bot} holds, unchanged since ${day(checkpoint['sealed_at'])}: on ${day(event.created_at)}${author} ${acts.join(', or ')} about ${subject}.`,
    statement: checkpoint,
  };
}

export async function auditLog(lines: AsyncIterable<string>, keys: KeySet): Promise<Said<'audit_log'>> {
  const log = await verifyAuditExport(lines, keys);
  const { botId, after, isWhole, batches, events, erased, checkpoint } = log;
  const until = checkpoint === undefined ? '' : ` up to ${day(checkpoint['sealed_at'])}`;
  const named = `audit log of the bot ${botId}${until}`;
  const holds = isWhole
    ? `The ${named} is complete and unchanged`
    : `The part of the ${named} behind batch ${after} is unchanged; what was before it does not show`;
  const pruned =
    isWhole && after > 0
      ? ` Its first ${many(after, 'batch', 'batches')} were pruned, as the service has signed.`
      : '';
  return {
    kind: 'audit_log',
    sentence: `${holds}: ${events} events about its users in ${batches} batches, ${erased} of them marked as about erased users.${pruned}`,
    statement: { bot_id: botId, after, is_whole: isWhole, batches, events, erased, checkpoint },
  };
}

/** A time as people write it, in UTC. */
export function day(time: unknown): string {
  const at = new Date(String(time));
  if (Number.isNaN(at.getTime())) return String(time);
  const date = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat('en-GB', date).format(at)} UTC`;
}
