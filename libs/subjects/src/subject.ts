/** One user of one bot in one guild. */
export interface Subject {
  readonly botId: string;
  readonly userId: string;
  readonly guildId: string;
}

/** The condition for the rows of one subject; its values are the bot, the guild and the user. */
export const SUBJECT_WHERE = 'bot_id = ? AND guild_id = ? AND user_id = ?';

/** The id shown in place of an erased one: a valid snowflake that no platform issues. */
export const ERASED_ID = '0'.repeat(20);

/** The subject alone, of a record that is about it. */
export function subjectOf({ botId, guildId, userId }: Subject): Subject {
  return { botId, guildId, userId };
}

/** A name that no other subject has. Locks, contexts of encrypted texts and certificates contain it: it never changes. */
export function subjectName({ botId, guildId, userId }: Subject): string {
  return `${botId}/${guildId}/${userId}`;
}
