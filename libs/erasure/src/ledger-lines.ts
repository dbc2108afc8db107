import type { SubjectDigests } from '@app/crypto';
import type { Digest } from '@app/primitives';
import { StartError } from '@app/kernel';

/** A row of `keys.erasure_ledger`. */
export interface LedgerEntry {
  readonly bot_id: string;
  readonly request_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly key_id: string | null;
  readonly erased_at: string;
  readonly place: number | null;
  readonly chain: string | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DIGEST = /^[\w-]{20}$/;
const FORMAT = 'lethe-erasure-ledger/1';

/** The check of each field. */
const FIELDS: Readonly<Record<keyof LedgerEntry, (value: unknown) => boolean>> = {
  bot_id: (value) => isText(value, UUID),
  request_id: (value) => isText(value, UUID),
  guild_id: (value) => isText(value, DIGEST),
  user_id: (value) => isText(value, DIGEST),
  key_id: (value) => value === null || isText(value, /^[\w-]{1,32}$/),
  erased_at: (value) => isText(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  place: (value) => value === null || (Number.isSafeInteger(value) && (value as number) > 0),
  chain: (value) => value === null || isText(value, /^[0-9a-f]{64}$/),
};

/** The first line. `digests` shows whether the entries were digested with the key of this installation. */
export function headOf(digests: SubjectDigests, exportedAt: string): string {
  return JSON.stringify({ format: FORMAT, digests: digests.mark, exported_at: exportedAt });
}

export function isHead(digests: SubjectDigests, line: string): boolean {
  const head = parsed(line);
  return head?.['format'] === FORMAT && head['digests'] === digests.mark;
}

export function textOf(entry: LedgerEntry): string {
  const { bot_id, request_id, guild_id, user_id, key_id, erased_at, place, chain } = entry;
  // PostgreSQL returns large integers as text.
  const placed = place === null ? null : Number(place);
  return JSON.stringify({ bot_id, request_id, guild_id, user_id, key_id, erased_at, place: placed, chain });
}

/** @throws StartError that names the line and the field */
export function entryOf(line: string, number: number): LedgerEntry {
  const entry = parsed(line);
  if (entry === undefined) throw malformed(number, 'it is no JSON object');
  for (const [field, isValid] of Object.entries(FIELDS))
    if (!isValid(entry[field])) throw malformed(number, `${field} is missing or malformed`);
  return entry as unknown as LedgerEntry;
}

function malformed(number: number, reason: string): StartError {
  return new StartError(`Line ${number} is no entry of a ledger: ${reason}. Nothing was changed.`);
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
