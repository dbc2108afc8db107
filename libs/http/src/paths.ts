import { Slug, Snowflake, Uuid } from './fields';

/** The parameter of a path that names a user. */
export class UserPath {
  @Snowflake() user_id: string;
}

/** The parameter of a path that names a guild. */
export class GuildPath {
  @Snowflake() guild_id: string;
}

/** The parameter of a path that names a row by its id. */
export class IdPath {
  @Uuid() id: string;
}

/** The parameter of a path that names a declaration by its key. */
export class KeyPath {
  @Slug() key: string;
}
