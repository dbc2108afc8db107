import { lstatSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { StartError } from '@app/kernel';
import type { OperatorActs } from './operator-acts';

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
 * Asks the service that holds the file for an act. Undefined where no service of the owner of the file listens, and the
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
    // A lost connection shows by the answer that is missing.
    socket.on('error', () => undefined);
    socket.on('close', () => done(isConnected ? taken : undefined));
  });
}
