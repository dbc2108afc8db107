import { field, type Presence } from '@app/http';
import { EVENT_TYPES } from './event-types';

/** A type that is declared at the time of the request, or of the documentation: modules may be loaded after a DTO. */
export const EventType = (given?: Presence): PropertyDecorator =>
  field(
    {
      check: (value) => typeof value === 'string' && EVENT_TYPES.includes(value),
      message: () => `must be one of ${EVENT_TYPES.join(', ')}`,
      // Not a copy: types that are declared later are documented too.
      schema: { type: 'string', enum: EVENT_TYPES },
    },
    given,
  );
