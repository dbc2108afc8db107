import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { StartError } from './errors';
import { printable } from './printable';
import { masterKeys } from './setting-values';

/** The settings that give the master key. At most one of them is set. */
interface KeySettings {
  /** Of `LETHE_MASTER_KEY`, or of the file or command once it was asked; empty for the key file beside the database. */
  readonly masterKeys: readonly Buffer[];
  readonly masterKeyFile: string;
  readonly masterKeyCommand: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a process has its master key from; `file` is the key file beside the database. */
export const MASTER_KEY_PLACES = ['environment', 'file', 'secret_file', 'command'] as const;
export type MasterKeyPlace = (typeof MASTER_KEY_PLACES)[number];

export function masterKeyPlace({ masterKeys, masterKeyFile, masterKeyCommand }: KeySettings): MasterKeyPlace {
  if (masterKeys.length === 0) return 'file';
  if (masterKeyCommand.length > 0) return 'command';
  return masterKeyFile === '' ? 'environment' : 'secret_file';
}

const NAMES = {
  environment: 'LETHE_MASTER_KEY',
  secret_file: 'the file of LETHE_MASTER_KEY_FILE',
  command: 'the output of LETHE_MASTER_KEY_COMMAND',
} as const;

/** How a message for the operator names the place that holds the keys, or that could hold them in place of a key file. */
export function masterKeySetting(settings: KeySettings): string {
  const place = masterKeyPlace(settings);
  return NAMES[place === 'file' ? 'environment' : place];
}

/** A sentence for a start on which more than one setting gives the master key; undefined otherwise. */
export function keySettingsContradict(settings: KeySettings): string | undefined {
  const { masterKeys, masterKeyFile, masterKeyCommand } = settings;
  const given = [
    masterKeys.length > 0 && 'LETHE_MASTER_KEY',
    masterKeyFile !== '' && 'LETHE_MASTER_KEY_FILE',
    masterKeyCommand.length > 0 && 'LETHE_MASTER_KEY_COMMAND',
  ].filter((name) => name !== false);
  if (given.length < 2) return undefined;
  return `${given.join(' and ')} are set: only one of them may give the master key`;
}

/**
 * The keys that the settings give: read from the file, printed by the command, or of `LETHE_MASTER_KEY` itself. The command
 * has the environment without the settings of Lethe, which may hold secrets.
 * @param isSetting whether a variable is a setting of Lethe
 * @throws StartError with a sentence for the operator, without a key
 */
export function masterKeysOf(
  settings: KeySettings,
  environment: Environment,
  isSetting: (name: string) => boolean,
): readonly Buffer[] {
  const { masterKeyFile: file, masterKeyCommand: command } = settings;
  if (command.length > 0) {
    const own = Object.entries(environment).filter(([name]) => !isSetting(name));
    return keysIn(printedBy(command, Object.fromEntries(own)), NAMES.command);
  }
  return file === '' ? settings.masterKeys : keysIn(contentOf(file), NAMES.secret_file);
}

function keysIn(text: string, place: string): readonly Buffer[] {
  let keys: readonly Buffer[];
  try {
    keys = masterKeys(text);
  } catch (error) {
    throw new StartError(`${place} must be ${(error as Error).message}`);
  }
  if (keys.length === 0) throw new StartError(`${place} is empty: it must hold the master key`);
  return keys;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `${NAMES.secret_file}, ${path}, cannot be read (${code}): check the path, and that the user of Lethe may read it`,
    );
  }
}

const TIMEOUT_SECONDS = 30;
/** Far more than the keys of a rotation. */
const OUTPUT_KIB_MAX = 16;
/** The characters of the standard error of a failed command that are shown. */
const SHOWN_MAX = 500;

/**
 * What the program prints. It runs before the process serves anything, so the process waits for it.
 * @throws StartError that shows the end and the standard error of a failed one, never its output
 */
function printedBy([program = '', ...args]: readonly string[], env: Environment): string {
  const ended = spawnSync(program, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_SECONDS * 1000,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_KIB_MAX * 1024,
    encoding: 'utf8',
  });
  const fault = faultOf(ended);
  if (fault === undefined) return ended.stdout;
  const said = withoutKeys(printable(ended.stderr ?? '').trim()).slice(0, SHOWN_MAX);
  throw new StartError(`LETHE_MASTER_KEY_COMMAND: ${program} ${fault}${said === '' ? '' : `: ${said}`}`);
}

function faultOf({ error, status, signal }: SpawnSyncReturns<string>): string | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ETIMEDOUT') return `did not end within ${TIMEOUT_SECONDS} seconds`;
  if (code === 'ENOBUFS') return `wrote more than ${OUTPUT_KIB_MAX} KiB`;
  if (error !== undefined) return `cannot be run (${code})`;
  if (signal !== null) return `was ended by ${signal}`;
  return status === 0 ? undefined : `ended with the exit code ${status}`;
}

/** A shell that shows what it does writes a key there, and a client its token. A key has 43 characters and a `=`. */
function withoutKeys(text: string): string {
  return text.replace(/[A-Za-z0-9+/_-]{43,}={0,2}/g, '(withheld)');
}
