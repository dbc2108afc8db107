import { createHmac } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InstallationKeys, ledgerBegins } from '@app/crypto';
import { eachOf, UnitOfWork } from '@app/database';
import { grouped } from '@app/http';
import { Clock, type Config, CONFIG, StartError } from '@app/kernel';
import { addToLedger, destroyKeys, LEDGER_COLUMNS, type LedgerEntry, valuesOf } from './ledger-entries.sql';
import { MissingEntries } from './missing-entries';

/** Entries of one read or write. */
const BATCH = 500;

const FORMAT = 'lethe-erasure-ledger/3';
/** Its lines have a place and a hash beside the rest, which are not needed. */
const OLDER_FORMAT = 'lethe-erasure-ledger/2';
const LINE = /^(\{.+),"mac":"([\w-]{43})"\}$/;

/** Numbers of entries of a merged file. */
interface Merged {
  readonly added: number;
  readonly known: number;
  /** Entries beyond the retention time. */
  readonly tooOld: number;
  /** Erasures that neither the ledger nor the file had, and the data in place records. */
  readonly ofData: number;
  /** Keys that a backup had brought back and the ledger lists as destroyed. */
  readonly destroyedKeys: number;
}

/**
 * Exports and merges the ledger of all erasures: one line of JSON for each, with digests in place of ids. After a
 * restored backup the operator merges it; the next start repeats the erasures that the backup does not contain.
 */
@Injectable()
export class ErasureLedger {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: InstallationKeys,
    private readonly missing: MissingEntries,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The text of the file, several of its lines in each piece. `onErasure` is called for each erasure of a subject. */
  pieces(onErasure?: () => void): AsyncGenerator<string> {
    return grouped(this.lines(onErasure));
  }

  /**
   * Adds the unknown entries, and those that the data in place records. `read` returns the lines of the file at each call: all are
   * checked before the first one is added.
   * @throws StartError, with nothing changed, for a file that is not whole, or not as this installation exported it.
   */
  async merge(read: () => AsyncIterable<string>): Promise<Merged> {
    const since = ledgerBegins(this.clock, this.config);
    const merged = { added: 0, known: 0, tooOld: 0, ofData: 0, destroyedKeys: 0 };
    const isInTime = (entry: LedgerEntry): boolean => entry.erased_at >= since;
    for await (const batch of this.batchesOf(read()))
      merged.tooOld += batch.filter((entry) => isOfSubject(entry) && !isInTime(entry)).length;
    for await (const batch of this.batchesOf(read())) {
      const inTime = batch.filter(isInTime);
      const erasures = inTime.filter(isOfSubject);
      const added = await this.unitOfWork.write(async (tx) => {
        await addToLedger(tx, inTime.filter((entry) => !isOfSubject(entry)).map(valuesOf));
        return addToLedger(tx, erasures.map(valuesOf));
      });
      merged.added += added;
      merged.known += erasures.length - added;
      merged.destroyedKeys += await destroyKeys(this.unitOfWork, inTime);
    }
    const { entered, destroyedKeys } = await this.missing.enter();
    await this.unitOfWork.scrubKeys();
    return { ...merged, ofData: entered, destroyedKeys: merged.destroyedKeys + destroyedKeys };
  }

  /**
   * The lines of the file: a head, each entry, and a last line with their number. Each line ends in a MAC over itself and
   * the MAC of the line before it, under a key that is derived from the digest key of the installation.
   */
  private async *lines(onErasure: () => void = () => undefined): AsyncGenerator<string> {
    const macs = new LineMacs(this.keys.digest);
    let count = 0;
    yield `${macs.added({ format: FORMAT, exported_at: this.clock.nowIso() })}\n`;
    for await (const entry of eachOf<LedgerEntry>(BATCH, (after) => this.page(after))) {
      count += 1;
      if (isOfSubject(entry)) onErasure();
      yield `${macs.added(entry)}\n`;
    }
    yield `${macs.added({ entries: count })}\n`;
  }

  /** The entries of a file. @throws StartError for a line that is not as it was exported, and for a cut file */
  private async *batchesOf(lines: AsyncIterable<string>): AsyncGenerator<readonly LedgerEntry[]> {
    const macs = new LineMacs(this.keys.digest);
    let batch: LedgerEntry[] = [];
    let number = 0;
    let isWhole = false;
    for await (const line of lines) {
      number += 1;
      const content = isWhole ? undefined : macs.taken(line);
      if (number === 1 && ![FORMAT, OLDER_FORMAT].includes(String(content?.['format'])))
        throw refused(
          'Line 1 is not the head of a ledger that this installation has exported. Restore the keys (keys.db, or the ' +
            'schema keys) that belong to it first.',
        );
      if (content === undefined)
        throw refused(`Line ${number} is not as it was exported, or a line before it is missing.`);
      if (content['entries'] !== undefined) isWhole = true;
      else if (number > 1 && batch.push(content as unknown as LedgerEntry) === BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (number === 0) throw refused('The file is empty: it is no ledger.');
    if (!isWhole) throw refused('The file was cut: its last line is missing.');
    yield batch;
  }

  private page(after: LedgerEntry | undefined): Promise<LedgerEntry[]> {
    return this.unitOfWork.read((tx) =>
      tx.all<LedgerEntry>(
        `SELECT ${LEDGER_COLUMNS} FROM keys.erasure_ledger WHERE (bot_id, request_id) > (?, ?)
         ORDER BY bot_id, request_id LIMIT ${BATCH}`,
        ...[after?.bot_id ?? '', after?.request_id ?? ''],
      ),
    );
  }
}

/** Else it says that the bot was deleted, which erases nothing again. */
function isOfSubject({ bot_id: botId, request_id: id }: LedgerEntry): boolean {
  return id !== botId;
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

function refused(why: string): StartError {
  return new StartError(`${why} Nothing was changed.`);
}
