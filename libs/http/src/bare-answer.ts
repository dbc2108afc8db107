import { answerHeaders, logAnswer } from './answer';
import type { LetheResponse } from './request-context';

/** A result in a standard format. It is sent without the envelope and may be cached for a while. */
export class PublicDocument {
  constructor(
    readonly content: object,
    readonly maxAgeSeconds: number,
  ) {}
}

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

/** The headers of every answer, with some of them replaced. */
function headersWith(response: LetheResponse, replaced: Readonly<Record<string, string>>): string[] {
  const headers = answerHeaders(response, 200);
  for (let at = 0; at < headers.length; at += 2) {
    const other = replaced[headers[at] ?? ''];
    if (other !== undefined) headers[at + 1] = other;
  }
  return headers;
}
