import type { Server } from 'node:http';
import { PrometheusMetrics, readConfig } from '@app/kernel';
import { Health } from '@app/runtime';
import { Logger } from '@nestjs/common';
import { HealthServer } from '../../apps/worker/src/health.server';
import { PATIENT_SERVER } from '../support/patient';
import { rawRequest } from '../support/raw-socket';
import { useServiceInProcess } from '../support/service';

const service = useServiceInProcess({ ALLOWED_HOSTS: 'gdpr.example, [2001:db8::1]' });

const open = useServiceInProcess({ HOST: '0.0.0.0' });

const get = (path: string, host: string, port = service.port) =>
  rawRequest(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

describe('a service that listens on loopback', () => {
  it.each([
    'localhost',
    'LocalHost:3000',
    '127.0.0.1:80',
    '[::1]',
    '[::1]:3000',
    'gdpr.example',
    'GDPR.example:443',
  ])('answers to %s', async (host) => {
    expect((await get('/api/v1/servers', host)).status).toBe(401);
    expect((await get('/health/live', host)).status).toBe(200);
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    'evil.example:3000',
    '127.0.0.1.evil.example',
    '[::2]',
    '',
    'a:b:c',
  ])('answers 421 misdirected_request to %s, whatever the path is', async (host) => {
    for (const path of ['/metrics', '/docs-json', '/health/live', '/api/v1/servers', '/nothing']) {
      const { status, head, body } = await get(path, host);
      expect([status, JSON.parse(body)]).toMatchObject([421, { error: { code: 'misdirected_request' } }]);
      expect(head).toMatch(/X-RateLimit-Remaining: \d+/);
    }
  });
});

it.each(['/metrics', '/docs-json', '/health/live', '/api/v1/servers', '/nothing'])(
  'two Host lines are answered 400 at %s, also where every name is served',
  async (path) => {
    const lines = 'Host: localhost\r\nhOST: localhost\r\nConnection: close\r\n\r\n';
    for (const { port } of [service, open]) {
      const { status, body } = await rawRequest(port, `GET ${path} HTTP/1.1\r\n${lines}`);
      expect([status, JSON.parse(body)]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
    }
  },
);

describe('a service that listens on every address', () => {
  it('answers to every name', async () => {
    const request = 'GET /health/live HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n';
    expect((await rawRequest(open.port, request)).status).toBe(200);
  });
});

describe('a worker that listens on loopback', () => {
  let worker: HealthServer;
  let port: number;
  beforeAll(async () => {
    const of = <T>(token: new (...given: never[]) => T): T => service.app.get<T>(token, { strict: false });
    const config = readConfig({ NODE_ENV: 'test', WORKER_PORT: '0', ALLOWED_HOSTS: 'probe.example' });
    worker = new HealthServer(of(Health), of(PrometheusMetrics), config);
    port = await worker.listen();
    Object.assign(Reflect.get(worker, 'server') as Server, PATIENT_SERVER);
  });
  afterAll(() => worker.onApplicationShutdown());

  it('answers to loopback names and ALLOWED_HOSTS, and 421 to every other name', async () => {
    for (const path of ['/health/live', '/metrics']) {
      for (const host of ['localhost', '127.0.0.1:80', 'probe.example'])
        expect((await get(path, host, port)).status).toBe(200);
      const { status, body } = await get(path, 'evil.example', port);
      expect([status, JSON.parse(body)]).toMatchObject([421, { error: { code: 'misdirected_request' } }]);
    }
  });

  it('answers a probe with a query as one without', async () => {
    const statusOf = async (path: string): Promise<number> => (await get(path, 'localhost', port)).status;
    for (const path of ['/health/live', '/health/ready', '/health/lively'])
      expect(await statusOf(`${path}?x=1`)).toBe(await statusOf(path));
    expect(await statusOf('/health/lively?x=1')).toBe(404);
  });

  it('goes on after connections that could not be accepted', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const server = Reflect.get(worker, 'server') as Server;
    for (let times = 0; times < 2; times++)
      server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
    expect((await get('/health/live', 'localhost', port)).status).toBe(200);
  });
});
