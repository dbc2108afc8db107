import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readiness } from '@app/runtime';
import { Bot } from '../support/bot';
import { freePort } from '../support/free-port';
import { describeWithPrograms, Proxy, redirected } from '../support/proxy';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// The proxies of the documentation in front of the service: the Caddyfile of the compose files, and the nginx of
// docs/operate.md.

const BATCH_BODY_LIMIT_BYTES = 2 ** 20;
const directory = mkdtempSync(join(tmpdir(), 'lethe-proxy-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The settings of the compose files; nothing but the name of the proxy differs. */
const settings = (port: number): Record<string, string> => ({
  ...{ TRUST_PROXY: '1', PUBLIC_URL: `https://localhost:${port}`, ALLOWED_HOSTS: 'localhost' },
  ...{ RATE_LIMIT_ANONYMOUS: '100000' },
});

/** The service as a process starts it: ready when it listens. */
async function begun(service: Service): Promise<Service> {
  await service.start();
  service.app.get(Readiness, { strict: false }).ready = true;
  return service;
}

describeWithPrograms(['caddy', 'nginx'], 'the proxies of the documentation', () => {
  const apis: Service[] = [];
  const proxies: Proxy[] = [];
  let plainPort = 0;

  beforeAll(async () => {
    const ports = await Promise.all(Array.from({ length: 7 }, () => freePort()));
    const [https = 0, http = 0, probe = 0, nginx = 0, ...pair] = ports;
    plainPort = http;
    for (const port of [https, nginx]) apis.push(await begun(new Service(settings(port))));
    const [one = '', two = ''] = apis.map(({ port }) => `127.0.0.1:${port}`);
    proxies.push(await Proxy.caddy(directory, [https, http, probe], [one]));
    proxies.push(await Proxy.nginx(directory, nginx, two));
    proxies.push(await Proxy.caddy(join(directory, 'pair'), pair, [one, two]));
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop();
    for (const api of apis) await api.stop();
  });

  describe.each([
    ['Caddy', 0],
    ['nginx', 1],
  ])('%s', (_, at) => {
    const [proxy, api] = [(): Proxy => proxies[at] as Proxy, (): Service => apis[at] as Service];

    it('is not talked into another address: requests with forged ones share the bucket of their caller', async () => {
      const left = async (forged: Record<string, string>): Promise<number> => {
        const { headers } = await proxy().send('/api/v1/bots/me', { headers: forged });
        return Number(headers['x-ratelimit-remaining']);
      };
      const first = await left({});
      expect(await left({ 'x-forwarded-for': '203.0.113.1' })).toBe(first - 1);
      expect(await left({ forwarded: 'for=203.0.113.2', 'x-real-ip': '203.0.113.2' })).toBe(first - 2);
    });

    it('hides the metrics, which a caller on the machine reads without a token', async () => {
      expect((await proxy().send('/metrics')).status).toBe(404);
      expect((await fetch(`${api().url}/metrics`)).status).toBe(200);
    });

    it('passes on a batch of the largest size', async () => {
      const bot = await Bot.register(api().url);
      const headers = { authorization: `Bearer ${bot.key}`, 'content-type': 'application/json' };
      const items = Array.from({ length: 5 }, () => ({ filler: 'x'.repeat(209_000) }));
      const padded = (spaces: number): string => JSON.stringify({ items }) + ' '.repeat(spaces);
      const body = padded(BATCH_BODY_LIMIT_BYTES - padded(0).length);
      const answer = await proxy().send('/api/v1/data/submit/batch', { method: 'POST', headers, body });
      expect([body.length, answer.status]).toEqual([BATCH_BODY_LIMIT_BYTES, 200]);
    });

    it('gives the console a cookie for HTTPS alone', async () => {
      const bot = await Bot.register(api().url);
      const headers = { 'content-type': 'application/json', 'x-lethe-console': '1' };
      const sent = { method: 'POST', headers, body: JSON.stringify({ key: bot.key }) };
      const answer = await proxy().send('/console/session', sent);
      expect(answer.headers['set-cookie']).toEqual([expect.stringMatching(/; HttpOnly.*; Secure$/)]);
    });

    it('leads to the privacy page by its public address', async () => {
      const bot = await Bot.register(api().url);
      const { data } = await bot.post<{ url: string }>('/privacy-links', subject());
      const { origin, pathname } = new URL(data.url);
      expect(origin).toBe(`https://localhost:${proxy().port}`);
      expect((await proxy().send(pathname)).status).toBe(200);
    });
  });

  it('Caddy sends plain requests on to HTTPS', async () => {
    expect(await redirected(plainPort)).toMatch(/^https:\/\/localhost(:\d+)?\/console$/);
  });

  it('nginx writes no part of a request to a file', () => {
    expect(proxies[1]?.said).not.toContain('temporary file');
  });

  it('Caddy loses no request while one of two apis is away, and asks it again when it is back', async () => {
    const [, , pair] = proxies as [Proxy, Proxy, Proxy];
    const answer = async () => (await pair.send('/.well-known/lethe-keys.json')).text;
    const some = async (): Promise<Set<string>> => {
      const found = new Set<string>();
      for (let at = 0; at < 6; at++) found.add(await answer());
      return found;
    };
    // Each api has keys of its own here.
    expect((await some()).size).toBe(2);
    for (const api of apis) {
      await api.app.close();
      expect((await some()).size).toBe(1);
      await begun(api);
      await until(async () => (await some()).size === 2);
    }
  });
});
