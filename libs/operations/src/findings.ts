import type { KeyUse } from '@app/crypto';
import {
  adminCommand,
  type Config,
  lacksPublicUrl,
  many,
  masterKeySetting,
  requiresHttps,
} from '@app/kernel';
import { backupFindings } from './findings.backup';
import type { Circumstances, Finding, Installation, Look } from './installation';

/** All findings, faults first. */
export function findingsOf(circumstances: Circumstances): Finding[] {
  const { installation, masterKeys = [], nowMs } = circumstances;
  const found = [
    ...backupFindings(circumstances),
    ...exposureFindings(circumstances),
    ...(installation === undefined ? [] : clockAndKeys(installation, masterKeys, circumstances)),
    ...(installation === undefined ? [] : backlog(installation, nowMs)),
  ].filter((look): look is Finding => typeof look === 'object');
  return found.sort((one, other) => Number(one.level === 'warning') - Number(other.level === 'warning'));
}

/** The end of life of each release line of Node.js. Odd lines end before the next even one. */
export const NODE_END_OF_LIFE: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;

function exposureFindings({ config, node, nowMs }: Circumstances): readonly Look[] {
  const end = NODE_END_OF_LIFE[Number(node.split('.')[0])];
  const isOld = end === undefined || nowMs > Date.parse(end);
  // Others than this machine reach the service by its address, or by a proxy.
  const isPublic = !LOOPBACK.test(config.host) || config.trustProxy > 0;
  return [
    isOld && {
      id: 'node_old',
      level: 'warning',
      says: `Node.js ${node} ${end === undefined ? 'has no long-term support' : `had its end of life on ${end}`}.`,
      mend: 'Install the newest release with long-term support.',
    },
    ...(isPublic ? publicFindings(config) : []),
    config.nodeEnv !== 'production' && {
      id: 'development',
      level: 'warning',
      says: `NODE_ENV is ${config.nodeEnv}: unless other settings refuse it, webhooks may be sent over http:, and to loopback addresses where only this machine reaches the service.`,
      mend: 'After a local try set NODE_ENV=production, restart, and run doctor again: some looks are only for production.',
    },
    lacksPublicUrl(config) && {
      id: 'public_url_missing',
      level: 'warning',
      says: 'PUBLIC_URL is not set: links to privacy pages lead to this machine, and forms of pages under another address are refused.',
      mend: 'Set PUBLIC_URL to the address at which users reach the proxy, for example https://gdpr.example.org.',
    },
  ];
}

/** What is open to callers on the network. */
function publicFindings(config: Config): readonly Look[] {
  return [
    config.trustProxy === 0 && {
      id: 'no_https',
      level: 'warning',
      says: `HOST=${config.host} answers other machines without HTTPS, and no proxy is named.`,
      mend: 'Put a proxy with HTTPS in front and set TRUST_PROXY to the number of proxies; or set HOST=127.0.0.1.',
    },
    !requiresHttps(config) && {
      id: 'webhooks_http',
      level: 'warning',
      says: 'Webhooks may be sent over http, where others can read them.',
      mend: 'Set NODE_ENV=production, or WEBHOOK_REQUIRE_HTTPS=true.',
    },
    config.registration === 'open' && {
      id: 'registration_open',
      level: 'fault',
      says: 'Everybody who reaches the service can register bots.',
      mend: 'Set REGISTRATION=token with REGISTRATION_TOKEN, or REGISTRATION=off after your bots are registered.',
    },
    config.metricsToken === '' && {
      id: 'metrics_token_missing',
      level: 'warning',
      says: 'METRICS_TOKEN is not set on a public address.',
      mend: 'Set METRICS_TOKEN, and give it to Prometheus.',
    },
  ];
}

const MINUTE_MS = 60_000;

