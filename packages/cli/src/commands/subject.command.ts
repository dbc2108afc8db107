import { createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { type Lethe, LetheError } from '@lethe/sdk';
import { refused, wrongUsage } from '../failures';
import { many } from '../output';
import { positive, Session, snowflake } from '../session';

interface Where {
  readonly guild?: string;
  readonly everywhere?: boolean;
}

const whereOptions = (command: Command): Command =>
  command
    .argument('<user>', 'id of the user', snowflake)
    .option('--guild <id>', 'in this guild', snowflake)
    .option('--everywhere', 'in every guild of the bot');

export function addExport(program: Command): void {
  whereOptions(program.command('export'))
    .summary('write everything about a user')
    .description('Writes everything that is stored about a user as JSON (GDPR Art. 15 and 20).')
    .option('--full', 'with the history of the consent, the audit events and the purposes')
    .option('--output <file>', 'a new file, readable by you alone, in place of the output')
    .action((user: string, options: Where & { full?: boolean; output?: string }, command: Command) =>
      write(new Session(command), user, options),
    );
}

export function addForget(program: Command): void {
  whereOptions(program.command('forget'))
    .summary('erase a user')
    .description('Erases everything about a user (GDPR Art. 17), after the id was typed once more.')
    .option('--yes', 'do not ask')
    .option('--certificate <file>', 'write the signed certificate into a new file, for lethe verify')
    .action((user: string, options: Where & { yes?: boolean; certificate?: string }, command: Command) =>
      forget(new Session(command), user, options),
    );
}

export function addLink(program: Command): void {
  whereOptions(program.command('link'))
    .summary('make a link to the privacy page of a user')
    .description(
      'Makes a link to the page on which a user sees what is stored, decides, downloads it and has it erased. ' +
        'Give it to this user alone.',
    )
    .option('--minutes <number>', 'until the link ends, from 1 to 10080 (one week); default 15', positive)
    .addOption(
      new Option('--language <language>', 'of the page; default the language of the browser').choices([
        'de',
        'en',
      ]),
    )
    .action((user: string, options: Where & { minutes?: number; language?: 'de' | 'en' }, command: Command) =>
      link(new Session(command), user, options),
    );
}

async function link(
  session: Session,
  user: string,
  options: Where & { minutes?: number; language?: 'de' | 'en' },
): Promise<void> {
  const place = placeOf(options);
  const { guild, minutes, language } = options;
  const made = await session.client().privacy.link({
    ...(guild === undefined ? { user_id: user, scope: 'all_guilds' } : { user_id: user, guild_id: guild }),
    ...(minutes !== undefined && { expires_in: minutes * 60 }),
    ...(language !== undefined && { language }),
  });
  session.output.note(`For ${user} alone, ${place}, until ${made.expires_at}:`);
  session.output.result(made, made.url);
}

function placeOf({ guild, everywhere }: Where): string {
  if ((guild === undefined) === (everywhere !== true))
    throw wrongUsage('Where?', 'Give --guild ID for one guild, or --everywhere.');
  return guild === undefined ? 'in every guild' : `in guild ${guild}`;
}

async function write(
  session: Session,
  user: string,
  options: Where & { full?: boolean; output?: string },
): Promise<void> {
  placeOf(options);
  const { guild, full, output: file } = options;
  const format = full ? { format: 'full' as const } : {};
  const who = guild === undefined ? { user_id: user } : { user_id: user, guild_id: guild };
  const lethe = session.client();
  // Before the service is asked, which notes each export.
  if (file !== undefined) makeNew(file, 'exported');
  try {
    const stream = Readable.fromWeb((await lethe.data.exportStream({ ...who, ...format })) as never);
    if (file === undefined) return await session.output.stream(stream);
    await pipeline(stream, createWriteStream(file));
  } catch (error) {
    // A part of the export is not left behind as if it were all.
    if (file !== undefined) rmSync(file, { force: true });
    throw error;
  }
  session.output.result({ file }, `Everything about ${user} is in ${file}.`);
}

async function forget(
  session: Session,
  user: string,
  options: Where & { yes?: boolean; certificate?: string },
): Promise<void> {
  const place = placeOf(options);
  const { output } = session;
  const { guild, certificate: file } = options;
  if (file !== undefined && guild === undefined)
    throw wrongUsage('A certificate is of one guild.', 'Give --guild, or leave --certificate out.');
  const lethe = session.client();
  if (!options.yes) {
    const question = `Everything about ${user} ${place} is erased for ever. Type the id to confirm: `;
    if ((await output.ask(question, '--yes')) !== user)
      throw refused('That is another id.', 'Nothing was erased.');
  }
  if (guild === undefined) {
    const all = await lethe.privacy.forgetEverywhere({ user_id: user }).catch((error: unknown) => {
      const { requests } = error instanceof LetheError ? error.details : {};
      // No other call answers the salts of the guilds that are done.
      if (Array.isArray(requests)) output.result({ requests }, inGuilds(user, requests as Erased[]));
      throw error;
    });
    return output.result(all, inGuilds(user, all.requests));
  }
  if (file !== undefined) makeNew(file, 'erased');
  const erased = await lethe.privacy.forget({ user_id: user, guild_id: guild }).catch((error: unknown) => {
    if (file !== undefined) rmSync(file, { force: true });
    throw error;
  });
  const tell = (): void =>
    output.result(
      erased,
      `${output.paint('green', erased.status)}: ${user} ${place} (request ${erased.request_id}), categories: ${
        (erased.deleted_categories ?? []).join(', ') || 'none'
      }.\nKeep the salt, it ties the certificate to this user: ${erased.certificate_salt}`,
    );
  if (file === undefined) return tell();
  const { request_id, certificate_salt } = erased;
  const kept = { request_id, certificate_salt, user_id: user, guild_id: guild };
  const keep = (more: object): void =>
    writeFileSync(file, `${JSON.stringify({ ...more, ...kept }, null, 2)}\n`);
  // A reader that has closed the output ends the program with its first words, so that the file is written before them.
  try {
    // The salt is in the file whatever becomes of the certificate, which can be fetched later.
    keep({});
    const { certificate } = await lethe.privacy.certificate(request_id);
    keep({ certificate, bot_id: (await lethe.bots.me()).id });
  } finally {
    tell();
  }
}

type Erased = Awaited<ReturnType<Lethe['privacy']['forgetEverywhere']>>['requests'][number];

const inGuilds = (user: string, requests: readonly Erased[]): string =>
  [
    `${user} is erased in ${many(requests.length, 'guild')}.`,
    ...(requests.length === 0 ? [] : ['Keep the salts, they tie the certificates to this user:']),
    ...requests.map((one) => `guild ${one.guild_id}, request ${one.request_id}: ${one.certificate_salt}`),
  ].join('\n');

function makeNew(file: string, done: 'erased' | 'exported'): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const fault = (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'exists' : 'cannot be written';
    throw refused(`${file} ${fault}.`, `Nothing was ${done}. Name a new file.`);
  }
}
