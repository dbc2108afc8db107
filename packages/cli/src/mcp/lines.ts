/** The largest message in bytes. */
export const LINE_MAX_BYTES = 1024 * 1024;

/** A line in UTF-8, or why there is none. */
export type Line = { readonly text: string } | { readonly fault: string };

const NEWLINE = 0x0a;
const TOO_LONG: Line = {
  fault: `A message is longer than ${LINE_MAX_BYTES} bytes and was dropped. Send a shorter one.`,
};

/**
 * The lines of a stream, without empty ones. Of a line that is longer than `maxBytes` no more than that is kept in memory; the
 * ones after it are read as usual. A last line without its end is no message.
 */
export async function* messagesIn(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = LINE_MAX_BYTES,
): AsyncGenerator<Line, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > maxBytes) parts = [];
    else parts.push(part);
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      const line = length > maxBytes ? TOO_LONG : lineOf(Buffer.concat(parts));
      if ('fault' in line || line.text.trim() !== '') yield line;
      [parts, length, from] = [[], 0, end + 1];
    }
    add(chunk.subarray(from));
  }
}

function lineOf(bytes: Uint8Array): Line {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { fault: 'A message is not UTF-8 and was dropped. Send JSON in UTF-8, one message a line.' };
  }
}
