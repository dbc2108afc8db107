import { createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { refused, wrongUsage } from '../failures';
import { scope } from '../output';
import { positive, Session, snowflake } from '../session';

export interface Where {
  readonly guild?: string;
  readonly everywhere?: boolean;
}

export const whereOptions = (command: Command): Command =>
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

export function placeOf({ guild, everywhere }: Where): string {
  if ((guild === undefined) === (everywhere !== true))
    throw wrongUsage('Where?', 'Give --guild ID for one guild, or --everywhere.');
  return guild === undefined ? 'in every guild' : `in ${scope(guild)}`;
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

/** @throws Failure where the file is there, or cannot be written */
export function makeNew(file: string, done: 'erased' | 'exported', text = ''): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const fault = (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'exists' : 'cannot be written';
    throw refused(`${file} ${fault}.`, `Nothing was ${done}. Name a new file.`);
  }
}
