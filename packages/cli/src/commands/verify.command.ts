import type { Command } from 'commander';
import { type KeySet, VerificationError } from '@lethe/sdk/evidence';
import { readText } from '../env-file';
import { EXIT, Failure, wrongUsage } from '../failures';
import { plain } from '../output';
import { Session, snowflake } from '../session';
import { type Named, verified } from '../statements';

interface Options extends Named {
  readonly keys?: string;
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .summary('verify a certificate, receipt, proof or audit log')
    .description(
      'Verifies what Lethe has signed, and says in one sentence what it proves. The keys are fetched from the service; ' +
        'someone who does not trust it keeps them in a file.',
    )
    .argument('<file>', 'an answer of the interface, with or without its envelope')
    .option('--keys <file>', 'the keys, as /.well-known/lethe-keys.json answers them')
    .option('--salt <salt>', 'certificate_salt of the erasure')
    .option('--bot <id>', 'the bot of the certificate')
    .option('--user <id>', 'the user of the certificate', snowflake)
    .option('--guild <id>', 'the guild of the certificate', snowflake)
    .action((file: string, options: Options, command: Command) =>
      verify(new Session(command), file, options),
    );
}

async function verify(session: Session, file: string, { keys, ...named }: Options): Promise<void> {
  const { output } = session;
  const keySet = keys === undefined ? await session.anonymous().publicKeys() : keysIn(keys);
  const source = keys === undefined ? `fetched from ${session.url}` : `from ${keys}`;
  try {
    const found = await verified(file, keySet, named);
    const sentence = plain(found.sentence);
    output.result(
      { holds: true, ...found, sentence, keys: source },
      `${output.paint('green', 'It holds.')} ${sentence} (Keys ${source}.)`,
    );
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new Failure(
      EXIT.refused,
      `It does not hold: ${error.message}.`,
      `Do not rely on ${file}. Was it changed, or are the keys those of another service (${source})?`,
      'does_not_hold',
    );
  }
}

function keysIn(file: string): KeySet {
  const text = readText(file);
  try {
    const value = JSON.parse(text) as Partial<KeySet>;
    if (Array.isArray(value.keys)) return value as KeySet;
  } catch {
    // The failure follows below.
  }
  throw wrongUsage(
    `${file} holds no keys.`,
    'Fetch them: curl -s https://your-lethe/.well-known/lethe-keys.json > keys.json',
  );
}
