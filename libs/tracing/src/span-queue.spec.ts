import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { SpanQueue, SPANS_MAX } from './span-queue';

const SPAN = {} as ReadableSpan;

/** A queue whose exporter answers when the test says so. */
function newQueue() {
  const seen: string[] = [];
  const queue = new SpanQueue({
    lost: (spans) => void seen.push(`lost ${spans}`),
    unreached: (code) => void seen.push(`unreached ${code}`),
    reached: () => void seen.push('reached'),
  });
  const answers: ((result: { code: number; error?: Error }) => void)[] = [];
  const exporter = queue.sending({
    export: (_, done) => void answers.push(done),
    shutdown: async () => undefined,
  });
  const got: ReadableSpan[] = [];
  const processor = queue.before({
    onStart: () => undefined,
    onEnd: (span) => void got.push(span),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  });
  const send = (count: number): void =>
    exporter.export(
      Array.from({ length: count }, () => SPAN),
      () => undefined,
    );
  return {
    seen,
    got,
    send,
    processor,
    answer: (code: number, error?: Error) => answers.shift()?.({ code, error }),
  };
}

describe('the queue of spans', () => {
  it('keeps no more than its bound while the collector does not answer, and counts the rest as lost', () => {
    const { seen, got, send, processor, answer } = newQueue();
    for (let at = 0; at < SPANS_MAX + 3; at++) processor.onEnd(SPAN);
    expect(got).toHaveLength(SPANS_MAX);
    expect(seen).toEqual(['lost 1', 'lost 1', 'lost 1']);
    send(SPANS_MAX);
    processor.onEnd(SPAN);
    expect(seen).toHaveLength(4);
    answer(0);
    processor.onEnd(SPAN);
    expect([got.length, seen.length]).toEqual([SPANS_MAX + 1, 4]);
  });

  it('says once that the collector is lost and once that it is back, with the code of the fault alone', () => {
    const { seen, send, answer } = newQueue();
    for (let at = 0; at < 3; at++) send(2);
    answer(1, Object.assign(new Error('secret words'), { code: 'ECONNREFUSED' }));
    answer(1);
    answer(0);
    expect(seen).toEqual(['lost 2', 'unreached ECONNREFUSED', 'lost 2', 'reached']);
  });
});
