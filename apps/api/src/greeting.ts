import type { AddressInfo } from 'node:net';
import { databaseEngine } from '@app/database';
import type { Config } from '@app/kernel';
import { isWildcard, reachableUrl } from '@app/runtime';

/** The greeting of a running service for the operator. */
export function greeting(config: Config, { port }: AddressInfo): string {
  const base = reachableUrl(config.host, port);
  const tiers = [...config.tiers].map(([name, limit]) => `${name} ${limit}`).join(', ');
  return [
    `Lethe listens on ${base}${isWildcard(config.host) ? ' and on every other address of this machine' : ''}`,
    `  documentation  ${base}/docs`,
    `  database       ${databaseEngine(config).place}`,
    `  webhooks, jobs ${config.jobs === 'on' ? 'by this process' : 'left to workers (JOBS=off)'}`,
    `  limiter        ${counter(config)}; requests per minute: ${tiers}, without a key ${config.anonymousLimit}; bots:tier moves a bot to another tier`,
    '',
  ].join('\n');
}

function counter({ redisUrl }: Config): string {
  return redisUrl === undefined ? 'in the memory of this process' : `in Redis, ${new URL(redisUrl).host}`;
}
