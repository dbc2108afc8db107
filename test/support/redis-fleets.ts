import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port';
import { RedisServer } from './redis-server';
import { LIMIT, LimitedService } from './redis-services';
import { until } from './until';

/** After this time without an answer a primary counts as gone, in milliseconds. */
const GONE_MS = 500;
const SLOTS = 16_384;
const PRIMARIES = 3;
const SENTINELS = 3;
export const MASTER = 'the-master';

/** Servers of which one takes over from another, and the services that use them. All end with the test. */
export abstract class RedisFleet {
  protected servers: RedisServer[] = [];
  private readonly services: LimitedService[] = [];

  abstract readonly url: string;
  abstract start(...options: string[]): Promise<this>;
  /** The primary and the replica of the given key. */
  abstract pairOf(key: string): Promise<{ primary: RedisServer; replica: RedisServer }>;

  /** A started service that uses the fleet. */
  async service(environment: Record<string, string> = {}): Promise<LimitedService> {
    const service = new LimitedService({
      ...{ REDIS_URL: this.url, RATE_LIMIT_ANONYMOUS: String(LIMIT) },
      ...environment,
    });
    this.services.push(service);
    return service.start();
  }

  /** On every server. */
  async each(work: (server: RedisServer) => Promise<unknown>): Promise<void> {
    for (const server of this.servers) await work(server);
  }

  async endServices(): Promise<void> {
    await Promise.all(this.services.splice(0).map((service) => service.stop()));
  }

  async end(): Promise<void> {
    // Services first: they have to end while their Redis is away.
    await this.endServices();
    await Promise.all(this.servers.splice(0).map((server) => server.remove()));
  }
}

const infoOf = async (server: RedisServer, field: string): Promise<string> =>
  new RegExp(`^${field}:(.*?)\r$`, 'm').exec(await server.client.info('replication'))?.[1] ?? '';
const follows = async (replica: RedisServer): Promise<boolean> =>
  (await infoOf(replica, 'master_link_status')) === 'up';

/** Three primaries with a replica each. */
export class RedisCluster extends RedisFleet {
  get url(): string {
    return `redis+cluster://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  async start(...options: string[]): Promise<this> {
    const nodes = await Promise.all(Array.from({ length: 2 * PRIMARIES }, () => node(options)));
    this.servers = nodes.map(({ server }) => server);
    for (const [n, { client }] of this.servers.entries()) {
      await client.cluster('SET-CONFIG-EPOCH', n + 1);
      // Each meets each: that is faster than what they tell each other.
      for (const { server, bus } of nodes.slice(0, n))
        await client.call('CLUSTER', 'MEET', '127.0.0.1', server.port, bus);
    }
    const bound = (part: number): number => Math.floor((SLOTS * part) / PRIMARIES);
    for (const [n, { client }] of this.primaries.entries())
      await client.call('CLUSTER', 'ADDSLOTSRANGE', bound(n), bound(n + 1) - 1);
    await this.each(({ client }) => until(async () => knowsAll(await client.cluster('INFO'))));
    for (const [n, { client }] of this.primaries.entries())
      await this.servers[PRIMARIES + n]?.client.cluster('REPLICATE', String(await client.cluster('MYID')));
    for (const replica of this.servers.slice(PRIMARIES)) await until(() => follows(replica));
    await this.each(({ client }) => until(async () => hasPairs(await client.cluster('SLOTS'))));
    return this;
  }

  async pairOf(key: string): Promise<{ primary: RedisServer; replica: RedisServer }> {
    const slot = await this.servers[0]!.client.cluster('KEYSLOT', key);
    const n = Math.floor(((slot + 1) * PRIMARIES - 1) / SLOTS);
    return { primary: this.servers[n]!, replica: this.servers[PRIMARIES + n]! };
  }

  get primaries(): readonly RedisServer[] {
    return this.servers.slice(0, PRIMARIES);
  }
}

/** A node on two free ports. */
async function node(options: readonly string[]): Promise<{ server: RedisServer; bus: number }> {
  const [server, bus] = [await RedisServer.reserve(), await freePort()];
  const settings = Object.entries({
    enabled: 'yes',
    'config-file': 'nodes.conf',
    port: String(bus),
    'node-timeout': String(GONE_MS),
  });
  const cluster = settings.flatMap(([name, value]) => [`--cluster-${name}`, value]);
  await server.start(...cluster, '--repl-diskless-sync-delay', '0', ...options);
  return { server, bus };
}

const knowsAll = (info: unknown): boolean =>
  /cluster_state:ok/.test(String(info)) && String(info).includes(`cluster_known_nodes:${2 * PRIMARIES}`);

const hasPairs = (slots: unknown): boolean =>
  Array.isArray(slots) && slots.length === PRIMARIES && slots.every((range: unknown[]) => range.length === 4);

/** A primary with a replica, and three sentinels. */
export class RedisSentinels extends RedisFleet {
  private sentinels: readonly RedisServer[] = [];

  get url(): string {
    return `redis+sentinel://${this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER}`;
  }

  async start(...options: string[]): Promise<this> {
    const [primary, replica] = [await RedisServer.started(...options), await RedisServer.reserve()];
    this.servers.push(primary, replica);
    const following = ['--replicaof', `127.0.0.1 ${primary.port}`, '--repl-diskless-sync-delay', '0'];
    await replica.start(...following, ...options);
    await until(() => follows(replica));
    this.sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => RedisServer.reserve()));
    this.servers.push(...this.sentinels);
    for (const sentinel of this.sentinels) {
      const others = this.sentinels.filter((other) => other !== sentinel);
      const settings = [
        `sentinel myid ${idOf(sentinel)}`,
        `sentinel monitor ${MASTER} 127.0.0.1 ${primary.port} 2`,
        `sentinel down-after-milliseconds ${MASTER} ${GONE_MS}`,
        `sentinel failover-timeout ${MASTER} 2000`,
        `sentinel known-replica ${MASTER} 127.0.0.1 ${replica.port}`,
        ...others.map((other) => `sentinel known-sentinel ${MASTER} 127.0.0.1 ${other.port} ${idOf(other)}`),
      ];
      const file = join(sentinel.directory, 'sentinel.conf');
      writeFileSync(file, settings.join('\n'));
      await sentinel.startSentinel(file);
    }
    for (const sentinel of this.sentinels) await until(() => this.canVote(sentinel));
    return this;
  }

  async pairOf(): Promise<{ primary: RedisServer; replica: RedisServer }> {
    return { primary: this.servers[0]!, replica: this.servers[1]! };
  }

  /** The sentinel that is asked first. */
  get firstAsked(): RedisServer {
    return this.sentinels[0]!;
  }

  private async canVote(sentinel: RedisServer): Promise<boolean> {
    const said = String(await sentinel.client.call('SENTINEL', 'CKQUORUM', MASTER).catch(() => ''));
    const replicas = String(await sentinel.client.call('SENTINEL', 'REPLICAS', MASTER));
    return said.startsWith(`OK ${SENTINELS} `) && replicas.includes('master-link-status,ok');
  }
}

const idOf = ({ port }: RedisServer): string => String(port).padStart(40, '0');
