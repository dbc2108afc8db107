import { OwnError } from '@app/kernel';
import { answerFault, answerHeaders, drained, logAnswer } from './answer';
import type { LetheResponse } from './request-context';

/** A result in a standard format. It is sent without the envelope and may be cached for a while. */
export class PublicDocument {
  constructor(
    readonly content: object,
    readonly maxAgeSeconds: number,
  ) {}
}

/** A result with one JSON value on each line (NDJSON), without the envelope. `writeTo` writes lines and awaits each. */
export class LineStream {
  constructor(readonly writeTo: (write: (lines: string) => Promise<void>) => Promise<void>) {}
}

/** The connection of a reader that takes nothing for this long, in milliseconds, is cut. */
const STALLED_MS = 60_000;

export function answerDocument(response: LetheResponse, { content, maxAgeSeconds }: PublicDocument): void {
  const json = JSON.stringify(content);
  response.writeHead(200, [
    ...headersWith(response, { 'Cache-Control': `public, max-age=${maxAgeSeconds}` }),
    'Content-Length',
    String(Buffer.byteLength(json)),
  ]);
  response.end(json);
  logAnswer(response, 200);
}

/**
 * Sends a {@link LineStream} at the pace of its reader, without a limit on the whole time. A fault before the first
 * line is answered as an error. A later fault cuts the connection.
 */
export async function answerLines(response: LetheResponse, stream: LineStream): Promise<void> {
  try {
    await stream.writeTo(async (lines) => {
      if (response.destroyed) throw new OwnError('The reader went away');
      if (!response.headersSent)
        response.writeHead(200, headersWith(response, { 'Content-Type': 'application/x-ndjson' }));
      if (!response.write(lines)) await takenIn(response);
    });
    response.end();
  } catch (error) {
    if (answerFault(response, error)) return;
  }
  logAnswer(response, 200);
}

async function takenIn(response: LetheResponse): Promise<void> {
  const stalled = setTimeout(() => response.destroy(), STALLED_MS);
  try {
    await drained(response);
  } finally {
    clearTimeout(stalled);
  }
}

/** The headers of every answer, with some of them replaced. */
function headersWith(response: LetheResponse, replaced: Readonly<Record<string, string>>): string[] {
  const headers = answerHeaders(response, 200);
  for (let at = 0; at < headers.length; at += 2) {
    const other = replaced[headers[at] ?? ''];
    if (other !== undefined) headers[at + 1] = other;
  }
  return headers;
}
