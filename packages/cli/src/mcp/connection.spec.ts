import { PassThrough } from 'node:stream';
import { McpClient } from '../../../../test/support/mcp-client';
import { type Call, Connection, ProtocolError } from './connection';
import { type Line, messagesIn } from './lines';
import type { Confirmation } from './tool';

/** A client and a server whose only tool does as the test says. */
function connected(
  tool: (call: Call) => Promise<object> = () => Promise.resolve({ done: true }),
  answerMs?: number,
) {
  const input = new PassThrough();
  const client = new McpClient((line) => input.write(line));
  const server = {
    info: { name: 'lethe', title: 'Lethe', version: '1' },
    instructions: 'Read.',
    tools: [{ name: 'it' }],
    call: (name: string, _: object, call: Call) =>
      name === 'it' ? tool(call) : Promise.reject(new ProtocolError('params', 'no such tool')),
  };
  const connection = new Connection(
    server,
    (message) => Promise.resolve(client.take({ ...message })),
    answerMs,
  );
  const ended = connection.serve(messagesIn(input));
  return { client, ended, end: () => input.end() };
}

const code = (error: number): object =>
  expect.objectContaining({ error: expect.objectContaining({ code: error }) as object }) as object;
const FORMS = { elicitation: {} };

/** A gate at which calls wait, with how many were there at once. */
function gate() {
  const waiting: (() => void)[] = [];
  let reached: (() => void) | undefined;
  const seen = { active: 0, most: 0, started: 0 };
  const pass = async (): Promise<object> => {
    seen.started += 1;
    seen.most = Math.max(seen.most, (seen.active += 1));
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      reached?.();
    });
    seen.active -= 1;
    return { done: true };
  };
  const full = async (count: number): Promise<void> => {
    while (waiting.length < count) await new Promise<void>((resolve) => (reached = resolve));
  };
  return {
    pass,
    full,
    seen,
    open: (count = waiting.length) => waiting.splice(0, count).forEach((go) => go()),
  };
}

describe('the connection of a client', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
  ])('that asks for version %s is answered %s', async (asked, answered) => {
    expect(await connected().client.initialize({}, asked)).toEqual({
      ...{ protocolVersion: answered, capabilities: { tools: {} }, instructions: 'Read.' },
      serverInfo: { name: 'lethe', title: 'Lethe', version: '1' },
    });
  });

  it('begins with initialize, once, with a version', async () => {
    const { client } = connected();
    expect(await client.request('ping')).toMatchObject({ result: {} });
    expect(await client.request('tools/list')).toEqual(code(-32600));
    expect(await client.request('initialize')).toEqual(code(-32602));
    await client.initialize();
    expect(await client.request('tools/list')).toMatchObject({ result: { tools: [{ name: 'it' }] } });
    expect(await client.request('initialize', { protocolVersion: '2025-11-25' })).toEqual(code(-32600));
  });

  it.each([
    ['a line that is no JSON', '{\n', -32700],
    ['a number', '7\n', -32600],
    ['null', 'null\n', -32600],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600],
    ['an empty batch', '[]\n', -32600],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}\n', -32600],
    ['a line of more than 1 MiB', `"${'a'.repeat(1024 * 1024)}"\n`, -32600],
    ['deep arrays', `${'['.repeat(200_000)}\n`, -32700],
  ])('answers %s with an error, and continues', async (_, line, expected) => {
    const { client } = connected();
    client.raw(line);
    expect(await client.fault()).toEqual(code(expected));
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it('answers an unknown method, an unknown tool and wrong parameters, and no notification', async () => {
    const { client } = connected();
    await client.initialize();
    client.raw({ jsonrpc: '2.0', method: 'notifications/unknown' });
    client.raw({ jsonrpc: '2.0', id: 'nothing was asked', result: {} });
    expect(await client.request('resources/list')).toEqual(code(-32601));
    expect(await client.request('toString')).toEqual(code(-32601));
    expect(await client.request('tools/call', { name: 'other' })).toEqual(code(-32602));
    expect(await client.request('tools/call', { arguments: {} })).toEqual(code(-32602));
    expect(await client.request('tools/call', { name: 'it', arguments: [] })).toEqual(code(-32602));
    expect(await client.request('tools/call', { name: 'it' })).toMatchObject({ result: { done: true } });
    expect(client.received).toHaveLength(7);
  });

  it('runs four calls at once, and lets sixty wait', async () => {
    const { pass, full, seen, open } = gate();
    const { client } = connected(pass);
    await client.initialize();
    const calls = Array.from({ length: 64 }, () => client.request('tools/call', { name: 'it' }));
    await full(4);
    expect(await client.request('tools/call', { name: 'it' })).toEqual(code(-32000));
    expect(await client.request('ping')).toMatchObject({ result: {} });
    expect(seen.started).toBe(4);
    for (let rest = 64; rest > 0; rest -= 4) {
      await full(4);
      open();
    }
    expect(await Promise.all(calls)).toHaveLength(64);
    expect(seen).toEqual({ active: 0, most: 4, started: 64 });
  });

  it('runs four calls at once, also when one arrives as another ends', async () => {
    // The moment at which the line is read, counted in steps of the queue of promises after the end of a call.
    for (let steps = 0; steps < 20; steps += 1) {
      const { pass, full, seen, open } = gate();
      const call = (id: number): Line => ({
        text: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'it' } }),
      });
      const lines = async function* (): AsyncGenerator<Line, void, undefined> {
        const params = { protocolVersion: '2025-11-25' };
        yield { text: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }) };
        for (let id = 1; id <= 5; id += 1) yield call(id);
        await full(4);
        open(1);
        for (let step = 0; step < steps; step += 1) await Promise.resolve();
        yield call(6);
        for (let step = 0; step < 50; step += 1) await Promise.resolve();
        for (let step = 0; step < 500; step += 1, await Promise.resolve()) open();
      };
      const server = { info: { name: '', title: '', version: '' }, instructions: '', tools: [] };
      await new Connection({ ...server, call: pass }, () => Promise.resolve()).serve(lines());
      expect(seen).toEqual({ active: 0, most: 4, started: 6 });
    }
  });

  it('refuses a second request with the id of one that runs', async () => {
    const { pass, full, open } = gate();
    const { client } = connected(pass);
    await client.initialize();
    const first = client.request('tools/call', { name: 'it' }, 'same');
    await full(1);
    client.raw({ jsonrpc: '2.0', id: 'same', method: 'ping' });
    expect(await client.fault()).toEqual(code(-32600));
    open();
    expect(await first).toMatchObject({ result: { done: true } });
  });

  it('gives a cancelled call up, without an answer', async () => {
    const aborted: string[] = [];
    const { client } = connected(({ signal }) => {
      client.raw({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'it' } });
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted.push('it');
          reject(signal.reason as Error);
        }),
      );
    });
    await client.initialize();
    client.raw({ jsonrpc: '2.0', id: 'it', method: 'tools/call', params: { name: 'it' } });
    while (aborted.length === 0) await client.request('ping');
    await client.request('ping');
    expect(client.received.filter(({ id }) => id === 'it')).toEqual([]);
  });

  it('gives all calls up at the end of the input', async () => {
    const { client, ended, end } = connected(({ signal }) => {
      end();
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    });
    await client.initialize();
    for (let id = 10; id < 20; id += 1)
      client.raw({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'it' } });
    await ended;
    expect(client.received).toHaveLength(1);
  });
});

