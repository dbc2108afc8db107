import { NetworkError } from './errors';
import { linesIn } from './lines';

/** An answer that arrives. */
export interface Begun {
  readonly response: Response;
  /** Removes what listens for the signal of the caller, once nothing of the answer is awaited any more. */
  readonly end: () => void;
}

const BEGIN = '{"success":true,"data":';
const END = '}';

/** `data` of an answer as it arrives, byte for byte, without the envelope. */
export function withoutEnvelope(begun: Begun): ReadableStream<Uint8Array> {
  const begin = new TextEncoder().encode(BEGIN);
  let skip = begin.length;
  let last: Uint8Array | undefined;
  return bodyOf(begun).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const from = Math.min(skip, chunk.length);
        skip -= from;
        if (from === chunk.length) return;
        if (last !== undefined) controller.enqueue(last);
        const end = chunk.length - END.length;
        if (end > from) controller.enqueue(chunk.subarray(from, end));
        last = chunk.subarray(end);
      },
      flush(controller) {
        if (last?.[0] !== END.charCodeAt(0)) controller.error(cut());
      },
    }),
  );
}

/** The lines of an answer, as they arrive. */
export const linesOf = (begun: Begun): AsyncGenerator<string, void, undefined> =>
  linesIn(chunksOf(bodyOf(begun)));

/** The text of an answer. */
export async function wholeText(begun: Begun): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunksOf(bodyOf(begun))) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** The chunks of a stream, which is no async iterable in every runtime. The end of the loop cancels the stream. */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The body of an answer. A fault of the network, which fetch reports as a TypeError, becomes a NetworkError. */
function bodyOf({ response, end }: Begun): ReadableStream<Uint8Array> {
  const body = response.body as ReadableStream<Uint8Array> | null;
  if (body === null) {
    end();
    throw cut();
  }
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error instanceof TypeError ? cut(error) : error);
      }
    },
    cancel: (reason) => {
      end();
      return reader.cancel(reason);
    },
  });
}

const cut = (cause?: unknown): NetworkError =>
  new NetworkError('The answer was cut before its end.', { code: 'network_error', cause });
