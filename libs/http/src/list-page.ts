import { jsonOf, JsonText } from './answer';
import type { Pagination } from './pagination';
import { JsonStream, type WritePiece } from './streams';

/** A longer page is sent in pieces, in UTF-16 units. */
const WHOLE_MAX = 256 * 1024;
const PIECE_LENGTH = 32 * 1024;

/** One page of a list. Each of its `items` becomes JSON when it is sent, so that no page stops other requests. */
export class ListPage {
  constructor(
    private readonly name: string,
    readonly items: Iterable<object>,
    private readonly pagination: Pagination,
  ) {}

  /** The result to answer: one text, or a stream for a large page. Both have the same bytes. */
  content(): JsonText | JsonStream {
    return inPieces(this.texts());
  }

  private *texts(): Generator<string, undefined> {
    yield `{${JSON.stringify(this.name)}:[`;
    let separator = '';
    for (const item of this.items) {
      yield separator + jsonOf(item);
      separator = ',';
    }
    yield `],"pagination":${JSON.stringify(this.pagination)}}`;
  }
}

/** The JSON that consists of `texts`: one text, or a stream for a large one. Both have the same bytes. */
export function inPieces(texts: Generator<string, undefined>): JsonText | JsonStream {
  let begun = '';
  for (let next = texts.next(); next.done !== true; next = texts.next()) {
    begun += next.value;
    if (begun.length > WHOLE_MAX) return new JsonStream((write) => writeInPieces(begun, texts, write));
  }
  return new JsonText(begun);
}

async function writeInPieces(begun: string, rest: Iterable<string>, write: WritePiece): Promise<void> {
  await write(begun);
  let piece = '';
  for (const text of rest) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    await write(piece);
    piece = '';
  }
  await write(piece);
}
