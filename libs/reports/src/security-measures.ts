import type { Config } from '@app/kernel';

/**
 * The technical measures of this installation in general terms (GDPR Art. 30(1)(g), 32(1)), from its settings. Measures
 * outside of the service, such as TLS or encrypted disks, have to be added by its operator.
 */
export function securityMeasures(config: Config): readonly string[] {
  const { database, nodeEnv, webhookRequireHttps, webhookAllowPrivateNetworks } = config;
  const httpsOnly =
    webhookRequireHttps === 'auto' ? nodeEnv === 'production' : webhookRequireHttps === 'true';
  return [
    'Access by API key alone; of keys only SHA-256 digests are stored. A bot reaches its own data and no other.',
    'Stored values and the details of audit events are encrypted with ChaCha20-Poly1305, by a key of its own for each user and guild.',
    'These keys and webhook secrets are encrypted under a master key that is not in the database.',
    "An erasure destroys the user's key, and of the ids leaves keyed digests alone.",
    'Data is stored under a consent in force alone, which is checked in the storing transaction.',
    'Every act on personal data is recorded in an audit log, in the transaction of the act.',
    'The audit log is sealed in signed batches: what is changed or removed afterwards is found.',
    ...(database.engine === 'sqlite'
      ? ['Deleted rows are overwritten in the database file, whose log is truncated.']
      : []),
    `Webhook calls are signed with HMAC-SHA-256${httpsOnly ? ' and go over HTTPS alone' : ''}.`,
    ...(webhookAllowPrivateNetworks === 'true'
      ? []
      : ['Webhook calls are kept from private networks and metadata services.']),
    'Requests are limited per bot and per client address.',
    'Logs, metrics and error messages hold no user ids, values, keys or secrets.',
    'Commits are durable before they are answered; interrupted erasures are finished at the next start.',
  ];
}
