import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port';
import { MASTER } from './redis-fleets';
import { RedisServer } from './redis-server';

const SLOTS_LAST = 16_383;

/** The file of a certificate and its key; `authority` has issued `right`, which names localhost. */
export const certificate = (name: 'right' | 'authority'): string =>
  join(__dirname, 'certificates', `${name}.pem`);

/** Options with their values: TLS on a port of its own, towards other servers too. */
const withTls = (port: number): [string, string][] => [
  ['tls-port', String(port)],
  ['tls-cert-file', certificate('right')],
  ['tls-key-file', certificate('right')],
  ['tls-ca-cert-file', certificate('authority')],
  ['tls-auth-clients', 'no'],
  ['tls-replication', 'yes'],
  ['tls-cluster', 'yes'],
];

/** One Redis under the name localhost, reached with TLS. The admin of the test reaches it without. */
export class TlsRedis {
  private readonly servers: RedisServer[] = [];

  async server(options: readonly [string, string][] = []): Promise<{ server: RedisServer; port: number }> {
    const [server, port] = [await this.reserved(), await freePort()];
    await server.start(...[...withTls(port), ...options].flatMap(([name, value]) => [`--${name}`, value]));
    return { server, port };
  }

  async urlOfServer(): Promise<string> {
    return `rediss://localhost:${(await this.server()).port}`;
  }

  async urlOfSentinel(): Promise<string> {
    const primary = await this.server();
    const [sentinel, port] = [await this.reserved(), await freePort()];
    const settings = [
      ...withTls(port).map(([name, value]) => `${name} ${value}`),
      ...['resolve', 'announce'].map((what) => `sentinel ${what}-hostnames yes`),
      `sentinel monitor ${MASTER} localhost ${primary.port} 1`,
    ];
    const file = join(sentinel.directory, 'sentinel.conf');
    writeFileSync(file, settings.join('\n'));
    await sentinel.startSentinel(file);
    return `rediss+sentinel://localhost:${port}/${MASTER}`;
  }

  async urlOfCluster(): Promise<string> {
    const { server, port } = await this.server([
      ['cluster-enabled', 'yes'],
      ['cluster-config-file', 'nodes.conf'],
      ['cluster-port', String(await freePort())],
      ['cluster-announce-hostname', 'localhost'],
      ['cluster-preferred-endpoint-type', 'hostname'],
    ]);
    await server.client.call('CLUSTER', 'ADDSLOTSRANGE', 0, SLOTS_LAST);
    return `rediss+cluster://localhost:${port}`;
  }

  /** Of the server that was started first. */
  keys(): Promise<string[]> {
    return this.servers[0]!.client.keys('*');
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.splice(0).map((server) => server.remove()));
  }

  private async reserved(): Promise<RedisServer> {
    const server = await RedisServer.reserve();
    this.servers.push(server);
    return server;
  }
}
