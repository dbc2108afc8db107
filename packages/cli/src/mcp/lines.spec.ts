import { type Line, messagesIn } from './lines';

async function read(chunks: readonly (string | Uint8Array)[], maxBytes = 8): Promise<Line[]> {
  const stream = async function* (): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  };
  const found: Line[] = [];
  for await (const line of messagesIn(stream(), maxBytes)) found.push(line);
  return found;
}

const TOO_LONG = { fault: expect.stringContaining('longer than') as string };

describe('the lines of a client', () => {
  it.each([
    ['in one chunk', ['a\nb\n']],
    ['cut anywhere', ['a', '\nb', '\n']],
    ['with empty lines and CR', ['\n a \r\n\n', 'b\n\n']],
  ])('are read %s', async (_, chunks) => {
    expect((await read(chunks)).map((line) => 'text' in line && line.text.trim())).toEqual(['a', 'b']);
  });

  it('are joined from the bytes of a character in two chunks', async () => {
    const bytes = Buffer.from('ä\n');
    expect(await read([bytes.subarray(0, 1), bytes.subarray(1)])).toEqual([{ text: 'ä' }]);
  });

  it('are refused when too long, however they are cut, and the next one is read', async () => {
    expect(await read(['12345678\n', '123456789\nok\n'])).toEqual([
      { text: '12345678' },
      TOO_LONG,
      { text: 'ok' },
    ]);
    expect(await read(['1234', '5678', '90', '12345', '\nok\n'])).toEqual([TOO_LONG, { text: 'ok' }]);
  });

  it('are refused when they are no UTF-8, and the next one is read', async () => {
    const fault = { fault: expect.stringContaining('UTF-8') as string };
    expect(await read([Buffer.from([0xff, 0x0a]), 'ok\n'])).toEqual([fault, { text: 'ok' }]);
  });

  it('leave out what has no end', async () => {
    expect(await read(['ok\nhalf'])).toEqual([{ text: 'ok' }]);
  });
});
