import { randomInt } from 'node:crypto';

const WORKER = Number(process.env['JEST_WORKER_ID'] ?? 0);
/** The suites of a process have one count. A process that takes the place of another one has its worker's number. */
const shared = globalThis as { snowflakes?: bigint };

/** A platform id of 18 digits, unique in this run of the tests, and too long for a JSON number. */
export function snowflake(): string {
  shared.snowflakes ??= BigInt(WORKER * 1e9 + randomInt(1, 1e9)) * 1_000_000n;
  shared.snowflakes += 1n;
  return (900_000_000_000_000_001n + shared.snowflakes * 2n).toString();
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
