import { type Command, InvalidArgumentError } from 'commander';
import { ConflictError, type Schemas } from '@lethe/sdk';
import { readEnvFile, writeEnvFile } from '../env-file';
import { Failure, failureOf, refused, wrongUsage } from '../failures';
import { moment, Session } from '../session';

type Scope = Schemas['ApiKeyView']['scopes'][number];

const SCOPES: readonly string[] = ['read', 'write', 'erase', 'admin'] satisfies Scope[];

interface Keeping {
  readonly show?: boolean;
  readonly saveAs?: string;
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys of the bot, at most five.');
  keys
    .command('list')
    .description('Lists the keys: beginning, scopes, last use, end.')
    .action((_options: object, command: Command) => list(new Session(command)));
  keys
    .command('create')
    .description('Makes a further key. It is written into .env (--save-as), or shown this once (--show).')
    .option('--scopes <list>', 'what it allows, separated by commas: read, write, erase, admin', scopesOf)
    .option('--expires-at <time>', 'when it ends (ISO 8601 with zone)', moment)
    .option('--save-as <NAME>', 'the name in .env', nameOf)
    .option('--show', 'show the key')
    .action((options: Keeping & { scopes?: Scope[]; expiresAt?: string }, command: Command) =>
      create(new Session(command), options),
    );
  keys
    .command('rotate')
    .description('Replaces LETHE_KEY in .env. The old key works on until the overlap ends.')
    .option('--overlap <seconds>', 'how long both keys work; the service has a day as default', secondsOf)
    .option('--show', 'show the new key in place of writing .env')
    .action((options: Keeping & { overlap?: number }, command: Command) =>
      rotate(new Session(command), options),
    );
  keys
    .command('delete')
    .description('Ends a key at once.')
    .argument('<id>', 'the id that lethe keys list shows')
    .action((id: string, _options: object, command: Command) => remove(new Session(command), id));
}

function scopesOf(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (scopes.every((scope) => SCOPES.includes(scope))) return scopes as Scope[];
  throw new InvalidArgumentError(`Scopes are ${SCOPES.join(', ')}.`);
}

function nameOf(text: string): string {
  if (/^[A-Z][A-Z0-9_]*$/.test(text)) return text;
  throw new InvalidArgumentError('A name in .env has capital letters, digits and _.');
}

function secondsOf(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of seconds.');
}

async function list(session: Session): Promise<void> {
  const found = await session.client().keys.list().toArray();
  const headings = ['ID', 'KEY', 'SCOPES', 'LAST USED', 'EXPIRES', ''];
  const rows = found.map((key) => [
    ...[key.id, `${key.api_key_prefix}…`, key.scopes.join(','), key.last_used_at, key.expires_at],
    session.key?.startsWith(key.api_key_prefix) ? 'this one' : '',
  ]);
  session.output.result(found, session.output.table(headings, rows));
}

async function create(
  session: Session,
  { scopes, expiresAt, show, saveAs }: Keeping & { scopes?: Scope[]; expiresAt?: string },
): Promise<void> {
  if ((show === true) === (saveAs !== undefined))
    throw wrongUsage(
      'Where is the key to be kept?',
      'Give --save-as NAME to write it into .env, or --show to see it.',
    );
  if (saveAs !== undefined && readEnvFile(session.envFile)[saveAs])
    throw wrongUsage(`${saveAs} has a value in .env.`, 'Remove it there, or give another NAME.');
  const lethe = session.client();
  // The key is shown by the service once. The file must be writable before it is made.
  if (saveAs !== undefined) writeEnvFile(session.envFile, {}, saveAs);
  const given = { ...(scopes && { scopes }), ...(expiresAt !== undefined && { expires_at: expiresAt }) };
  const { api_key: key, ...made } = await lethe.keys.create(given);
  if (saveAs !== undefined) writeEnvFile(session.envFile, { [saveAs]: key });
  const place =
    saveAs === undefined ? `Keep it, it is shown this once: ${key}` : `It is in .env as ${saveAs}.`;
  session.output.result(
    { ...made, ...(show && { api_key: key }) },
    `A key with the scopes ${made.scopes.join(', ')}. ${place}`,
  );
}

async function rotate(session: Session, { overlap, show }: Keeping & { overlap?: number }): Promise<void> {
  const lethe = session.client();
  if (!show && session.isFromEnvironment('LETHE_KEY'))
    throw wrongUsage(
      'LETHE_KEY comes from the environment, which a new line in .env would not change.',
      'Add --show, and put the new key where the old one is kept.',
    );
  if (!show) writeEnvFile(session.envFile, {}, 'LETHE_KEY');
  // An answer can be lost, or not be written: the old key ends at once only after the new one is kept.
  const old = overlap === 0 ? await ownKey(session) : undefined;
  const given = overlap === undefined || overlap === 0 ? {} : { overlap_seconds: overlap };
  let isVoid = false;
  const { api_key: key, ...made } = await lethe.keys.rotate(given).catch((error: unknown) => {
    const isFull = error instanceof ConflictError && error.reason === 'limit_reached';
    if (old === undefined || !isFull) throw error;
    // There is no place for both keys.
    isVoid = true;
    return lethe.keys.rotate({ overlap_seconds: 0 });
  });
  if (!show) writeEnvFile(session.envFile, { LETHE_KEY: key });
  const place = show
    ? `Keep the new key, it is shown this once: ${key}`
    : 'LETHE_KEY in .env is the new key.';
  const shown = { ...made, ...(show && { api_key: key }) };
  const bothWork = `${place} The old one works until ${made.overlap_until}.`;
  if (old === undefined) return session.output.result(shown, bothWork);
  const end = async (): Promise<string> => {
    const { deleted_at: at } = await session.clientWith(key).keys.delete(old);
    return at;
  };
  const overlapUntil = isVoid
    ? made.overlap_until
    : await end().catch((error: unknown) => {
        session.output.result(shown, bothWork);
        const { exitCode, message, code } = failureOf(error, session.url);
        throw new Failure(
          exitCode,
          message,
          `The key was replaced. End the old one with lethe keys delete ${old}`,
          code,
        );
      });
  return session.output.result({ ...shown, overlap_until: overlapUntil }, `${place} The old one has ended.`);
}

/** The id of the key of this call. */
async function ownKey(session: Session): Promise<string> {
  const { key = '' } = session;
  const keys = await session.client().keys.list().toArray();
  const own = keys.filter((one) => key.startsWith(one.api_key_prefix));
  const [{ id } = { id: '' }] = own;
  if (own.length === 1) return id;
  throw refused(
    'The keys of the bot do not say which one this is.',
    'Rotate without --overlap 0, then end the old key with lethe keys delete.',
  );
}

async function remove(session: Session, id: string): Promise<void> {
  const answer = await session.client().keys.delete(id);
  session.output.result(answer, `The key ${id} has ended.`);
}
