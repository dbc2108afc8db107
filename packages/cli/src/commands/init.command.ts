import { relative } from 'node:path';
import { type Command } from 'commander';
import { Lethe } from '@lethe/sdk';
import { ignoreInGit, NAMES, readEnvFile, writeEnvFile } from '../env-file';
import { refused } from '../failures';
import { Session, snowflake, webAddress } from '../session';

interface Options {
  readonly platformBotId?: string;
  readonly name?: string;
  readonly webhookUrl?: string;
}

export function addInit(program: Command): void {
  program
    .command('init')
    .summary('register the bot and write .env')
    .description(
      'Registers the bot, writes its key and webhook secret into .env (readable by you alone) and adds .env to .gitignore. ' +
        'A token that the operator wants is taken from LETHE_REGISTRATION_TOKEN.',
    )
    .option('--platform-bot-id <id>', 'id of the bot at its platform', snowflake)
    .option('--name <name>', 'name of the bot, as users see it')
    .option('--webhook-url <url>', 'where the service sends its webhook calls')
    .action((options: Options, command: Command) => init(new Session(command), options));
}

async function init(session: Session, options: Options): Promise<void> {
  const { output, envFile } = session;
  const file = relative(process.cwd(), envFile) || envFile;
  if (readEnvFile(envFile)['LETHE_KEY'])
    throw refused(
      `${file} has a LETHE_KEY already.`,
      'For a second bot name another file with --dotenv; for a new key of this bot take lethe keys rotate.',
    );
  const platformBotId =
    options.platformBotId ??
    snowflake(await output.ask('Id of the bot at its platform: ', '--platform-bot-id ID'));
  const name = options.name ?? (await output.ask('Name of the bot: ', '--name NAME'));
  const { webhookUrl } = options;
  if (webhookUrl !== undefined) webAddress(webhookUrl, '--webhook-url');
  const url = webAddress(session.url, 'LETHE_URL');
  const token = process.env['LETHE_REGISTRATION_TOKEN'];
  if (token) session.requireOwnAddress('LETHE_REGISTRATION_TOKEN');
  // A registration cannot be repeated. The files must be writable before its key is made.
  writeEnvFile(envFile, { LETHE_URL: url }, ...NAMES);
  const isAdded = ignoreInGit(envFile);
  const bot = await Lethe.register(
    { url, fetch: session.fetch, retries: 2, ...(token && { registrationToken: token }) },
    { platform_bot_id: platformBotId, name, ...(webhookUrl !== undefined && { webhook_url: webhookUrl }) },
  );
  writeEnvFile(envFile, {
    LETHE_BOT_ID: bot.id,
    LETHE_KEY: bot.api_key,
    LETHE_WEBHOOK_SECRET: bot.webhook_secret,
  });
  output.result(
    { bot_id: bot.id, name: bot.name, url, env_file: file, added_to_gitignore: isAdded },
    `${output.paint('green', 'Registered')} ${name} as ${bot.id}.
The key and the webhook secret are in ${file}${isAdded ? ', which is now in .gitignore' : ''}. They are shown nowhere else.

Next: declare what the bot stores    lethe categories pull, edit lethe.yaml, lethe categories push
      receive webhook calls here     lethe listen --forward-to http://127.0.0.1:8080/gdpr
      check everything               lethe doctor
A lethe that is not on the path is npx --package @lethe/cli lethe.`,
  );
}
