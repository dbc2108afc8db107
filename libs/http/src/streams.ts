import { type ApiError, describeFault, OwnError, Turns } from '@app/kernel';
import { answerError, answerHeaders, answerPage, logAnswer, toApiError, type WebPage } from './answer';
import type { LetheResponse } from './request-context';
import type { OpenStream, StreamSlots } from './stream-slots';

/** Characters in one piece: a piece for each text would be a packet for each. */
const PIECE_LENGTH = 32 * 1024;

/** Writes one piece of an answer, and resolves when the next one can follow. */
export type WritePiece = (piece: string) => Promise<void>;

/** Who reads a stream without a key: a person on a page of a bot. */
interface PageReader {
  readonly botId: string;
  /** The same for every link of the person. */
  readonly person: string;
  /** The headers of the answer that begins; the page of a fault has its own. */
  readonly headers: Readonly<Record<string, string>>;
  /** The page for a fault before the first piece. */
  readonly faultPage: (fault: ApiError) => WebPage;
}

/** The content type of one JSON value on each line (NDJSON). A stream of lines has no limit on the whole time. */
export const NDJSON = 'application/x-ndjson';

/**
 * A result that is too large for one text. `writeTo` writes it in pieces and awaits each. Without a content type it is
 * JSON in the success envelope.
 */
export class AnswerStream {
  constructor(
    readonly writeTo: (write: WritePiece) => Promise<void>,
    readonly contentType?: string,
    readonly reader?: PageReader,
    /** Sent with the answer that begins. */
    readonly headers: Readonly<Record<string, string>> = reader?.headers ?? {},
  ) {}
}

/** The same text in larger pieces. */
export async function* grouped(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/**
 * The time, in milliseconds, in which every reader must take something. A larger document may take longer at the same
 * pace.
 */
const STREAM_TIMEOUT_MS = 120_000;
const STREAM_CHARACTERS_PER_MS = 64;
/** The interval, in milliseconds, at which the pace of a reader is checked. */
const PACE_MS = 1_000;
/** All streams take turns, a piece in each. */
const turns = new Turns();

/**
 * Sends a stream at the pace of its reader. A fault before the first piece is answered as an error. A later fault cuts
 * the connection, so that a reader never takes a part for the whole.
 */
export async function answerStream(
  response: LetheResponse,
  status: number,
  stream: AnswerStream,
  slots: StreamSlots,
): Promise<void> {
  const sending = new Sending(response, stream.reader);
  try {
    await slots.take(sending);
  } catch (error) {
    const { status: refused } = toApiError(error);
    if (!answerStreamFault(response, error, stream)) logAnswer(response, refused);
    return;
  }
  try {
    await sendStream(response, status, stream, sending);
  } finally {
    slots.free(sending);
  }
}

/** Ends a streamed answer after a fault. Returns true when the request has its one answer; otherwise the connection is cut. */
function answerStreamFault(response: LetheResponse, error: unknown, { reader }: AnswerStream): boolean {
  if (!response.headersSent && !response.destroyed) {
    answerError(response, error, reader && ((fault) => answerPage(response, reader.faultPage(fault))));
    return true;
  }
  const { logger, id: requestId } = response.req.context;
  logger.warn({ requestId, ...describeFault(error) }, 'answer was cut');
  response.destroy();
  return false;
}

/** One streamed answer and its reader. */
class Sending implements OpenStream {
  readonly caller: string;
  readonly person: string | undefined;
  stalledSinceMs: number | undefined;

  /** The pages of a bot are a caller of their own: they take no place of its calls. */
  constructor(
    private readonly response: LetheResponse,
    reader: PageReader | undefined,
  ) {
    const { caller, operator } = response.req.context;
    const own = caller?.botId ?? (operator === 'known' ? 'operator' : '');
    this.caller = reader === undefined ? own : `the pages of ${reader.botId}`;
    this.person = reader?.person;
  }

  readonly cut = (): void => void this.response.destroy();

  /** Resolves when the reader has taken what is buffered, or has closed the connection. */
  async drained(): Promise<void> {
    this.stalledSinceMs = performance.now();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.on('drain', done).on('close', done);
    });
    this.stalledSinceMs = undefined;
  }
}

async function sendStream(
  response: LetheResponse,
  status: number,
  stream: AnswerStream,
  sending: Sending,
): Promise<void> {
  const { contentType } = stream;
  const isEnveloped = contentType === undefined;
  const begunMs = performance.now();
  let sent = 0;
  let sentMs = begunMs;
  const pace = setInterval(() => {
    const dueMs = Math.min(begunMs + sent / STREAM_CHARACTERS_PER_MS, sentMs) + STREAM_TIMEOUT_MS;
    if (performance.now() > dueMs && contentType !== NDJSON) response.destroy();
  }, PACE_MS);
  try {
    await turns.next();
    // Its reader may have gone while the answer waited for its place: what begins to be sent is recorded.
    if (response.destroyed) throw new OwnError('The reader went away');
    await stream.writeTo(async (piece) => {
      if (response.destroyed) throw new OwnError('The reader went away');
      if (!response.headersSent) {
        const further = Object.entries(stream.headers).flat();
        response.writeHead(status, [...answerHeaders(response, status, contentType), ...further]);
        if (isEnveloped) response.write('{"success":true,"data":');
      }
      if (!response.write(piece)) await sending.drained();
      sent += piece.length;
      sentMs = performance.now();
      // A fast reader never lets the stream wait, and many readers can be ready at the same time.
      await turns.next();
    });
    response.end(isEnveloped ? '}' : '');
  } catch (error) {
    if (answerStreamFault(response, error, stream)) return;
  } finally {
    clearInterval(pace);
  }
  logAnswer(response, status);
}
