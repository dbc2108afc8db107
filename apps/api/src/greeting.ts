import type { AddressInfo } from 'node:net';
import type { Config } from '@app/common';
import { databaseEngine, StartError } from '@app/database';

/** What the operator reads when the service is up. */
export function greeting(config: Config, { port }: AddressInfo): string {
  const base = `http://${reachable(config.host)}:${port}`;
  const tiers = [...config.tiers].map(([name, limit]) => `${name} ${limit}`).join(', ');
  return [
    `Lethe listens on ${base}${isWildcard(config.host) ? ' and on every other address of this machine' : ''}`,
    `  documentation  ${base}/docs`,
    `  database       ${databaseEngine(config).place}`,
    `  limiter        ${counter(config)}; requests per minute: ${tiers}, without a key ${config.anonymousLimit}`,
    '',
  ].join('\n');
}

function counter({ redisUrl }: Config): string {
  return redisUrl === undefined ? 'in the memory of this process' : `in Redis, ${new URL(redisUrl).host}`;
}

/** Why the port cannot be had, in words that say how to mend it. */
export function listenFault(error: unknown, { host, port }: Config): unknown {
  const noAddress = `HOST names ${host}, which is no address of this machine.`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} of ${host} is in use. Stop what listens there, or choose another port with PORT.`,
    EACCES: `Port ${port} may not be used by this user. Choose one above 1023 with PORT.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
    EAI_AGAIN: noAddress,
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  return reason === undefined ? error : new StartError(reason);
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function reachable(host: string): string {
  if (isWildcard(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
