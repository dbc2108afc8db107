import { type Command, Option } from 'commander';
import { type Lethe, NotFoundError, WEBHOOK_EVENTS, type WebhookEvent } from '@lethe/sdk';
import { refused } from '../failures';
import { beginOf, follow, NewRows, nowOf } from '../following';
import { DEFAULT_TARGET, forward, isConfirmed, lineOf, mendOf, targetOf } from '../forward';
import { moment, positive, Session, snowflake } from '../session';

const TASKS = ['erase', 'export'] as const;
type Task = (typeof TASKS)[number];

interface Target {
  readonly forwardTo: string;
  readonly allowRemote?: boolean;
}

const targetOptions = (command: Command): Command =>
  command
    .option('--forward-to <url>', 'address of the webhook route of the bot', DEFAULT_TARGET)
    .option('--allow-remote', 'forward to another machine too');

export function addListen(program: Command): void {
  targetOptions(program.command('listen'))
    .summary('bring webhook calls to a bot on this machine')
    .description(
      'Reads the deliveries of the bot again and again, and makes each new call to a bot on this machine, signed with ' +
        'LETHE_WEBHOOK_SECRET. Nothing connects to this machine: no port is opened. A key with the scope read is enough. ' +
        'The service does not count these calls as delivered.',
    )
    .option(
      '--since <time>',
      'begin with the calls since then (ISO 8601 with zone), not with the next one',
      moment,
    )
    .option('--interval <seconds>', 'pause between two looks', positive, 5)
    .action(async (options: Target & { since?: string; interval: number }, command: Command) => {
      const session = new Session(command);
      const target = targetOf(options.forwardTo, options);
      await listen(session, target, options.since, options.interval * 1000);
    });
}

export function addTrigger(program: Command): void {
  targetOptions(program.command('trigger'))
    .summary('make a signed test call to the bot')
    .description(
      'Makes one call like those of the service, signed with LETHE_WEBHOOK_SECRET. No user is erased.',
    )
    .addArgument(program.createArgument('<event>', 'what the call says').choices(WEBHOOK_EVENTS))
    .addOption(
      new Option('--user <id>', 'user of the call').default('123456789012345678').argParser(snowflake),
    )
    .addOption(
      new Option('--guild <id>', 'guild of the call').default('223456789012345678').argParser(snowflake),
    )
    .addOption(
      new Option('--act <act>', 'what a holder_task asks the store for').choices(TASKS).default('erase'),
    )
    .action(
      async (
        name: WebhookEvent['event'],
        options: Target & { user: string; guild: string; act: Task },
        command: Command,
      ) => {
        const session = new Session(command);
        const event = eventOf(name, { user_id: options.user, guild_id: options.guild }, options.act);
        const call = await forward(targetOf(options.forwardTo, options), session.secret, event);
        session.output.result(call, lineOf(call));
        if (!isConfirmed(call)) throw refused('The receiver did not confirm the call.', mendOf(call));
      },
    );
}

function eventOf(
  event: WebhookEvent['event'],
  who: { user_id: string; guild_id: string },
  act: Task,
): WebhookEvent {
  const now = new Date().toISOString();
  const request_id = '00000000-0000-7000-8000-000000000000';
  switch (event) {
    case 'user_forgotten':
      return { event, request_id, ...who, completed_at: now };
    case 'consent_revoked':
      return { event, ...who, revoked_at: now, previous_version: '1.0' };
    case 'data_corrected':
      return { event, ...who, category: 'profile', fields: ['nickname'], at: now };
    case 'holder_task': {
      const task = { holder: 'database', task_id: request_id, act } as const;
      return { event, ...task, request_id, ...who, created_at: now, due_at: now };
    }
    case 'ping':
      return { event, sent_at: now };
  }
}

async function listen(
  session: Session,
  target: string,
  since: string | undefined,
  intervalMs: number,
): Promise<void> {
  const { output, secret } = session;
  const lethe = session.client();
  const bot = await lethe.bots.me();
  const deliveries = new NewRows(
    () => lethe.webhooks.deliveries(),
    beginOf(session, since),
    () => nowOf(session),
  );
  output.note(`Calls of ${output.paint('bold', bot.name)} are made to ${target}. End with Ctrl+C.`);
  if (bot.webhook_url !== null) output.note(`The service sends them to ${bot.webhook_url} too.`);
  await follow(session, deliveries, intervalMs, ({ id }) => bring(session, lethe, target, secret, id));
}

/** Makes the call of a delivery, unless it was erased since it was listed. */
export async function bring(
  { output }: Session,
  lethe: Lethe,
  target: string,
  secret: string,
  id: string,
): Promise<void> {
  const delivery = await lethe.webhooks.delivery(id).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  if (delivery === undefined) return;
  if (!('event' in delivery.payload))
    return output.note(`${delivery.event}  ${id}  The service cannot read its body: no call is made.`);
  const call = await forward(target, secret, delivery.payload as unknown as WebhookEvent, id);
  const isGood = isConfirmed(call);
  const time = new Date().toTimeString().slice(0, 8);
  output.result(call, output.paint(isGood ? 'green' : 'red', `${time}  ${lineOf(call)}`));
  if (!isGood) output.note(`          ${mendOf(call)}`);
}
