import { field, type Given } from '@app/http';
import { AUDIT_EVENT_TYPES, type AuditEventType, OwnError } from '@app/kernel';

/** An audit event type of a module, after the prefix of its team: `acme.reminder_set`. */
type OwnEventType = `${string}.${string}`;
/** A type of Lethe or of a module. */
export type AnyEventType = AuditEventType | OwnEventType;

/** What the column `event_type` takes. */
const MAX_LENGTH = 32;
const FORM = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

/** Lethe's own types, and then those of the modules that are loaded, as they are declared. */
export const EVENT_TYPES: string[] = [...AUDIT_EVENT_TYPES];

/**
 * Declares the event types of a module when its file is loaded, in every process that the module is part of. Bots cannot
 * post events of these types; `AuditService.record` writes them, and `GET /audit/events` lists and filters them.
 * @throws OwnError for a type that is longer than 32 characters or has not the form `prefix.name` in lower case
 */
export function declareEventTypes(...types: readonly OwnEventType[]): void {
  for (const type of types) {
    if (type.length > MAX_LENGTH)
      throw new OwnError(`The audit event type ${type} is longer than ${MAX_LENGTH} characters`);
    if (!FORM.test(type))
      throw new OwnError(
        `The audit event type ${type} needs a prefix, a dot and a name in lower case, such as acme.reminder_set`,
      );
    if (!EVENT_TYPES.includes(type)) EVENT_TYPES.push(type);
  }
}

/** @throws OwnError for a type that is not declared. */
export function requireDeclared(type: AnyEventType): void {
  if (EVENT_TYPES.includes(type)) return;
  throw new OwnError(`The audit event type ${type} is not declared: call declareEventTypes in its module`);
}

/** A type that is declared at the time of the request, or of the documentation: modules may be loaded after a DTO. */
export const EventType = (given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) => typeof value === 'string' && EVENT_TYPES.includes(value),
      message: () => `must be one of ${EVENT_TYPES.join(', ')}`,
      // Not a copy: types that are declared later are documented too.
      schema: { type: 'string', enum: EVENT_TYPES },
    },
    given,
  );
