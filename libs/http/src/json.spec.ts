import { EventEmitter } from 'node:events';
import { ApiError } from '@app/kernel';
import fc from '../../../test/support/fast-check';
import { readBody } from './json';
import type { LetheRequest } from './request-context';

/** A request whose body has not come yet. */
const waiting = (): LetheRequest =>
  Object.assign(new EventEmitter(), { headers: { 'content-type': 'application/json' } }) as never;

/** The text of a body that comes in these chunks. Each chunk is overwritten once the one after it has come. */
async function textOf(chunks: readonly Buffer[], limitBytes: number): Promise<unknown> {
  const request = waiting();
  const parse = jest.fn((bytes: Buffer) => bytes.toString('latin1') as never);
  const body = readBody(request, limitBytes, parse);
  for (const [at, chunk] of chunks.entries()) {
    request.emit('data', chunk);
    if (at > 0) chunks.slice(at - 1, at + 1).forEach((come) => come.fill('?'));
  }
  request.emit('end');
  return body;
}

const TEXT = Buffer.from(Array.from({ length: 20_000 }, (_, at) => 0x61 + (at % 26)));

describe('readBody', () => {
  it('holds one copy of what has come and no chunk of it, however small the chunks are', async () => {
    const each = Array.from(TEXT, (byte) => Buffer.of(byte));
    expect((await textOf(each, TEXT.length)) === TEXT.toString()).toBe(true);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: TEXT.length }), { maxLength: 12 }),
        async (cuts) => {
          const at = [0, ...cuts.sort((one, other) => one - other), TEXT.length];
          const parts = at.slice(1).map((to, index) => Buffer.from(TEXT.subarray(at[index], to)));
          const chunks = parts.filter(({ length }) => length > 0);
          expect((await textOf(chunks, TEXT.length + cuts.length)) === TEXT.toString()).toBe(true);
        },
      ),
    );
  });

  it('takes a body that comes at once as it is, and writes into no memory of its chunks', async () => {
    const memory = Buffer.alloc(16, '.');
    const [first, second] = [memory.subarray(0, 4), Buffer.from('five')];
    const [one, two] = [waiting(), waiting()];
    const parse = jest.fn((bytes: Buffer) => bytes as never);
    const [alone, both] = [readBody(one, 99, parse), readBody(two, 99, parse)];
    for (const request of [one, two]) request.emit('data', first);
    two.emit('data', second);
    for (const request of [one, two]) request.emit('end');
    expect(((await alone) as never as Buffer).buffer).toBe(memory.buffer);
    expect((await both) as never as Buffer).toEqual(Buffer.from('....five'));
    expect(memory).toEqual(Buffer.alloc(16, '.'));
  });

  it('refuses a body that is longer than its limit in all, and parses nothing of it', async () => {
    const refused = await textOf([Buffer.from('four'), Buffer.from('more'), Buffer.from('rest')], 7);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ code: 'payload_too_large', details: { limit_bytes: 7 } });
  });
});
