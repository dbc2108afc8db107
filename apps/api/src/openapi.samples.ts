import { OPERATOR_SCHEME } from '@app/http';
import { curlOf, pythonOf, type Sample, typescriptOf } from './sample-texts';

/**
 * The method of the clients for each operation. A trailing `*` marks a list, to be read in a loop; `#` one id as the
 * argument; `[]` a list as the argument.
 */
const METHODS: Readonly<Record<string, string>> = {
  'POST /bots/register': 'register',
  'GET /bots/me': 'bots.me',
  'GET /bots/{bot_id}': 'bots.get#',
  'PUT /bots/{bot_id}': 'bots.change',
  'DELETE /bots/{bot_id}': 'bots.delete',
  'GET /bots/{bot_id}/processing-record': 'bots.processingRecord',
  'GET /bots/{bot_id}/retention-preview': 'bots.retentionPreview',
  'POST /bots/{bot_id}/webhook-secret/rotate': 'webhooks.rotateSecret',
  'GET /bots/{bot_id}/keys': 'keys.list*',
  'POST /bots/{bot_id}/keys': 'keys.create',
  'POST /bots/{bot_id}/keys/rotate': 'keys.rotate',
  'DELETE /bots/{bot_id}/keys/{key_id}': 'keys.delete#',
  'POST /servers/register': 'servers.register',
  'GET /servers': 'servers.list*',
  'DELETE /servers/{guild_id}': 'servers.delete',
  'POST /servers/{guild_id}/cancel-deletion': 'servers.cancelDeletion',
  'POST /data/register': 'categories.register',
  'GET /data/categories': 'categories.list*',
  'GET /data/categories/{key}': 'categories.get#',
  'PUT /data/categories/{key}': 'categories.change',
  'DELETE /data/categories/{key}': 'categories.delete#',
  'POST /consents/request': 'consents.request',
  'POST /consents/accept': 'consents.accept',
  'POST /consents/decline': 'consents.decline',
  'POST /consents/revoke': 'consents.revoke',
  'GET /consents/status': 'consents.status',
  'POST /consents/status/batch': 'consents.statusMany[]',
  'GET /consents/history': 'consents.history*',
  'GET /consents/receipt': 'consents.receipt',
  'POST /consents/texts': 'consents.registerText',
  'GET /consents/texts': 'consents.texts*',
  'GET /consents/texts/{digest}': 'consents.words#',
  'POST /data/submit': 'data.submit',
  'POST /data/submit/batch': 'data.submitMany[]*',
  'GET /data/values': 'data.valuesOfGuild*',
  'GET /data/values/{user_id}': 'data.values',
  'DELETE /data/values/{user_id}': 'data.eraseValues',
  'GET /data/export/{user_id}': 'data.export',
  'POST /gdpr/forget-user': 'privacy.forget',
  'GET /gdpr/forget-status/{id}': 'privacy.status#',
  'GET /gdpr/forget-status/{id}/certificate': 'privacy.certificate#',
  'POST /privacy-links': 'privacy.link',
  'DELETE /privacy-links/{id}': 'privacy.endLink#',
  'POST /audit/event': 'audit.write',
  'GET /audit/events': 'audit.events*',
  'GET /audit/proof/{event_id}': 'audit.proof#',
  'GET /audit/checkpoints': 'audit.checkpoints*',
  'GET /audit/export': 'audit.export*',
  'GET /audit/breach-scope': 'audit.breachScope',
  'GET /operator/status': 'operator.status',
  'GET /operator/findings': 'operator.findings',
  'GET /operator/storage': 'operator.storage',
  'GET /operator/bots': 'operator.bots*',
  'POST /operator/bots/{bot_id}/suspend': 'operator.suspend#',
  'POST /operator/bots/{bot_id}/resume': 'operator.resume#',
  'GET /operator/ledger': 'operator.ledger*',
  'GET /stats': 'stats',
  'GET /webhooks/deliveries': 'webhooks.deliveries*',
  'GET /webhooks/deliveries/{id}': 'webhooks.delivery#',
  'POST /webhooks/deliveries/{id}/redeliver': 'webhooks.redeliver#',
  'POST /webhooks/replay': 'webhooks.replay',
  'POST /webhooks/test': 'webhooks.test',
};

interface Sampled {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in?: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { examples?: Record<string, unknown> }>>;
  };
  readonly security?: readonly object[];
}

/**
 * `x-codeSamples` of an operation: its first example with curl and with the methods of the clients. An operation without a
 * method, of a team's module, is called by its route.
 */
export function samplesOf(method: string, path: string, operation: Sampled): object[] {
  const route = `${method.toUpperCase()} ${path.replace('/api/v1', '')}`;
  const placed = (place: string): Record<string, unknown> =>
    Object.fromEntries(
      (operation.parameters ?? [])
        .filter((each) => each.in === place && each.example !== undefined)
        .map(({ name, example }) => [name, example]),
    );
  const { canonical } = operation.requestBody?.content['application/json']?.examples ?? {};
  const sample: Sample = {
    route,
    method: METHODS[route],
    ids: placed('path'),
    query: placed('query'),
    body: (canonical as { value: object } | undefined)?.value,
    isPublic: operation.security?.length === 0,
    secret:
      operation.security?.some((each) => OPERATOR_SCHEME in each) === true ? 'OPERATOR_TOKEN' : 'LETHE_KEY',
  };
  return [
    { lang: 'Shell', label: 'curl', source: curlOf(sample) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescriptOf(sample) },
    { lang: 'Python', label: 'Python', source: pythonOf(sample) },
  ];
}
