import { NetworkError } from './errors';
import { type Begun, linesOf, withoutEnvelope } from './streams';

const bytes = new TextEncoder();

/** An answer in chunks of a size, which then ends or fails. */
function answer(text: string, size: number, fault?: Error) {
  const all = bytes.encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < all.length) controller.enqueue(all.subarray(at, (at += size)));
      else if (fault === undefined) controller.close();
      else controller.error(fault);
    },
  });
  return { response: new Response(body), end: jest.fn() };
}

const envelope = '{"success":true,"data":{"a":"ä}"}}';

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found = [];
  for await (const line of lines) found.push(line);
  return found;
}

describe('withoutEnvelope', () => {
  it('answers data as it was sent, however the answer is cut into chunks', async () => {
    for (let size = 1; size <= bytes.encode(envelope).length; size++)
      expect(await new Response(withoutEnvelope(answer(envelope, size))).text()).toBe('{"a":"ä}"}');
  });

  it('fails for an answer that is cut, and leaves the reason of the caller', async () => {
    const read = (begun: Begun) => new Response(withoutEnvelope(begun)).text();
    await expect(read(answer(envelope, 5, new TypeError('terminated')))).rejects.toBeInstanceOf(NetworkError);
    await expect(read(answer(envelope.slice(0, 25), 5))).rejects.toBeInstanceOf(NetworkError);
    const reason = new Error('the bot stops');
    await expect(read(answer(envelope, 5, reason))).rejects.toBe(reason);
  });
});

describe('linesOf', () => {
  it('answers whole lines, however the answer is cut into chunks', async () => {
    for (let size = 1; size <= 8; size++)
      expect(await all(linesOf(answer('ä1\nb2\n\nc', size)))).toEqual(['ä1', 'b2', '', 'c']);
    expect(await all(linesOf(answer('a\n', 9)))).toEqual(['a']);
    // What node:readline of Node.js 24 ends a line at.
    expect(await all(linesOf(answer('a\u2028b\u2029c\u0085d\n', 2)))).toEqual(['a\u2028b\u2029c\u0085d']);
  });

  it('ends the answer when its reader stops early, and fails when it is cut', async () => {
    const cancel = jest.fn();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes.encode('a\n')),
      cancel,
    });
    for await (const line of linesOf({ response: new Response(endless), end: jest.fn() }))
      if (line === 'a') break;
    expect(cancel).toHaveBeenCalledTimes(1);
    await expect(all(linesOf(answer('a\nb', 9, new TypeError('terminated'))))).rejects.toBeInstanceOf(
      NetworkError,
    );
  });
});
