import type { Circumstances, Look } from './findings';

/** The end of life of each release line of Node.js. Odd lines end before the next even one. */
export const NODE_END_OF_LIFE: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;

/** Whether others than this machine reach the service, by its address or by a proxy. */
const isPublic = ({ config }: Circumstances): boolean => !LOOPBACK.test(config.host) || config.trustProxy > 0;

/** What is open to callers on the network. */
export function exposureFindings(circumstances: Circumstances): readonly Look[] {
  return [
    oldNode(circumstances),
    ...(isPublic(circumstances)
      ? [plain(circumstances), webhooks(circumstances), registration(circumstances), metrics(circumstances)]
      : []),
  ];
}

function oldNode({ node, nowMs }: Circumstances): Look {
  const end = NODE_END_OF_LIFE[Number(node.split('.')[0])];
  return (
    (end === undefined || nowMs > Date.parse(end)) && {
      id: 'node_old',
      level: 'warning',
      says: `Node.js ${node} ${end === undefined ? 'has no long-term support' : `had its end of life on ${end}`}.`,
      mend: 'Install the newest release with long-term support.',
    }
  );
}

function plain({ config }: Circumstances): Look {
  return (
    config.trustProxy === 0 && {
      id: 'no_https',
      level: 'warning',
      says: `HOST=${config.host} answers other machines without HTTPS, and no proxy is named.`,
      mend: 'Put a proxy with HTTPS in front and set TRUST_PROXY to the number of proxies; or set HOST=127.0.0.1.',
    }
  );
}

function webhooks({ config }: Circumstances): Look {
  const isHttpsOnly =
    config.webhookRequireHttps === 'true' ||
    (config.webhookRequireHttps === 'auto' && config.nodeEnv === 'production');
  return (
    !isHttpsOnly && {
      id: 'webhooks_http',
      level: 'warning',
      says: 'Webhooks may be sent over http, where others can read them.',
      mend: 'Set NODE_ENV=production, or WEBHOOK_REQUIRE_HTTPS=true.',
    }
  );
}

function registration({ config }: Circumstances): Look {
  return (
    config.registration === 'open' && {
      id: 'registration_open',
      level: 'fault',
      says: 'Everybody who reaches the service can register bots.',
      mend: 'Set REGISTRATION=token with REGISTRATION_TOKEN, or REGISTRATION=off after your bots are registered.',
    }
  );
}

function metrics({ config }: Circumstances): Look {
  return (
    config.metricsToken === '' && {
      id: 'metrics_token_missing',
      level: 'warning',
      says: 'METRICS_TOKEN is not set on a public address.',
      mend: 'Set METRICS_TOKEN, and give it to Prometheus.',
    }
  );
}
