import { createHmac } from 'node:crypto';
import { StartError } from '@app/kernel';
import type { Digest } from '@app/primitives';

/** A row of `keys.erasure_ledger`. */
export interface LedgerEntry {
  readonly bot_id: string;
  readonly request_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly key_id: string | null;
  readonly erased_at: string;
}

const FORMAT = 'lethe-erasure-ledger/3';
/** Its lines have a place and a hash beside the rest, which are not needed. */
const OLDER_FORMAT = 'lethe-erasure-ledger/2';
const LINE = /^(\{.+),"mac":"([\w-]{43})"\}$/;

/**
 * The lines of an exported ledger: a head, each entry, and a last line with their number. Each line ends in a MAC over
 * itself and the MAC of the line before it, under a key that is derived from the digest key of the installation.
 */
export async function* linesOf(
  digestKey: Buffer,
  exportedAt: string,
  entries: AsyncIterable<LedgerEntry>,
): AsyncGenerator<string> {
  const macs = new LineMacs(digestKey);
  let count = 0;
  yield macs.added({ format: FORMAT, exported_at: exportedAt });
  for await (const entry of entries) {
    count += 1;
    yield macs.added(entry);
  }
  yield macs.added({ entries: count });
}

/** The entries of {@link linesOf}. @throws StartError for a line that is not as it was exported, and for a cut file */
export async function* entriesOf(
  digestKey: Buffer,
  lines: AsyncIterable<string>,
): AsyncGenerator<LedgerEntry> {
  const macs = new LineMacs(digestKey);
  let number = 0;
  let isWhole = false;
  for await (const line of lines) {
    number += 1;
    const content = isWhole ? undefined : macs.taken(line);
    if (number === 1 && ![FORMAT, OLDER_FORMAT].includes(String(content?.['format']))) throw foreign();
    if (content === undefined) throw unlikeExported(number);
    if (content['entries'] !== undefined) isWhole = true;
    else if (number > 1) yield content as unknown as LedgerEntry;
  }
  if (number === 0) throw new StartError('The file is empty: it is no ledger. Nothing was changed.');
  if (!isWhole) throw new StartError('The file was cut: its last line is missing. Nothing was changed.');
}

class LineMacs {
  private readonly key: Buffer;
  private before = '';

  constructor(digestKey: Buffer) {
    this.key = createHmac('sha256', digestKey).update('lethe/ledger').digest();
  }

  added(content: object): string {
    const text = JSON.stringify(content).slice(0, -1);
    return `${text},"mac":"${this.next(text)}"}`;
  }

  /** Undefined for a line that does not follow the line before it. */
  taken(line: string): Readonly<Record<string, unknown>> | undefined {
    const [, text = '', mac] = LINE.exec(line) ?? [];
    return this.next(text) === mac ? (JSON.parse(`${text}}`) as Record<string, unknown>) : undefined;
  }

  private next(text: string): string {
    this.before = createHmac('sha256', this.key).update(`${this.before}${text}`).digest('base64url');
    return this.before;
  }
}

function foreign(): StartError {
  return new StartError(
    'Line 1 is not the head of a ledger that this installation has exported. Restore the keys (keys.db, or the schema ' +
      'keys) that belong to it first. Nothing was changed.',
  );
}

function unlikeExported(number: number): StartError {
  return new StartError(
    `Line ${number} is not as it was exported, or a line before it is missing. Nothing was changed.`,
  );
}
