import { Flag, KEY_MAX, Of, OneOf, Snowflake, Text, Timestamp, WalkPagination, WalkQuery } from '@app/http';
import { ConsentStatusView } from './consent.dto';
import { CONSENT_STATUSES, type ConsentStatus } from './consent-states';

export const ORDERS = ['key', 'recent'] as const;

export class UsersQuery extends WalkQuery {
  @Snowflake({ optional: true, description: 'One user, in every guild' }) user_id?: string;
  @Snowflake({ optional: true, description: 'One guild' }) guild_id?: string;
  @OneOf(CONSENT_STATUSES, {
    optional: true,
    description: 'State of the consent; with `category`, of this category in it',
  })
  status?: ConsentStatus;
  @Text(KEY_MAX, {
    optional: true,
    description: 'Key of a registered category: users whose consent or request names it, or is about all',
  })
  category?: string;
  @OneOf(ORDERS, {
    optional: true,
    description:
      '`key`: all users, in a fixed order; `recent`: the users of the newest 5,000 audit events, newest first; default `key`',
  })
  order?: (typeof ORDERS)[number];
}

export class ListedUserView extends ConsentStatusView {
  @Timestamp({
    nullable: true,
    description: 'When the user was last asked or has last decided; null for one who never was asked',
  })
  updated_at: string | null;
  @Flag({
    optional: true,
    description: 'true where the key of the user is lost or damaged: ids that are not known are 20 zeros',
  })
  unreadable?: boolean;
}

export class UsersView {
  @Of([ListedUserView]) users: ListedUserView[];
  @Of(WalkPagination) pagination: WalkPagination;
}