describe('the phrase of a human', () => {
  const asking = (answers: Confirmation[]) => async (call: Call) => {
    answers.push(await call.confirm('Erase?', 'erase ABC'));
    return {};
  };

  it.each([
    ['the phrase', { action: 'accept', content: { phrase: ' erase ABC ' } }, 'confirmed'],
    ['another phrase', { action: 'accept', content: { phrase: 'erase' } }, 'wrong phrase'],
    ['other letters', { action: 'accept', content: { phrase: 'erase abc' } }, 'wrong phrase'],
    ['no phrase', { action: 'accept', content: {} }, 'wrong phrase'],
    ['no content', { action: 'accept' }, 'wrong phrase'],
    ['the phrase beside a refusal', { action: 'decline', content: { phrase: 'erase ABC' } }, 'declined'],
    ['a closed window', { action: 'cancel' }, 'no answer'],
    ['nothing that is known', { action: 'yes', content: { phrase: 'erase ABC' } }, 'declined'],
  ])('of which the client answers %s', async (_, result, expected) => {
    const answers: Confirmation[] = [];
    const { client } = connected(asking(answers));
    client.onQuestion = () => result;
    await client.initialize(FORMS);
    await client.call('it');
    expect(answers).toEqual([expected]);
  });

  it('is not given by the answer to another question, nor by an error', async () => {
    const answers: Confirmation[] = [];
    const { client } = connected(asking(answers));
    await client.initialize(FORMS);
    const question = new Promise<unknown>((resolve) => {
      client.onQuestion = () => {
        resolve(client.received.at(-1)?.['id']);
        return undefined;
      };
    });
    const called = client.call('it');
    const id = await question;
    const result = { action: 'accept', content: { phrase: 'erase ABC' } };
    client.raw({ jsonrpc: '2.0', id: 'another', result });
    await client.request('ping');
    expect(answers).toEqual([]);
    client.raw({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } });
    await called;
    expect(answers).toEqual(['no answer']);
  });

  it('is not given by nobody in time', async () => {
    const answers: Confirmation[] = [];
    const { client } = connected(asking(answers), 0);
    await client.initialize(FORMS);
    await client.call('it');
    expect(answers).toEqual(['no answer']);
    expect(client.received.map(({ method }) => method)).toContain('notifications/cancelled');
  });

  it('is asked for once at a time', async () => {
    const answers: Confirmation[] = [];
    const { client } = connected(asking(answers));
    client.onQuestion = () => {
      void client.call('it').then(() => {
        const { id } = client.received.find(({ method }) => method === 'elicitation/create') ?? {};
        client.raw({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } });
      });
      return undefined;
    };
    await client.initialize(FORMS);
    await client.call('it');
    expect(answers).toEqual(['busy', 'no answer']);
  });

  it.each([
    ['without the capability', {}, '2025-11-25', false],
    ['that shows addresses alone', { elicitation: { url: {} } }, '2025-11-25', false],
    ['of a version without questions', FORMS, '2024-11-05', false],
    ['with the capability', FORMS, '2025-06-18', true],
    ['that shows forms', { elicitation: { form: {}, url: {} } }, '2025-11-25', true],
  ])('is asked for by a client %s: %#', async (_, capabilities, version, expected) => {
    const seen: boolean[] = [];
    const { client } = connected(({ canAsk }) => {
      seen.push(canAsk);
      return Promise.resolve({});
    });
    await client.initialize(capabilities, version);
    await client.call('it');
    expect(seen).toEqual([expected]);
  });
});
