import { lstatSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import type { ModuleRef } from '@nestjs/core';
import { BotAdministration } from '@app/bots';
import { Keyring, MasterKeyRotation, Signer } from '@app/crypto';
import { CONFIG, type Config, masterKeySetting, NO_TIER, StartError } from '@app/kernel';

type OnRewrapped = Parameters<MasterKeyRotation['rotate']>[0];

/** What an operator changes, by the names of the commands. Each takes texts and returns plain data. */
export type OperatorActs = ReturnType<typeof operatorActs>;

/**
 * The acts on the modules of one process: the process of the command, or on SQLite the service that holds the file. A
 * running service can be asked for no other act.
 */
export function operatorActs(modules: Pick<ModuleRef, 'get'>, onRewrapped: OnRewrapped = () => undefined) {
  const bots = modules.get(BotAdministration, { strict: false });
  return {
    'bots:new-key': (bot: string) => bots.newKey(bot),
    'bots:suspend': (bot: string) => bots.suspend(bot),
    'bots:resume': (bot: string) => bots.resume(bot),
    'bots:tier': (bot: string, tier: string) => bots.setTier(bot, tier === NO_TIER ? null : tier),
    'bots:delete': (bot: string) => bots.delete(bot),
    /** `firstKey` is the id of the first key that the settings of the command give, empty for a key file. */
    'keys:rotate': async (firstKey: string) => {
      const config = modules.get<Config>(CONFIG, { strict: false });
      if ((firstKey === '') !== (config.masterKeys.length === 0)) throw otherPlace(firstKey, config);
      if (firstKey !== '' && firstKey !== modules.get(Keyring, { strict: false }).presentId) throw otherKey();
      return modules.get(MasterKeyRotation, { strict: false }).rotate(onRewrapped);
    },
    'keys:sign-rotate': () => modules.get(Signer, { strict: false }).rotate(),
  };
}

function otherPlace(firstKey: string, ofService: Config): StartError {
  const [service, command] =
    firstKey === ''
      ? [masterKeySetting(ofService), 'the key file']
      : ['the key file', 'LETHE_MASTER_KEY, its file or its command'];
  return new StartError(
    `Nothing was changed: the running service has its key from ${service}, and this command from ${command}. Give this command the settings of the service, and run keys:rotate again.`,
  );
}

function otherKey(): StartError {
  return new StartError(
    'Nothing was changed: the running service has another first key than this command. Restart it, so that it has the keys that its settings give now, and run keys:rotate again.',
  );
}

/** One line of JSON each way. */
export interface Asked {
  readonly act: string;
  readonly given: readonly string[];
}

export type Answer =
  | { readonly done: unknown }
  | { readonly refused: string }
  /** Parts of an unforeseen error. */
  | { readonly failed: Readonly<Record<string, unknown>> };

/** The socket of the service that holds the file, beside it. */
export function socketPath(databasePath: string): string {
  return `${resolve(databasePath)}.sock`;
}

/**
 * Asks the service that holds the file for an act. Undefined if no service of the owner of the file listens: then the
 * act was not done.
 * @throws StartError when the service refuses or fails, or ends without an answer
 */
export async function askService(
  databasePath: string,
  act: keyof OperatorActs,
  given: readonly string[],
): Promise<{ readonly done: unknown } | undefined> {
  const path = socketPath(databasePath);
  if (!isOfOwner(path, databasePath)) return undefined;
  const line = await exchange(path, `${JSON.stringify({ act, given } satisfies Asked)}\n`);
  if (line === undefined) return undefined;
  if (!line.endsWith('\n'))
    throw new StartError(
      `The service ended before it answered: ${act} may be done or not. It can be run again; bots:list and keys:list show the present state.`,
    );
  const answer = JSON.parse(line) as Answer;
  if ('done' in answer) return answer;
  throw new StartError(
    'refused' in answer ? answer.refused : `The command failed: ${JSON.stringify(answer.failed)}`,
  );
}

/** A key is sent back on it, so a socket that another user has placed there is not asked. */
function isOfOwner(path: string, databasePath: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const file = statSync(databasePath, { throwIfNoEntry: false });
  return found?.isSocket() === true && found.uid === file?.uid && (found.mode & 0o077) === 0;
}

/** Sends the text and reads to the end. Undefined without a service that listens. */
function exchange(path: string, sent: string): Promise<string | undefined> {
  return new Promise((done) => {
    let isConnected = false;
    let taken = '';
    const socket = connect(path, () => {
      isConnected = true;
      socket.write(sent);
    }).setEncoding('utf8');
    socket.on('data', (chunk: string) => (taken += chunk));
    // A lost connection is recognised by the missing answer.
    socket.on('error', () => undefined);
    socket.on('close', () => done(isConnected ? taken : undefined));
  });
}
