import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Schemas } from '@lethe/sdk';
import { wrongUsage } from '../failures';
import { beginOf, follow, NewRows, nowOf } from '../following';
import { moment, positive, Session, snowflake } from '../session';

type Event = Schemas['AuditEventView'];

interface Filter {
  readonly user?: string;
  readonly guild?: string;
  readonly type?: Event['event_type'];
}

interface Following {
  readonly limit: number;
  readonly follow?: boolean;
  readonly since?: string;
  readonly interval: number;
}

export function addEvents(program: Command): void {
  program
    .command('events')
    .summary('list what happened, from the audit log')
    .description('Lists the events of the audit log, newest first; with --follow each new one as it happens.')
    .option('--user <id>', 'only those about this user', snowflake)
    .option('--guild <id>', 'only those in this guild', snowflake)
    .option('--type <type>', 'only these, like consent_revoked')
    .option('--limit <number>', 'at most so many', positive, 20)
    .option('--follow', 'show new events until Ctrl+C')
    .option('--since <time>', 'with --follow: begin with the events since then (ISO 8601 with zone)', moment)
    .option('--interval <seconds>', 'with --follow: pause between two looks', positive, 5)
    .action((options: Filter & Following, command: Command) => events(new Session(command), options));
}

async function events(
  session: Session,
  { user, guild, type, ...options }: Filter & Following,
): Promise<void> {
  const { output } = session;
  const filter = {
    ...(user && { user_id: user }),
    ...(guild && { guild_id: guild }),
    ...(type && { event_type: type }),
  };
  const { audit, bots } = session.client();
  if (options.follow) {
    const { name } = await bots.me();
    output.note(`New events of ${output.paint('bold', name)} are shown. End with Ctrl+C.`);
    const rows = new NewRows(
      () => audit.events(filter),
      beginOf(session, options.since),
      () => nowOf(session),
    );
    return follow(session, rows, options.interval * 1000, (event) =>
      output.result(event, cellsOf(event).join('  ')),
    );
  }
  if (options.since !== undefined)
    throw wrongUsage('--since is for --follow.', 'Add --follow, or take --limit for more events.');
  const found: Event[] = [];
  for await (const event of audit.events(filter)) {
    found.push(event);
    if (found.length === options.limit) break;
  }
  const headings = ['CREATED', 'EVENT', 'SOURCE', 'USER', 'GUILD', 'DETAILS'];
  return output.result(
    found,
    found.length === 0 ? 'There are no such events.' : output.table(headings, found.map(cellsOf)),
  );
}

const cellsOf = ({ created_at, event_type, source, user_id, guild_id, details, erased }: Event): string[] => [
  ...[created_at, event_type.padEnd(18), source, erased ? 'erased' : user_id, erased ? 'erased' : guild_id],
  details === null ? '' : JSON.stringify(details),
];

export function addStats(program: Command): void {
  program
    .command('stats')
    .summary('show what happened over time, in numbers')
    .description(
      'Counts acts, webhook calls and erasures by day (UTC), of the last 30 days unless dates are given.',
    )
    .option('--from <date>', 'first day, like 2026-01-31', day)
    .option('--to <date>', 'last day', day)
    .addOption(new Option('--bucket <length>', 'one line for each').choices(['hour', 'day']))
    .action((period: Period, command: Command) => stats(new Session(command), period));
}

interface Period {
  readonly from?: string;
  readonly to?: string;
  readonly bucket?: 'hour' | 'day';
}

async function stats(session: Session, period: Period): Promise<void> {
  const { output } = session;
  const found = await session.client().stats(period);
  const numbersOf = ({ counts, webhooks, erasure_ms }: Schemas['StatsBucket']): Record<string, number> => ({
    ...counts,
    'calls delivered': webhooks.delivered,
    'calls failed': webhooks.failed,
    'calls exhausted': webhooks.exhausted,
    ...(erasure_ms !== null && { 'erasure p95 ms': erasure_ms.p95 }),
  });
  const all = found.buckets.map(({ at, ...bucket }) => ({ at, numbers: numbersOf({ at, ...bucket }) }));
  // What did not happen at all has no line, so that what happened fits the width of a terminal.
  const lines = all.flatMap(({ at, numbers }) =>
    Object.entries(numbers)
      .filter(([, number]) => number > 0)
      .map(([name, number]) => [at, name, number]),
  );
  output.result(
    found,
    lines.length === 0 ? 'Nothing happened in this time.' : output.table(['FROM', 'WHAT', 'NUMBER'], lines),
  );
}

/** Parses an argument that is a day. */
function day(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a day like 2026-01-31.');
}
