import { jsonOf } from '@app/http';
import type { SubjectExport } from '@app/subjects';

/** Name and version of the schema of the full export; docs/export-schema.json describes it. */
export const EXPORT_SCHEMA = 'lethe-export/1';

/** Characters in one piece: a piece for each record would be a packet for each. */
const PIECE_LENGTH = 32 * 1024;

type Data = NonNullable<SubjectExport['data']>;
/** Sections by their names, with their items. */
export type Further = readonly (readonly [string, NonNullable<SubjectExport['full']>[string]])[];

/** The entries of `data` with their commas; each is read when it is needed. */
export async function* entries(sources: readonly Data[]): AsyncGenerator<string> {
  let separator = '';
  for (const source of sources) {
    for await (const [name, json] of source) {
      yield `${separator}${JSON.stringify(name)}:${json}`;
      separator = ',';
    }
  }
}

/** Closes `data` and appends every further section as a list. */
export async function* sections(further: Further): AsyncGenerator<string> {
  yield '}';
  for (const [name, items] of further) {
    let separator = `,${JSON.stringify(name)}:[`;
    for await (const item of items) {
      yield separator + jsonOf(item);
      separator = ',';
    }
    yield separator === ',' ? ']' : `${separator}]`;
  }
  yield '}';
}

/** The same text in larger pieces. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
