import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { ReplayCache } from './replay-cache';
import { signedCall, type SignedCall } from './testing/signed-call';
import { createWebhookHandler, type WebhookHandler } from './webhook-handler';
import type { WebhookEvent } from './webhook-event';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const next = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const ids = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const event: WebhookEvent = { event: 'consent_revoked', ...ids, revoked_at: '2026-01-01T00:00:00.000Z' };

let signed: SignedCall;
beforeAll(async () => {
  signed = await signedCall({ secret, event });
});

let stop: (() => unknown) | undefined;
afterEach(() => {
  jest.restoreAllMocks();
  return stop?.();
});

async function serve(listener: RequestListener): Promise<string> {
  // An idle connection must not end as the next request is sent on it.
  const server: Server = createServer({ keepAliveTimeout: 0 }, listener);
  stop = () => server.close();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/gdpr`;
}

type Sent = { status: number; text: string };
async function post(url: string, { rawBody, headers } = signed): Promise<Sent> {
  const answer = await fetch(url, { method: 'POST', body: rawBody, headers });
  return { status: answer.status, text: await answer.text() };
}

type Send = (call?: SignedCall) => Promise<Sent>;
const MOUNTED: Readonly<Record<string, (handler: WebhookHandler) => Promise<Send>>> = {
  'node:http': async ({ node }) => {
    const url = await serve((request, response) => void node(request, response));
    return (call) => post(url, call);
  },
  Express: async ({ node }) => {
    const url = await serve(express().post('/gdpr', node));
    return (call) => post(url, call);
  },
  'Express behind express.raw': async ({ node }) => {
    const app = express()
      .use(express.raw({ type: 'application/json' }))
      .post('/gdpr', node);
    const url = await serve(app);
    return (call) => post(url, call);
  },
  'Express 4 behind a parser that leaves the body to others': async ({ node }) => {
    const app = express()
      .use((request, _response, next) => {
        request.body = {};
        next();
      })
      .post('/gdpr', node);
    const url = await serve(app);
    return (call) => post(url, call);
  },
  Fastify: async (handler) => {
    const app = fastify();
    app.register(handler.fastify('/gdpr'));
    app.post('/other', async ({ body }) => ({ body }));
    stop = () => app.close();
    const url = `${await app.listen({ port: 0 })}/gdpr`;
    return (call) => post(url, call);
  },
  Hono: async ({ hono }) => {
    const app = new Hono().post('/gdpr', hono);
    return async ({ rawBody, headers } = signed) => {
      const answer = await app.request('/gdpr', { method: 'POST', body: rawBody, headers });
      return { status: answer.status, text: await answer.text() };
    };
  },
  'Request to Response': async ({ fetch: receive }) => {
    return async ({ rawBody, headers } = signed) => {
      const request = new Request('http://bot.example/gdpr', { method: 'POST', body: rawBody, headers });
      const answer = await receive(request);
      return { status: answer.status, text: await answer.text() };
    };
  },
};

describe.each(Object.entries(MOUNTED))('createWebhookHandler with %s', (_name, mount) => {
  it('acts once upon a genuine call and answers 204', async () => {
    const acted: unknown[] = [];
    const send = await mount(
      createWebhookHandler({ secrets: secret, on: { consent_revoked: (given) => void acted.push(given) } }),
    );
    expect([await send(), await send()]).toEqual([
      { status: 204, text: '' },
      { status: 204, text: '' },
    ]);
    expect(acted).toEqual([event]);
  });

  it('answers 400 for a call that is not genuine, 413 for one that is too large, and does not act', async () => {
    const act = jest.fn();
    const send = await mount(createWebhookHandler({ secrets: secret, on: { consent_revoked: act } }));
    expect((await send({ ...signed, rawBody: `${signed.rawBody} ` })).status).toBe(400);
    expect((await send({ ...signed, rawBody: 'x'.repeat(65_536) })).status).toBe(400);
    expect((await send({ ...signed, rawBody: 'x'.repeat(65_537) })).status).toBe(413);
    expect(act).not.toHaveBeenCalled();
  });

  it('answers 500 when acting failed, and acts again when the call is repeated', async () => {
    const act = jest.fn().mockRejectedValueOnce(new Error('database away')).mockResolvedValue(undefined);
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const send = await mount(
      createWebhookHandler({ secrets: secret, on: { consent_revoked: act }, onError }),
    );
    const failed = await send();
    expect([failed.status, failed.text]).toEqual([500, expect.not.stringContaining('database away')]);
    expect((await send()).status).toBe(204);
    expect([act.mock.calls.length, errors.length]).toEqual([2, 1]);
  });

  it('takes calls signed by the old or the new secret during a rotation', async () => {
    const send = await mount(createWebhookHandler({ secrets: [secret, next], on: {} }));
    for (const call of [{ secret }, { secret: next }, { secret, nextSecret: next }])
      expect((await send(await signedCall({ event, ...call }))).status).toBe(204);
  });
});

describe('createWebhookHandler', () => {
  it('refuses a function for what is no event', () => {
    const on = { user_forgotten: () => undefined, user_forgoten: () => undefined };
    expect(() => createWebhookHandler({ secrets: secret, on })).toThrow(
      'on names user_forgoten, which is no event. Events are: user_forgotten, consent_revoked, data_corrected, holder_task, ping.',
    );
  });

  it('shows a developer whose parser came first what to do', async () => {
    const { node } = createWebhookHandler({ secrets: secret, on: {} });
    const app = express().use(express.json()).post('/gdpr', node);
    const url = await serve(app);
    const { status, text } = await post(url);
    expect([status, text]).toEqual([400, expect.stringContaining('express.raw')]);
    const empty = await post(url, { ...signed, rawBody: '{}' });
    expect(empty.status).toBe(400);
  });

  it('leaves the bodies of other routes of Fastify to its own parser', async () => {
    const app = fastify();
    app.register(createWebhookHandler({ secrets: secret, on: {} }).fastify('/gdpr'));
    app.post('/other', async ({ body }) => ({ body }));
    const answer = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } });
    await app.close();
    expect(answer.json()).toEqual({ body: { a: 1 } });
  });

  it('does not end the process of a receiver that has answered already, or whose log fails', async () => {
    const onError = (): void => {
      throw new Error('the log is full');
    };
    const { node } = createWebhookHandler({ secrets: secret, on: {}, onError });
    let handled: Promise<void> | undefined;
    const url = await serve((request, response) => {
      response.writeHead(503).end();
      handled = node(request, response);
    });
    await post(url, { ...signed, rawBody: 'x' });
    await expect(handled).resolves.toBeUndefined();
  });

  it('acts once upon calls of one id at the same time, with a store that is asked', async () => {
    let acted = 0;
    const kept = new Set<string>();
    const handler = createWebhookHandler({
      secrets: secret,
      on: {
        consent_revoked: async () => {
          acted++;
          await new Promise((resolve) => setImmediate(resolve));
        },
      },
      store: { has: async (id) => kept.has(id), add: async (id) => void kept.add(id) },
    });
    const answers = await Promise.all([1, 2, 3].map(() => handler.handle(signed)));
    expect([acted, answers.map(({ status }) => status), kept.size]).toEqual([1, [204, 204, 204], 1]);
  });

  it('answers 500 while the store is away', async () => {
    const act = jest.fn();
    const has = () => Promise.reject(new Error('away'));
    const handler = createWebhookHandler({
      secrets: secret,
      on: { consent_revoked: act },
      store: { has, add: () => undefined },
    });
    expect((await handler.handle(signed)).status).toBe(500);
    expect(act).not.toHaveBeenCalled();
  });

  it('confirms events without a function, and empties the cache of consents', async () => {
    const lethe = { emptyConsentCache: jest.fn() };
    const handler = createWebhookHandler({ secrets: secret, on: {}, lethe });
    const ping = await signedCall({ secret, event: { event: 'ping', sent_at: '2026-01-01T00:00:00.000Z' } });
    expect((await handler.handle(ping)).status).toBe(204);
    expect(lethe.emptyConsentCache).not.toHaveBeenCalled();
    expect((await handler.handle(signed)).status).toBe(204);
    expect(lethe.emptyConsentCache).toHaveBeenCalledTimes(1);
  });
});

it('acts once on a call whose confirmation was lost, also at the last attempt, 26.4 hours later', async () => {
  let nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  let acts = 0;
  const handler = createWebhookHandler({ secrets: secret, on: { consent_revoked: () => void (acts += 1) } });
  for (const pauseMs of [0, 26.4 * 3_600_000]) {
    nowMs += pauseMs;
    const call = await signedCall({ secret, event, id: 'a-call-sent-again', sentAt: new Date(nowMs) });
    expect(await handler.handle(call)).toMatchObject({ status: 204 });
  }
  expect(acts).toBe(1);
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
