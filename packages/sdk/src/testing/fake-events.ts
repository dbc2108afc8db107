import { AUDIT_EVENT_TYPES } from '../vocabulary';
import type { Tools } from './fake-bot';
import type { Json } from './fake-consent';
import { idsOf, type Ids } from './fake-ids';
import { FakeRefusal, isObject, numberFaultsIn, requireAll } from './fake-refusal';

const ERASED_ID = '0'.repeat(20);

/** The audit log of a bot, newest first. */
export class FakeEvents {
  readonly all: Json[] = [];
  private readonly erased = new Set<unknown>();

  constructor(private readonly tools: Pick<Tools, 'newId' | 'nowIso'>) {}

  add(event_type: string, ids: Ids, details: unknown, source: string): Json {
    const { newId, nowIso } = this.tools;
    const event = { id: newId(), ...ids, event_type, source, details, created_at: nowIso() };
    this.all.unshift(event);
    return event;
  }

  /** The events of a user stay without what they say of the user. */
  erase({ user_id: user, guild_id: guild }: Ids): void {
    for (const event of this.all)
      if (event['user_id'] === user && event['guild_id'] === guild) this.erased.add(event['id']);
  }

  /** As `GET /audit/events` answers them: the ids of an erased user are shown to a call that names them. */
  found(given: Json): Json[] {
    const names = ['user_id', 'guild_id', 'event_type'];
    return this.all
      .filter((event) => names.every((name) => (given[name] ?? event[name]) === event[name]))
      .map((event) => {
        if (!this.erased.has(event['id'])) return event;
        const { user_id = ERASED_ID, guild_id = ERASED_ID } = given;
        // The end of an erasure is said without a key of the user.
        const isEnd = event['source'] === 'service' && event['event_type'] === 'deletion_completed';
        const details = isEnd ? event['details'] : null;
        return { ...event, user_id, guild_id, details, erased: true };
      });
  }
}

/** An event that the bot writes. @throws FakeRefusal 400 */
export function writtenIn(given: Json): {
  readonly type: string;
  readonly ids: Ids;
  readonly details: unknown;
} {
  const { event_type: type, details = null } = given;
  const types: readonly unknown[] = AUDIT_EVENT_TYPES;
  requireAll(
    { field: 'event_type', isRight: types.includes(type), message: `must be one of ${types.join(', ')}` },
    { field: 'details', isRight: details === null || isObject(details), message: 'must be a JSON object' },
  );
  const fields = numberFaultsIn(details, 'details');
  if (fields.length > 0) throw new FakeRefusal('invalid_request', 'The request is malformed', { fields });
  return { type: String(type), ids: idsOf(given), details };
}
