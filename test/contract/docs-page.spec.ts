import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SwaggerModule } from '@nestjs/swagger';
import { Turns } from '@app/kernel';
import { guidePages } from '../../apps/api/src/guides';
import { openApiDocument } from '../../apps/api/src/openapi';
import { type Documented, referencePage } from '../../apps/api/src/reference';
import manifest from '../../package.json';
import { requestText, rawRequest } from '../support/raw-socket';
import { Service, useServiceInProcess } from '../support/service';
import { stopWindows } from '../support/time';

const service = useServiceInProcess();
const textOf = async (path: string): Promise<string> => (await fetch(service.url + path)).text();
const idsIn = (html: string): string[] => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '');
const hrefsIn = (html: string): string[] =>
  [...html.matchAll(/<a href="([^"]+)"/g)].map(([, address]) => address ?? '');
afterEach(() => jest.restoreAllMocks());

describe('GET /docs', () => {
  it('serves a page whose every part comes from this service', async () => {
    const page = await fetch(`${service.url}/docs`);
    const html = await page.text();
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const parts = [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(
      ([, address]) => address ?? '',
    );
    expect(parts).toEqual(['docs/page.css', 'docs/reference.js']);
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

  it('shows the version of this software, and every operation and shape of the document', async () => {
    const html = await textOf('/docs');
    expect(html.match(/Version [^<]*/g)).toEqual([`Version ${manifest.version}`]);
    const document = JSON.parse(await textOf('/docs-json')) as {
      paths: Record<string, Record<string, { operationId: string }>>;
      components: { schemas: Record<string, object> };
    };
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    const shapes = Object.keys(document.components.schemas).map((name) => `shape-${name}`);
    const ids = idsIn(html);
    expect([...operations, ...shapes, 'onUserForgotten'].filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(hrefsIn(html).filter((href) => href.startsWith('#') && !ids.includes(href.slice(1)))).toEqual([]);
  });

  it('is made in turns of the event loop: no turn describes more than one module, operation or shape', async () => {
    const turns = new Turns();
    let [taken, inTurn, mostInTurn] = [0, 0, 0];
    const next = turns.next.bind(turns);
    jest.spyOn(turns, 'next').mockImplementation(async () => {
      await next();
      taken++;
      inTurn = 0;
    });
    const create = SwaggerModule.createDocument.bind(SwaggerModule);
    const parts = jest.spyOn(SwaggerModule, 'createDocument').mockImplementation((...given) => {
      mostInTurn = Math.max(mostInTurn, ++inTurn);
      return create(...given);
    });
    const document = (await openApiDocument(service.app, turns)) as unknown as Documented;
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item)).length;
    expect(mostInTurn).toBe(1);
    expect(parts.mock.calls.length).toBeGreaterThan(10);
    taken = 0;
    const { body } = await referencePage(document, {}, turns);
    const entries = body.toString().match(/<details><summary><(b|code)>/g) ?? [];
    expect(entries.length).toBeGreaterThan(operations);
    expect(taken).toBeGreaterThanOrEqual(entries.length);
  });

  it('is made once, however many wait for it', async () => {
    const create = jest.spyOn(SwaggerModule, 'createDocument');
    const own = await new Service().start();
    const pages = await Promise.all(
      Array.from({ length: 5 }, async () => (await fetch(`${own.url}/docs`)).text()),
    );
    expect(new Set(pages).size).toBe(1);
    const parts = create.mock.calls.map(([, , options]) => options?.include?.[0]);
    expect(new Set(parts).size).toBe(parts.length);
    await own.stop();
  });

  it('carries a request id, as every answer does', async () => {
    const { headers } = await fetch(`${service.url}/docs`, { headers: { 'x-request-id': 'mine' } });
    expect(headers.get('x-request-id')).toBe('mine');
  });

  it('is found with a trailing slash too', async () => {
    expect((await fetch(`${service.url}/docs/`)).url).toBe(`${service.url}/docs`);
  });

  it.each([
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/index.html',
    '/docs/guides/../../package.json',
    '/docs/guides/README',
    '/docs/guides/decisions/README',
  ])('answers 404 for %s', async (path) => {
    expect((await rawRequest(service.port, requestText(`GET ${path}`))).status).toBe(404);
  });

  it('answers 404 for a POST', async () => {
    expect((await service.anonymous.send('POST', '/docs')).status).toBe(404);
  });

  it.each(['/docs', '/docs-json', '/docs/reference.js', '/docs/guides/'])(
    'is counted, without the headers that say so: %s',
    async (path) => {
      stopWindows(service);
      const left = async () => Number((await service.anonymous.get('/')).header('x-ratelimit-remaining'));
      const before = await left();
      const { headers, body } = await fetch(`${service.url}${path}`);
      await body?.cancel();
      expect([...headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toStrictEqual([]);
      expect(await left()).toBe(before - 2);
    },
  );
});

describe('GET /docs/guides/', () => {
  const INDEX = '/docs/guides/';
  const GUIDES = ['', 'de/']
    .flatMap((folder) => readdirSync(join(__dirname, '../../docs', folder)).map((name) => `${folder}${name}`))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => `${INDEX}${name.slice(0, -3)}`);

  it('leads to every guide of docs, and each of their links to a page and a heading that are there', async () => {
    const pages = new Map<string, string>();
    for (const path of [INDEX, ...GUIDES, '/docs', '/']) {
      const answer = await fetch(service.url + path, { headers: { accept: 'text/html' } });
      pages.set(path, await answer.text());
    }
    const links = [...pages].flatMap(([path, html]) =>
      hrefsIn(html)
        .filter((href) => !href.startsWith('https://'))
        .map((href) => new URL(href, service.url + path)),
    );
    const broken = links.filter(({ pathname, hash }) => {
      const html = pages.get(pathname);
      if (html === undefined) return pathname.startsWith(INDEX) || pathname.endsWith('.md');
      return hash !== '' && !idsIn(html).includes(decodeURIComponent(hash.slice(1)));
    });
    expect(broken.map(({ href }) => href)).toEqual([]);
    const [index = [], front = []] = [INDEX, '/'].map((path) => hrefsIn(pages.get(path) ?? ''));
    expect(GUIDES.filter((path) => !index.includes(path.slice(INDEX.length)))).toEqual([]);
    expect(front).toContain('docs/guides/');
    expect(hrefsIn(pages.get('/docs') ?? '')).toContain('docs/guides/');
    expect(pages.get(INDEX)).not.toMatch(/<li>(?!<a )/);
    for (const [path, html] of pages)
      expect([path, html.includes('<html lang="de">')]).toEqual([path, path.includes('/de/')]);
    for (const [path, html] of pages)
      expect([path, /<(script|img)(?! src="docs)/.test(html)]).toEqual([path, false]);
  });

  it('needs no key, is found without its last slash, and is not sent again to a reader who has it', async () => {
    const answer = await fetch(`${service.url}/docs/guides`);
    expect([answer.url, answer.status]).toEqual([`${service.url}${INDEX}`, 200]);
    const known = `If-None-Match: ${answer.headers.get('etag')}`;
    expect((await rawRequest(service.port, requestText(`GET ${INDEX}`, [known]))).status).toBe(304);
  });

  it('is not there, nor linked, where an installation has no guides', () => {
    const empty = mkdtempSync(join(tmpdir(), 'lethe-home-'));
    expect(guidePages(empty).size).toBe(0);
    rmSync(empty, { recursive: true });
  });
});

describe('GET /llms.txt', () => {
  const linksIn = (text: string): string[] =>
    [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path ?? '');

  it('lists every guide with a sentence as plain text without a key, by paths that are there', async () => {
    const answer = await fetch(`${service.url}/llms.txt`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const text = await answer.text();
    expect(text.startsWith('# Lethe\n\n> ')).toBe(true);
    for (const path of linksIn(text)) {
      const { status, body } = await fetch(`${service.url}/${path}`);
      await body?.cancel();
      expect([path, status]).toEqual([path, 200]);
    }
    const guides = readdirSync(join(__dirname, '../../docs')).filter((name) =>
      /^(?!README).*\.md$/.test(name),
    );
    expect(guides.filter((name) => !linksIn(text).includes(`docs/guides/${name.slice(0, -3)}`))).toEqual([]);
    expect(
      text.split('\n').filter((line) => /^- /.test(line) && !/^- \[\S.*\]\(\S+\): .+\.$/.test(line)),
    ).toEqual([]);
  });

  it('in the repository leads to files that are there', () => {
    const root = join(__dirname, '../..');
    const links = linksIn(readFileSync(join(root, 'llms.txt'), 'utf8'));
    expect(links.length).toBeGreaterThan(25);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
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
