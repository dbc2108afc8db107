import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keyring } from '@app/crypto';
import { keysOf, secretOf } from './digests';
import type { Service } from './service';
import type { SubjectIds } from './snowflakes';

/** Length of the pieces of a text to search for, since a text can continue on another page. */
const PIECE = 24;
const PIECES_MAX = 6;

/** Bytes that would show an erased subject. */
export interface Traces {
  /** The key in every encoding, and the values derived from it. */
  readonly key: readonly Buffer[];
  /** The encrypted key. */
  readonly wrapped: readonly Buffer[];
  /** The encrypted key itself, and the texts encrypted with it that an erasure removes. */
  readonly sealed: readonly Buffer[];
  /** The details of events encrypted with the key, which stay as long as their bot, without the key. */
  readonly details: readonly Buffer[];
}

/** Collects the traces from the present rows. */
export async function tracesOf(service: Service, botId: string, who: SubjectIds): Promise<Traces> {
  const stored = service.stored({ id: botId }, who);
  const { id, sealed, secret } = await secretOf(service.database, service.app.get(Keyring), botId, stored);
  const tables = (await service.database.tables()).map(({ name }) => name);
  const others = tables.filter((name) => name !== 'audit_events');
  const texts = await textsOf(service, others, `s2.${id}.`);
  return {
    key: keysOf(secret).flatMap(spellings),
    wrapped: pieces(sealed),
    sealed: [...texts, sealed].flatMap(pieces),
    details: (await textsOf(service, ['audit_events'], `s2.${id}.`)).flatMap(pieces),
  };
}

/** Every text in the tables that begins with `beginning`. */
async function textsOf(
  { database }: Service,
  tables: readonly string[],
  beginning: string,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of tables) {
    for (const row of await database.rows<object>(`SELECT * FROM ${name}`))
      for (const value of Object.values(row))
        if (typeof value === 'string' && value.startsWith(beginning)) found.push(value);
  }
  return found;
}

function spellings(bytes: Buffer): Buffer[] {
  const texts = (['base64', 'base64url', 'hex'] as const).map((encoding) => bytes.toString(encoding));
  return [bytes, ...texts.map((text) => Buffer.from(text.replace(/=+$/, '')))];
}

/** Some pieces of an encrypted text, after the id of its key. */
function pieces(text: string): Buffer[] {
  const body = text.slice(text.lastIndexOf('.') + 1);
  const count = Math.min(PIECES_MAX, Math.floor(body.length / PIECE));
  const step = Math.floor(body.length / count);
  return Array.from({ length: count }, (_, at) => Buffer.from(body.slice(at * step, at * step + PIECE)));
}

/** The files below a directory that hold any of the `needles`. */
export function filesWith(directory: string, needles: readonly (Buffer | string)[]): string[] {
  return filesBelow(directory).filter((path) => {
    const content = contentOf(path);
    return needles.some((needle) => content.includes(needle));
  });
}

export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return unlessRemoved(() => filesBelow(path)) ?? [];
    return entry.isFile() ? [path] : [];
  });
}

/** Empty for a file that was removed meanwhile. */
export function contentOf(path: string): Buffer {
  return unlessRemoved(() => readFileSync(path)) ?? Buffer.alloc(0);
}

/** Undefined for what was removed since it was listed, as in a running server. */
function unlessRemoved<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
