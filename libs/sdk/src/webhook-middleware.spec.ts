import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ReplayCache } from './replay-cache';
import { signTestWebhook } from './sign-test-webhook';
import { type VerifiedWebhook } from './webhook-event';
import { webhookMiddleware } from './webhook-middleware';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const signed = signTestWebhook({
  secret,
  event: { event: 'ping', sent_at: '2026-01-01T00:00:00.000Z' },
});

let server: Server | undefined;
afterEach(() => new Promise((resolve) => server?.close(resolve)));

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function post(url: string, { rawBody, headers } = signed): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, { method: 'POST', body: rawBody, headers });
  return { status: answer.status, text: await answer.text() };
}

describe('webhookMiddleware', () => {
  it.each([
    [
      'node:http',
      (handle: ReturnType<typeof webhookMiddleware>) => (request, response) => void handle(request, response),
    ],
    ['Express', (handle) => express().post('/', handle) as unknown as RequestListener],
    [
      'Express behind express.raw',
      (handle) =>
        express()
          .use(express.raw({ type: 'application/json' }))
          .post('/', handle) as unknown as RequestListener,
    ],
  ] as [string, (handle: ReturnType<typeof webhookMiddleware>) => RequestListener][])(
    'acts once upon a genuine call and answers 204 (%s)',
    async (_name, mount) => {
      const acted: VerifiedWebhook[] = [];
      const url = await serve(
        mount(webhookMiddleware({ secrets: secret, onEvent: (webhook) => void acted.push(webhook) })),
      );
      expect((await post(url)).status).toBe(204);
      expect((await post(url)).status).toBe(204);
      expect(acted.map(({ event }) => event.event)).toEqual(['ping']);
    },
  );

  it('tells a developer whose parser came first what to do', async () => {
    const handle = webhookMiddleware({ secrets: secret, onEvent: () => undefined });
    const url = await serve(express().use(express.json()).post('/', handle));
    const { status, text } = await post(url);
    expect([status, text]).toEqual([400, expect.stringContaining('express.raw')]);
  });

  it('answers 400 for a call that is not genuine and does not act', async () => {
    const onEvent = jest.fn();
    const handle = webhookMiddleware({ secrets: secret, onEvent });
    const url = await serve((request, response) => void handle(request, response));
    expect((await post(url, { ...signed, rawBody: `${signed.rawBody} ` })).status).toBe(400);
    expect((await post(url, { ...signed, rawBody: 'x'.repeat(70_000) })).status).toBe(400);
    expect(onEvent).not.toHaveBeenCalled();
  });

  it('answers 500 when acting failed, and acts again when the call is repeated', async () => {
    const onEvent = jest.fn().mockRejectedValueOnce(new Error('database away')).mockResolvedValue(undefined);
    const errors: unknown[] = [];
    const handle = webhookMiddleware({ secrets: secret, onEvent, onError: (error) => errors.push(error) });
    const url = await serve((request, response) => void handle(request, response));
    const failed = await post(url);
    expect([failed.status, failed.text]).toEqual([500, expect.not.stringContaining('database away')]);
    expect((await post(url)).status).toBe(204);
    expect([onEvent.mock.calls.length, errors.length]).toEqual([2, 1]);
  });

  it('does not end the process of a receiver that has answered already', async () => {
    const handle = webhookMiddleware({ secrets: secret, onEvent: () => undefined });
    let handled: Promise<void> | undefined;
    const url = await serve((request, response) => {
      response.writeHead(503).end();
      handled = handle(request, response);
    });
    await post(url);
    await expect(handled).resolves.toBeUndefined();
  });

  it('acts once upon two calls of one id at the same time', async () => {
    let acted = 0;
    const handle = webhookMiddleware({
      secrets: secret,
      onEvent: async () => {
        acted++;
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    const url = await serve((request, response) => void handle(request, response));
    const answers = await Promise.all([post(url), post(url), post(url)]);
    expect([acted, answers.map(({ status }) => status)]).toEqual([1, [204, 204, 204]]);
  });
});

describe('ReplayCache', () => {
  it('forgets ids after their time, and the oldest when there are too many', () => {
    let nowMs = 0;
    const cache = new ReplayCache({ seconds: 10, now: () => nowMs });
    cache.add('a');
    expect(cache.has('a')).toBe(true);
    nowMs = 10_000;
    expect(cache.has('a')).toBe(false);
    for (let i = 0; i < 100_001; i++) cache.add(String(i));
    expect([cache.has('0'), cache.has('1'), cache.has('100000')]).toEqual([false, true, true]);
  });
});
