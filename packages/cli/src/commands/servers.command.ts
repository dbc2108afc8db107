import { text } from 'node:stream/consumers';
import { BOT_WIDE_GUILD_ID } from '@lethe/sdk';
import type { Command } from 'commander';
import { readText } from '../env-file';
import { wrongUsage } from '../failures';
import { many } from '../output';
import { PATIENT, Session } from '../session';

/** The bot-wide scope, and the id of a user whose key is damaged: neither is a server. */
const NO_SERVER = [BOT_WIDE_GUILD_ID, '0'.repeat(20)];
const MEND =
  'Give the ids of all servers of the bot, one a line: in a file, or with - on the standard input.';

interface Foreign {
  users: number;
  /** Of these users. */
  consents: number;
  registered: boolean;
  deletion_scheduled_for: string | null;
}

export function addServers(program: Command): void {
  program
    .command('servers')
    .description('The servers under which something is filed.')
    .command('foreign')
    .description(
      'Lists the servers that the bot is not in, with the users about whom something is held there. It changes nothing.',
    )
    .argument('<file>', 'the ids of all servers of the bot, one a line; - for the standard input')
    .action(async (file: string, _options: object, command: Command) =>
      foreign(new Session(command), file === '-' ? await text(process.stdin) : readText(file)),
    );
}

async function foreign(session: Session, given: string): Promise<void> {
  const own = idsIn(given);
  const { servers, users } = session.client();
  const found = new Map<string, Foreign>();
  const at = (id: string): Foreign | undefined => {
    if (own.has(id) || NO_SERVER.includes(id)) return undefined;
    const one = found.get(id) ?? { users: 0, consents: 0, registered: false, deletion_scheduled_for: null };
    found.set(id, one);
    return one;
  };
  for await (const { guild_id: id, deletion_scheduled_for } of servers.list({}, PATIENT))
    Object.assign(at(id) ?? {}, { registered: true, deletion_scheduled_for });
  for await (const { guild_id: id, status } of users.list({}, PATIENT)) {
    const one = at(id);
    if (one === undefined) continue;
    one.users += 1;
    if (status === 'accepted') one.consents += 1;
  }
  const { output } = session;
  const rows = [...found].sort(([, one], [, other]) => other.users - one.users);
  const isIn = many(own.size, 'server');
  if (rows.length === 0) return output.result([], `Nothing is filed under a server but the ${isIn} given.`);
  const headings = ['SERVER', 'USERS', 'CONSENTS', 'REGISTERED', 'ERASED ON'];
  output.result(
    rows.map(([guild_id, one]) => ({ guild_id, ...one })),
    output.table(
      headings,
      rows.map(([id, one]) => [
        ...[id, one.users, one.consents, one.registered ? 'yes' : 'no', one.deletion_scheduled_for],
      ]),
    ),
  );
  output.note(
    `The bot is in none of them, if it is in the ${isIn} given alone. To erase one after 7 days: DELETE /servers/{guild_id}?grace_days=7, ` +
      'as guildLeft of @lethe/discord does.',
  );
}

/** @throws Failure of wrong usage for what is no list of ids: without one every server would be foreign */
function idsIn(given: string): Set<string> {
  const lines = given.split('\n').map((line) => line.trim());
  const wrong = lines.findIndex((line) => !/^(\d{17,20})?$/.test(line));
  if (wrong >= 0) throw wrongUsage(`Line ${wrong + 1} is no id, which has 17 to 20 digits.`, MEND);
  const ids = new Set(lines.filter((line) => line !== ''));
  if (ids.size === 0) throw wrongUsage('There is no id.', MEND);
  return ids;
}
