import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { until } from './until';

const READY_MAX_MS = 30_000;
const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** `describe` on machines with these programs. Without them the tests are skipped with a notice; in CI they fail. */
export function describeWithPrograms(programs: readonly string[], name: string, tests: () => void): void {
  const missing = programs.filter((program) => spawnSync(program, ['-v']).error !== undefined);
  if (missing.length === 0 || process.env['CI'] !== undefined) return describe(name, tests);
  process.stderr.write(`The tests of ${name} are skipped: there is no ${missing.join(', no ')}.\n`);
  return describe.skip(name, tests);
}

export interface Proxied {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A proxy of the documentation, as a process that listens on loopback. */
export class Proxy {
  /** What it has said. */
  said = '';

  private constructor(
    readonly port: number,
    private readonly ca: () => Buffer,
    private readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.said += text));
  }

  /** Caddy with docs/operations/Caddyfile, whose certificate is of an authority of its own below `directory`. */
  static async caddy(directory: string, ports: readonly number[], apis: readonly string[]): Promise<Proxy> {
    const [https, http, probe] = ports as readonly [number, number, number];
    const options = `{\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n\thttps_port ${https}\n\thttp_port ${http}`;
    const text = read('docs/operations/Caddyfile').replace(/^\{/m, options).replace(':2020', `:${probe}`);
    const child = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', '-'], {
      env: {
        ...{
          PATH: process.env['PATH'],
          HOME: directory,
          XDG_DATA_HOME: directory,
          XDG_CONFIG_HOME: directory,
        },
        ...{ LETHE_NAME: 'localhost', LETHE_APIS: apis.join(' ') },
      },
    });
    child.stdin.end(text);
    const ca = (): Buffer => readFileSync(join(directory, 'caddy/pki/authorities/local/root.crt'));
    return new Proxy(https, ca, child).ready();
  }

  /** nginx with the configuration of docs/operate.md, and the certificate that Caddy has made below `directory`. */
  static async nginx(directory: string, port: number, api: string): Promise<Proxy> {
    const [, server = ''] = /```nginx\n([^]+?)```/.exec(read('docs/operate.md')) ?? [];
    const certificate = join(directory, 'caddy/certificates/local/localhost/localhost');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${directory}/${name};`,
    );
    const here = server
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('lethe.example.org', 'localhost')
      .replace(/ssl_certificate \S+;/, `ssl_certificate ${certificate}.crt;`)
      .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${certificate}.key;`)
      .replace('127.0.0.1:3000', api);
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const file = join(directory, 'nginx.conf');
    writeFileSync(
      file,
      `${user} daemon off; pid ${directory}/nginx.pid; error_log stderr warn; events {}
       http { access_log off; ${temporary.join(' ')} ${here} }`,
    );
    const child = spawn('nginx', ['-c', file, '-p', directory], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ca = (): Buffer => readFileSync(join(directory, 'caddy/pki/authorities/local/root.crt'));
    return new Proxy(port, ca, child).ready();
  }

  send(path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Proxied> {
    return new Promise((resolve, reject) => {
      const options = {
        host: 'localhost',
        port: this.port,
        path,
        method,
        headers,
        ca: this.ca(),
        agent: false,
      };
      const asked = request(options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      });
      asked.on('error', reject).end(body);
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }

  /** Waits until an answer of Lethe comes through. */
  private async ready(): Promise<this> {
    let fault: unknown;
    const untilMs = Date.now() + READY_MAX_MS;
    await until(async () => {
      if (this.child.exitCode !== null || Date.now() > untilMs)
        throw new Error(`the proxy is not ready: ${String(fault)}\n${this.said}`);
      return this.send('/health/ready').then(
        ({ status }) => status === 200,
        (error: unknown) => {
          fault = error;
          return false;
        },
      );
    });
    return this;
  }
}

/** Where a plain request to a port is sent on to. */
export function redirected(port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const asked = plainRequest({ host: 'localhost', port, path: '/console', agent: false }, (answer) => {
      answer.resume();
      resolve(answer.headers.location);
    });
    asked.on('error', reject).end();
  });
}