function clockAndKeys(
  { logs }: Installation,
  masterKeys: readonly KeyUse[],
  circumstances: Circumstances,
): readonly Look[] {
  const { config, keyFile, nowMs } = circumstances;
  const place = keyFile === undefined ? masterKeySetting(config) : `the key file ${keyFile.path}`;
  const missing = masterKeys.filter(({ role }) => role === 'missing').map(({ keyId }) => keyId);
  const unused = masterKeys.filter(({ role, texts }) => role === 'older' && texts === 0);
  return [
    logs.newest !== undefined &&
      Date.parse(logs.newest) > nowMs + MINUTE_MS && {
        id: 'clock_behind',
        level: 'fault',
        says: `The newest event of the audit log is of ${logs.newest}, which is in the future.`,
        mend: 'Set the clock of this machine, for example with an NTP service: retention depends on it.',
      },
    missing.length > 0 && {
      id: 'master_key_missing',
      level: 'fault',
      says: `The master keys ${missing.join(', ')} are missing: their texts cannot be decrypted.`,
      mend: `Add them to ${place} behind the present key.`,
    },
    unused.length > 0 && {
      id: 'master_key_unused',
      level: 'warning',
      says: `No text uses the master keys ${unused.map(({ keyId }) => keyId).join(', ')}.`,
      mend: unusedMend(masterKeys, circumstances, place),
    },
  ];
}

/**
 * On SQLite a rotation removes them from the key file itself, once it has met no damaged text. In the settings one can be a new key that
 * was put behind the old one, as processes on PostgreSQL first have it.
 */
function unusedMend(
  masterKeys: readonly KeyUse[],
  { config, keyFile }: Circumstances,
  place: string,
): string {
  const rotate = adminCommand('keys:rotate');
  if (keyFile === undefined || config.database.engine === 'postgres')
    return `If a rotation to one of them has begun, go on with it: put it first in ${place}, restart every process, and run ${rotate}. Else remove them from ${place}, and keep them elsewhere as long as older backups.`;
  return masterKeys.some(({ role, texts }) => role === 'older' && texts > 0)
    ? `Run ${rotate} when no damaged text is left under an older key: it removes them from ${place}.`
    : `Run ${rotate} again: it was interrupted, and removes them from ${place}.`;
}

/** What waits too long. */
function backlog({ logs, erasures, outbox }: Installation, nowMs: number): readonly Look[] {
  const isLate = (at: string | undefined, minutes: number): boolean =>
    at !== undefined && nowMs - Date.parse(at) > minutes * MINUTE_MS;
  const mend = 'Look whether the service runs with JOBS=on, or a worker does, and read its log.';
  return [
    isLate(erasures.oldest, 1) && {
      id: 'erasure_unfinished',
      level: 'fault',
      says: `An erasure is unfinished since ${erasures.oldest}.`,
      mend,
    },
    isLate(logs.oldestUnsealed, 10) && {
      id: 'log_unsealed',
      level: 'fault',
      says: `${many(logs.unsealed, 'audit log has', 'audit logs have')} unsealed events, the oldest of ${logs.oldestUnsealed}.`,
      mend,
    },
    isLate(outbox.oldestDue, 60) && {
      id: 'webhooks_late',
      level: 'warning',
      says: `A webhook call is due, and its receiver has confirmed none since ${outbox.oldestDue}.`,
      mend,
    },
    outbox.exhausted > 0 && {
      id: 'webhooks_exhausted',
      level: 'warning',
      says: `${many(outbox.exhausted, 'webhook call was', 'webhook calls were')} given up.`,
      mend: 'Ask the bots to mend their receivers and to redeliver: POST /webhooks/deliveries/{id}/redeliver.',
    },
    outbox.suspended > 0 && {
      id: 'suspended_waiting',
      level: 'warning',
      says: `${many(outbox.suspended, 'suspended bot has', 'suspended bots have')} waiting webhook calls.`,
      mend: `Run ${adminCommand('bots:resume --bot ID')}, or bots:delete: erasures that users asked for are not reported to these bots.`,
    },
  ];
}
