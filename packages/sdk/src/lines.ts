/**
 * The lines of a text in UTF-8, in chunks of any size: `linesIn(createReadStream(path))`. Only a line feed ends a line. `node:readline`
 * of Node.js 24 and newer also ends one at U+2028 and U+2029, which JSON has inside its texts.
 */
export async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
