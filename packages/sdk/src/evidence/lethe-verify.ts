#!/usr/bin/env node
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { VerificationError } from './verification-error';
import type { KeySet } from '../key-set';
import { linesIn } from '../lines';
import { printable } from '../printable';
import { type AuditProof, verifyAuditExport, verifyAuditProof } from './verify-audit';
import { verifyCertificate, verifyFinalCertificate } from './verify-statement';

const USAGE = `Verifies what a Lethe has signed, without asking it.

  lethe-verify certificate FILE --keys KEYS [--salt SALT --bot ID --user ID --guild ID]
  lethe-verify final FILE --keys KEYS [--salt SALT --bot ID --user ID --guild ID]
  lethe-verify proof FILE --keys KEYS
  lethe-verify audit FILE --keys KEYS [--checkpoint FILE]...

KEYS is what /.well-known/lethe-keys.json answers, fetched by yourself. FILE is an answer of the interface, with or
without its envelope; a checkpoint is the text of one that you have kept. Exit code 0: it holds; 1: it does not.
`;

const OPTIONS = {
  keys: { type: 'string' },
  salt: { type: 'string' },
  bot: { type: 'string' },
  user: { type: 'string' },
  guild: { type: 'string' },
  checkpoint: { type: 'string', multiple: true },
} as const;

type Values = Readonly<Partial<Record<keyof typeof OPTIONS, unknown>>>;

const NAMING = ['salt', 'bot', 'user', 'guild'] as const;
/** The options of each kind of file. */
const OPTIONS_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ['certificate', ['keys', ...NAMING]],
  ['final', ['keys', ...NAMING]],
  ['proof', ['keys']],
  ['audit', ['keys', 'checkpoint']],
]);

/** The JSON of a file, without the envelope. */
function contentOf(path: string): unknown {
  const text = readFileSync(path, 'utf8').trim();
  if (!text.startsWith('{')) return text;
  const value = JSON.parse(text) as { data?: unknown };
  return value.data ?? value;
}

function certificateOf(content: unknown): string {
  return typeof content === 'string' ? content : String((content as { certificate?: unknown }).certificate);
}

async function run(args: readonly string[]): Promise<object | undefined> {
  const { values, positionals } = parseArgs({
    args: joined(args),
    options: OPTIONS,
    allowPositionals: true,
  });
  const [kind, path] = positionals;
  const taken = kind === undefined ? undefined : OPTIONS_OF.get(kind);
  if (path === undefined || values.keys === undefined || taken === undefined) return undefined;
  requireUnderstood(values, taken);
  const keySet = contentOf(values.keys) as KeySet;
  if (kind === 'proof') return verifyAuditProof(contentOf(path) as AuditProof, keySet);
  if (kind === 'audit') {
    const kept = (values.checkpoint ?? []).map((file) => String(contentOf(file)));
    return verifyAuditExport(linesIn(createReadStream(path)), keySet, kept);
  }
  const { salt = '', bot: botId = '', user: userId = '', guild: guildId = '' } = values;
  const verify = kind === 'final' ? verifyFinalCertificate : verifyCertificate;
  const named = values.salt === undefined ? undefined : { salt, botId, userId, guildId };
  return verify(certificateOf(contentOf(path)), keySet, named);
}

/** The command line asks for something that cannot be verified. */
class UsageError extends Error {}

/**
 * What is named has to be verified, or refused: a verification that leaves it out would seem to be about it.
 * @throws UsageError
 */
function requireUnderstood(values: Values, taken: readonly string[]): void {
  const given = Object.keys(values);
  const foreign = given.find((name) => !taken.includes(name));
  if (foreign !== undefined) throw new UsageError(`--${foreign} is no option of this kind of file.`);
  const missing = NAMING.filter((name) => !given.includes(name));
  if (missing.length > 0 && missing.length < NAMING.length)
    throw new UsageError(
      `A certificate is tied to a user by --salt, --bot, --user and --guild together: ${missing
        .map((name) => `--${name}`)
        .join(', ')} is missing.`,
    );
}

/** Joins a salt that begins with a hyphen to its option, since it would otherwise count as an option. */
function joined(args: readonly string[]): string[] {
  const at = args.indexOf('--salt');
  const salt = args[at + 1];
  return at < 0 || salt === undefined
    ? [...args]
    : [...args.slice(0, at), `--salt=${salt}`, ...args.slice(at + 2)];
}

/** The exit code of a verification, after it was written. */
async function written(args: readonly string[]): Promise<number> {
  try {
    const found = await run(args);
    process.stdout.write(
      found === undefined ? USAGE : printable(`it holds\n${JSON.stringify(found, null, 2)}\n`),
    );
    return found === undefined ? 2 : 0;
  } catch (error) {
    const prefix = error instanceof VerificationError ? 'it does not hold: ' : '';
    process.stderr.write(printable(`${prefix}${(error as Error).message}\n`));
    return error instanceof UsageError ? 2 : 1;
  }
}

// The reader of a pipe may close it early: the verification still ends with its own code. The command line of bots ends with 0
// there, and the admin commands of the service with 1; no package imports the inside of another.
process.stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`The output cannot be written (${code}).\n`);
  process.exit(1);
});
void written(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
