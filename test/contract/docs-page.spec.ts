import { requestText, rawRequest } from '../support/raw-socket';
import { useServiceInProcess } from '../support/service';
import { stopWindows } from '../support/time';

const service = useServiceInProcess();
afterEach(() => jest.restoreAllMocks());

describe('GET /docs', () => {
  it('serves a page whose every part comes from this service', async () => {
    const page = await fetch(`${service.url}/docs`);
    const html = await page.text();
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html).not.toMatch(/https?:|\/\//);
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(parts).toHaveLength(6);
    for (const part of parts) {
      const { status, headers, body } = await fetch(new URL(part, page.url));
      await body?.cancel();
      expect([part, status, headers.get('x-content-type-options')]).toEqual([part, 200, 'nosniff']);
    }
  });

  it('lets the page load and call nothing but this service, and run no inline script', async () => {
    const policy = (await fetch(`${service.url}/docs`)).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('fits a phone and follows the theme that its reader prefers', async () => {
    expect(await (await fetch(`${service.url}/docs`)).text()).toContain(
      '<meta name="viewport" content="width=device-width, initial-scale=1" />',
    );
    const start = await (await fetch(`${service.url}/docs/start.js`)).text();
    expect(start).toContain("matchMedia('(prefers-color-scheme: dark)')");
    expect(start).toContain('persistAuthorization: true');
    expect(start).toContain('filter: true');
  });

  it('asks no foreign service whether the document is valid', async () => {
    expect(await (await fetch(`${service.url}/docs/start.js`)).text()).toContain('validatorUrl: null');
  });

  it('carries a request id, as every answer does', async () => {
    const { headers } = await fetch(`${service.url}/docs`, { headers: { 'x-request-id': 'mine' } });
    expect(headers.get('x-request-id')).toBe('mine');
  });

  it('is found with a trailing slash too', async () => {
    expect((await fetch(`${service.url}/docs/`)).url).toBe(`${service.url}/docs`);
  });

  it.each(['/docs/package.json', '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/index.html'])(
    'answers 404 for %s',
    async (path) => {
      expect((await rawRequest(service.port, requestText(`GET ${path}`))).status).toBe(404);
    },
  );

  it('answers 404 for a POST', async () => {
    expect((await service.anonymous.send('POST', '/docs')).status).toBe(404);
  });

  it.each(['/docs', '/docs-json', '/docs/swagger-ui-bundle.js'])('is counted: %s', async (path) => {
    stopWindows(service);
    const left = async (): Promise<number> => {
      const { headers, body } = await fetch(`${service.url}${path}`);
      await body?.cancel();
      return Number(headers.get('x-ratelimit-remaining'));
    };
    const before = await left();
    expect(before).toBeGreaterThan(0);
    expect(await left()).toBe(before - 1);
  });
});

describe('GET /', () => {
  const get = (accept: string) => fetch(service.url, { headers: { accept }, redirect: 'manual' });

  it.each(['*/*', 'application/json', 'application/json, text/html'])(
    'is an unknown path that names the page to a caller who accepts %s',
    async (accept) => {
      const answer = await get(accept);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        {
          success: false,
          error: { code: 'not_found', message: expect.stringContaining('/docs') as unknown },
        },
      ]);
    },
  );
});

describe('GET /health', () => {
  it('is live, not ready before the start is complete, and not limited', async () => {
    const live = await fetch(`${service.url}/health/live`);
    expect([live.status, live.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
  });
});

describe('a path beside the documentation and the probes', () => {
  it.each(['/docs/index.html', '/health/x', '/docs-json/x'])(
    'is counted like every unknown one: %s',
    async (path) => {
      const { status, headers } = await fetch(`${service.url}${path}`);
      expect([status, headers.get('x-ratelimit-limit')]).toEqual([404, '1000000']);
    },
  );
});
