import type { RedisPlace } from '@app/kernel';
import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** The time limit of a command, in milliseconds. After it Redis counts as unavailable. */
export const COMMAND_MS = 50;
/**
 * The time limit of a new connection, TLS and name resolution included, in milliseconds. The start of the service waits
 * for one attempt.
 */
export const CONNECT_MS = 1000;
/** The time limit of one sentinel or node that is asked for the others: two that hang leave time for a third. */
const ASKED_MS = 300;
const KEEP_ALIVE_MS = 30_000;
/** Pause before a command is sent again that a cluster could not place, in milliseconds. */
const PLACED_AGAIN_MS = 10;

export type RedisClient = Redis | Cluster;

/** The client queues nothing, repeats nothing and does not reconnect: RedisLink decides when Redis is used. */
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: null,
  // The probe replaces this check. It writes, so it fails on a replica and on a full or loading Redis.
  enableReadyCheck: false,
  disableClientInfo: true,
  connectTimeout: CONNECT_MS,
  // A Redis that hangs never closes its side.
  disconnectTimeout: 0,
  keepAlive: KEEP_ALIVE_MS,
};

/** A client that is not connected yet. Each attempt begins with another sentinel, so that one without an answer delays one. */
export function redisClient(place: RedisPlace, attempt: number): RedisClient {
  const { kind, hosts, database: db } = place;
  const options = { ...OPTIONS, ...credentials(place) };
  if (kind === 'cluster') return cluster(place, options);
  if (kind === 'server') return new Redis({ ...options, ...hosts[0], db });
  const first = attempt % hosts.length;
  return new Redis({
    ...options,
    db,
    name: place.master,
    sentinels: [...hosts.slice(first), ...hosts.slice(0, first)],
    sentinelUsername: place.sentinelUsername,
    sentinelPassword: place.sentinelPassword,
    sentinelRetryStrategy: () => null,
    // Each client asks once.
    updateSentinels: false,
    sentinelCommandTimeout: ASKED_MS,
    ...(place.tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  });
}

function credentials({ username, password, tls }: RedisPlace): RedisOptions {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  };
}

function cluster({ hosts }: RedisPlace, redisOptions: RedisOptions): Cluster {
  return new Cluster([...hosts], {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: () => null,
    slotsRefreshTimeout: ASKED_MS,
    retryDelayOnFailover: PLACED_AGAIN_MS,
    retryDelayOnClusterDown: PLACED_AGAIN_MS,
    retryDelayOnTryAgain: PLACED_AGAIN_MS,
    // A certificate names hosts, so names stay names.
    dnsLookup: (host, answer) => answer(null, host),
    redisOptions,
  });
}
