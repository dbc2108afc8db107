import { randomInt } from 'node:crypto';

let next = BigInt(randomInt(1, 1_000_000)) * 1_000_000n;

/** A platform id of 18 digits, unique in this process, and too long for a JSON number. */
export function snowflake(): string {
  next += 1n;
  return (900_000_000_000_000_001n + next * 2n).toString();
}

/** One user in one guild, with the field names of the interface. */
export interface SubjectIds {
  readonly user_id: string;
  readonly guild_id: string;
}

/** A subject for one test. */
export function subject(): SubjectIds {
  return { user_id: snowflake(), guild_id: snowflake() };
}

/** The guild of the bot-wide scope. */
export const BOT_WIDE = '00000000000000000';
