import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES, type Schemas, WEBHOOK_EVENTS } from '@lethe/sdk';
import { attemptsOf, outcomeOfCall, whatBecameOf } from '../call-outcome';
import { wrongUsage } from '../failures';
import { moment, positive, Session, snowflake } from '../session';

type Delivery = Schemas['DeliveryView'];

interface Filter {
  readonly status?: Delivery['status'];
  readonly event?: Delivery['event'];
  readonly user?: string;
  readonly limit: number;
}

export function addDeliveries(program: Command): void {
  program
    .command('deliveries')
    .summary('list webhook calls and their outcomes')
    .description(
      'Lists the webhook calls of the last 30 days, newest first; with an id the attempts of one call.',
    )
    .argument('[id]', 'one call')
    .addOption(new Option('--status <status>', 'only these').choices(DELIVERY_STATUSES))
    .addOption(new Option('--event <event>', 'only these').choices(WEBHOOK_EVENTS))
    .option('--user <id>', 'only those about this user', snowflake)
    .option('--limit <number>', 'at most so many', positive, 20)
    .action((id: string | undefined, filter: Filter, command: Command) => {
      const session = new Session(command);
      return id === undefined ? list(session, filter) : show(session, id);
    });
  program
    .command('redeliver')
    .summary('send webhook calls again')
    .description(
      'Sends one call again and says what became of it, or all since a time that were not confirmed.',
    )
    .argument('[id]', 'one call')
    .option('--since <time>', 'all unconfirmed calls since then (ISO 8601 with zone)', moment)
    .action((id: string | undefined, { since }: { since?: string }, command: Command) =>
      redeliver(new Session(command), id, since),
    );
}

async function list(session: Session, { limit, user, status, event }: Filter): Promise<void> {
  const filter = { ...(status && { status }), ...(event && { event }), ...(user && { user_id: user }) };
  const found: Delivery[] = [];
  for await (const delivery of session.client().webhooks.deliveries(filter)) {
    found.push(delivery);
    if (found.length === limit) break;
  }
  const { output } = session;
  const headings = ['ID', 'EVENT', 'STATUS', 'ATTEMPTS', 'LAST OUTCOME', 'USER', 'CREATED'];
  const rows = found.map((one) => [
    ...[one.id, one.event, one.status, one.attempt_count, one.last_outcome, one.user_id, one.created_at],
  ]);
  output.result(found, found.length === 0 ? 'There are no such calls.' : output.table(headings, rows));
}

async function show(session: Session, id: string): Promise<void> {
  const one = await session.client().webhooks.delivery(id);
  const { output } = session;
  const headings = ['ATTEMPT', 'STARTED', 'OUTCOME', 'STATUS', 'MS'];
  const rows = one.attempts.map((each) => [
    ...[each.number, each.started_at, each.outcome, each.status_code, each.duration_ms],
  ]);
  output.result(one, `${one.event} ${one.id}: ${one.status}\n${output.table(headings, rows)}`);
}

async function redeliver(session: Session, id: string | undefined, since: string | undefined): Promise<void> {
  if ((id === undefined) === (since === undefined))
    throw wrongUsage('Give the id of one call, or --since.', 'lethe deliveries shows the ids.');
  const { webhooks } = session.client();
  if (id !== undefined) {
    const before = attemptsOf(await webhooks.delivery(id));
    await webhooks.redeliver(id);
    const one = await outcomeOfCall(session.client(), id, before);
    const next = one.next_attempt_at === null ? '' : `; the next attempt is at ${one.next_attempt_at}`;
    return session.output.result(one, `${one.event} ${one.id}: ${whatBecameOf(one, before)}${next}`);
  }
  const { queued } = await webhooks.replay({ since: since ?? '', undelivered_only: true });
  return session.output.result(
    { queued },
    `${queued === 1 ? '1 call is' : `${queued} calls are`} sent again.`,
  );
}
