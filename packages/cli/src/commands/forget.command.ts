import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { type Lethe, LetheError, UnavailableError } from '@lethe/sdk';
import { textAt } from '../env-file';
import { Failure, failureOf, refused, wrongUsage } from '../failures';
import { many, scope } from '../output';
import { PATIENT, Session } from '../session';
import { isOutcomeUnknown } from '../unknown-outcome';
import { makeNew, placeOf, type Where, whereOptions } from './subject.command';

interface Options extends Where {
  readonly yes?: boolean;
  readonly certificate?: string;
  readonly idempotencyKey?: string;
}

export function addForget(program: Command): void {
  whereOptions(program.command('forget'))
    .summary('erase a user')
    .description('Erases everything about a user (GDPR Art. 17), after the id was typed once more.')
    .option('--yes', 'do not ask')
    .option(
      '--certificate <file>',
      'write the signed certificate into a new file, for lethe verify; a file of a call without an answer resumes it',
    )
    .option('--idempotency-key <key>', 'of an earlier call without an answer: answers its salt', keyOf)
    .action((user: string, options: Options, command: Command) =>
      forget(new Session(command), user, options),
    );
}

function keyOf(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('A key has 1 to 255 visible ASCII characters.');
}

async function forget(session: Session, user: string, options: Options): Promise<void> {
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
  if (guild !== undefined && file !== undefined)
    return inFile(session, { user_id: user, guild_id: guild }, { ...options, file });
  const key = options.idempotencyKey ?? randomUUID();
  // Before the call: a program that is killed says nothing more.
  if (options.idempotencyKey === undefined)
    output.note(
      `Where no answer comes, give the command again within a day with --idempotency-key ${key}: it answers the salt.`,
    );
  const call = { ...PATIENT, idempotencyKey: key };
  const again = `Give the command again within a day with --idempotency-key ${key}: it answers what was done, with the salt.`;
  if (guild !== undefined) {
    const who = { user_id: user, guild_id: guild };
    const erased = await lethe.privacy.forget(who, call).catch(withMend(session, again));
    output.result(erased, inGuild(session, user, place, erased));
    if (options.idempotencyKey !== undefined) await requireNoneSince(session, who, [erased], WITHOUT_KEY);
    return;
  }
  const all = await lethe.privacy.forgetEverywhere({ user_id: user }, call).catch((error: unknown) => {
    const { requests } = error instanceof LetheError ? error.details : {};
    // No other call answers the salts of the guilds that are done.
    if (Array.isArray(requests)) output.result({ requests }, inGuilds(user, requests as Erased[]));
    return withMend(session, again)(error);
  });
  output.result(all, inGuilds(user, all.requests));
  if (options.idempotencyKey !== undefined)
    await requireNoneSince(session, { user_id: user }, all.requests, WITHOUT_KEY);
}

const WITHOUT_KEY = 'Give the command again without --idempotency-key.';

/**
 * The repeat of an erasure is answered what was erased then. @throws Failure that says `mend` where anything about the user is
 * held, which was stored since
 */
async function requireNoneSince(
  session: Session,
  who: { readonly user_id: string; readonly guild_id?: string },
  ended: readonly { readonly status: string }[],
  mend: string,
): Promise<void> {
  if (ended.some(({ status }) => status !== 'completed')) return;
  const { items } = await session
    .client()
    .users.list(who)
    .page()
    .catch((error: unknown) => {
      const { exitCode, message, mend: words, code } = failureOf(error, session.url);
      throw new Failure(exitCode, `Whether anything was stored since is unknown: ${message}`, words, code);
    });
  if (items.length === 0) return;
  throw refused(
    `That erasure is of the first try. What was stored about ${who.user_id} since is still there.`,
    mend,
  );
}

/** Erases with a file that has the key of the act from before the call, so that a repeat with the file gets its salt. */
async function inFile(
  session: Session,
  who: { user_id: string; guild_id: string },
  { file, ...options }: Options & { readonly file: string },
): Promise<void> {
  const { output } = session;
  const lethe = session.client();
  const resumed = keyIn(file, who);
  const fresh = randomUUID();
  const key = options.idempotencyKey ?? resumed ?? fresh;
  const asked = { idempotency_key: key, ...who };
  if (resumed === undefined) makeNew(file, 'erased', `${JSON.stringify(asked, null, 2)}\n`);
  const call = { ...PATIENT, idempotencyKey: key };
  const erased = await lethe.privacy.forget(who, call).catch((error: unknown) => {
    if (!mayBeDone(error) && resumed === undefined) rmSync(file, { force: true });
    const again = `Give the same command again within a day: ${file} has the key of this erasure, by which it answers the salt.`;
    return withMend(session, again)(error);
  });
  const { request_id, certificate_salt } = erased;
  const kept = { request_id, certificate_salt, ...who };
  const keep = (more: object): void =>
    writeFileSync(file, `${JSON.stringify({ ...more, ...kept }, null, 2)}\n`);
  // A reader that has closed the output ends the program with its first words, so that the file is written before them.
  try {
    // The salt is in the file whatever becomes of the certificate, which can be fetched later.
    keep({});
    const { certificate } = await lethe.privacy.certificate(request_id);
    keep({ certificate, bot_id: (await lethe.bots.me()).id });
  } finally {
    output.result(erased, inGuild(session, who.user_id, `in ${scope(who.guild_id)}`, erased));
    const mend = `Give the command again with another file for --certificate, without --idempotency-key: ${file} keeps the first salt.`;
    if (key !== fresh) await requireNoneSince(session, who, [erased], mend);
  }
}

/** The key of an erasure of the same user that has no answer yet; undefined for every other file. */
function keyIn(file: string, who: { user_id: string; guild_id: string }): string | undefined {
  try {
    const found = JSON.parse(textAt(file) ?? '') as Record<string, unknown>;
    const isSame = found['user_id'] === who.user_id && found['guild_id'] === who.guild_id;
    const key = found['idempotency_key'];
    return isSame && typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

const mayBeDone = (error: unknown): boolean =>
  isOutcomeUnknown(error) ||
  error instanceof UnavailableError ||
  (error instanceof LetheError && (error.status ?? 0) >= 500);

/** The failure of an erasure that may be done says how its answer is had. */
function withMend({ url }: Session, again: string): (error: unknown) => never {
  return (error) => {
    const { exitCode, message, mend, code } = failureOf(error, url);
    if (!mayBeDone(error)) throw error;
    throw new Failure(exitCode, message, isOutcomeUnknown(error) ? again : `${mend} ${again}`.trim(), code);
  };
}

const inGuild = (
  { output }: Session,
  user: string,
  place: string,
  { status, request_id: id, deleted_categories: categories, certificate_salt: salt }: Forgotten,
): string =>
  `${output.paint('green', status)}: ${user} ${place} (request ${id}), categories: ${
    (categories ?? []).join(', ') || 'none'
  }.\nKeep the salt, it ties the certificate to this user: ${salt}`;

type Forgotten = Awaited<ReturnType<Lethe['privacy']['forget']>>;
type Erased = Awaited<ReturnType<Lethe['privacy']['forgetEverywhere']>>['requests'][number];

const inGuilds = (user: string, requests: readonly Erased[]): string =>
  [
    `${user} is erased in ${many(requests.length, 'guild')}.`,
    ...(requests.length === 0 ? [] : ['Keep the salts, they tie the certificates to this user:']),
    ...requests.map((one) => `${scope(one.guild_id)}, request ${one.request_id}: ${one.certificate_salt}`),
  ].join('\n');
