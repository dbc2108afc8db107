import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lethe } from '@lethe/sdk';
import { ownPaths } from '../support/further-modules';

const ROOT = join(__dirname, '../..');
const who = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const guild = { guild_id: who.guild_id };

const first = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _item of items) return;
};

/** Every operation of the interface, and the method that calls it. */
const METHODS: Readonly<Record<string, (lethe: Lethe) => Promise<unknown>>> = {
  'POST /bots/register': ({ bots }) => bots.register({ platform_bot_id: who.user_id, name: 'Greeter' }),
  'GET /bots/me': ({ bots }) => bots.me(),
  'GET /bots/{bot_id}': ({ bots }) => bots.get('b1'),
  'PUT /bots/{bot_id}': ({ bots }) => bots.change({ name: 'Greeter' }),
  'DELETE /bots/{bot_id}': ({ bots }) => bots.delete(),
  'POST /bots/{bot_id}/webhook-secret/rotate': ({ webhooks }) => webhooks.rotateSecret(),
  'GET /bots/{bot_id}/keys': ({ keys }) => first(keys.list()),
  'POST /bots/{bot_id}/keys': ({ keys }) => keys.create({ scopes: ['read'] }),
  'POST /bots/{bot_id}/keys/rotate': ({ keys }) => keys.rotate({ overlap_seconds: 0 }),
  'DELETE /bots/{bot_id}/keys/{key_id}': ({ keys }) => keys.delete('k1'),
  'GET /bots/{bot_id}/notice-settings': ({ bots }) => bots.noticeSettings(),
  'PUT /bots/{bot_id}/notice-settings': ({ bots }) => bots.changeNoticeSettings({ public: false }),
  'GET /bots/{bot_id}/processing-record': ({ bots }) => bots.processingRecord(),
  'GET /bots/{bot_id}/review-dossier': ({ bots }) => bots.reviewDossier(),
  'POST /servers/register': ({ servers }) => servers.register({ ...guild, name: 'Guild' }),
  'GET /servers': ({ servers }) => first(servers.list()),
  'DELETE /servers/{guild_id}': ({ servers }) => servers.delete({ ...guild, grace_days: 7 }),
  'POST /servers/{guild_id}/cancel-deletion': ({ servers }) => servers.cancelDeletion(guild),
  'GET /users': ({ users }) => first(users.list({ ...who, status: 'accepted', order: 'recent' })),
  'POST /data/register': ({ categories }) =>
    categories.register({ key: 'profile', label_de: 'Profil', label_en: 'Profile', fields: [] }),
  'GET /data/categories': ({ categories }) => first(categories.list()),
  'GET /data/categories/{key}': ({ categories }) => categories.get('profile'),
  'PUT /data/categories/{key}': ({ categories }) => categories.change({ key: 'profile', label_en: 'You' }),
  'DELETE /data/categories/{key}': ({ categories }) => categories.delete('profile'),
  'POST /consents/request': ({ consents }) => consents.request({ ...who, consent_version: '1.0' }),
  'POST /consents/accept': ({ consents }) => consents.accept({ ...who, consent_version: '1.0' }),
  'POST /consents/decline': ({ consents }) => consents.decline(who),
  'POST /consents/revoke': ({ consents }) => consents.revoke(who),
  'GET /consents/status': ({ consents }) => consents.status(who),
  'POST /consents/status/batch': ({ consents }) => consents.statusMany([who]),
  'GET /consents/history': ({ consents }) => first(consents.history(who)),
  'GET /consents/receipt': ({ consents }) => consents.receipt(who),
  'POST /consents/texts': ({ consents }) =>
    consents.registerText({ consent_version: '1.0', language: 'en', title: 'Title', body: 'Body' }),
  'GET /consents/texts': ({ consents }) => first(consents.texts({ consent_version: '1.0' })),
  'GET /consents/texts/{digest}': ({ consents }) => consents.words('d1'),
  'GET /data/values': ({ data }) => first(data.valuesOfGuild({ ...guild, category: 'profile' })),
  'GET /data/values/{user_id}': ({ data }) => data.values(who),
  'DELETE /data/values/{user_id}': ({ data }) => data.eraseValues({ ...who, category: 'profile' }),
  'POST /data/object': ({ data }) => data.object({ ...who, category: 'profile' }),
  'POST /data/restrict': ({ data }) => data.restrict(who),
  'POST /data/unrestrict': ({ data }) => data.unrestrict(who),
  'GET /data/refusals/{user_id}': ({ data }) => data.refusals(who),
  'POST /data/submit': ({ data }) => data.submit({ ...who, category: 'profile', data: {} }),
  'POST /data/submit/batch': ({ data }) =>
    first(data.submitMany([{ ...who, category: 'profile', data: {} }])),
  'GET /data/export/{user_id}': ({ data }) => data.export({ ...who, format: 'full' }),
  'POST /gdpr/forget-user': ({ privacy }) => privacy.forget(who),
  'GET /gdpr/forget-status/{id}': ({ privacy }) => privacy.status('e1'),
  'GET /gdpr/forget-status/{id}/certificate': ({ privacy }) => privacy.certificate('e1'),
  'GET /gdpr/forget-status/{id}/final-certificate': ({ privacy }) => privacy.finalCertificate('e1'),
  'POST /holders': ({ holders }) =>
    holders.register({
      key: 'db',
      kind: 'pull',
      covers: ['levels'],
      label_de: 'Datenbank',
      label_en: 'Database',
    }),
  'GET /holders': ({ holders }) => first(holders.list()),
  'GET /holders/{key}': ({ holders }) => holders.get('db'),
  'PUT /holders/{key}': ({ holders }) => holders.change({ key: 'db', label_en: 'Database' }),
  'DELETE /holders/{key}': ({ holders }) => holders.delete({ key: 'db', abandon: 'true' }),
  'GET /holders/{key}/tasks': ({ holders }) => first(holders.tasks({ key: 'db' })),
  'POST /holders/{key}/tasks/{task_id}/acknowledge': ({ holders }) =>
    holders.acknowledge({ key: 'db', task_id: 't1', result: 'erased' }),
  'POST /privacy-links': ({ privacy }) => privacy.link(who),
  'DELETE /privacy-links/{id}': ({ privacy }) => privacy.endLink('p1'),
  'POST /audit/event': ({ audit }) => audit.write({ ...who, event_type: 'data_deleted' }),
  'GET /audit/events': ({ audit }) => first(audit.events(who)),
  'GET /audit/proof/{event_id}': ({ audit }) => audit.proof('a1'),
  'GET /audit/checkpoints': ({ audit }) => first(audit.checkpoints()),
  'GET /audit/export': ({ audit }) => first(audit.export({ after: 1 })),
  'GET /audit/breach-scope': ({ audit }) => audit.breachScope({ from: '2026-01-01', to: '2026-01-02' }),
  'GET /operator/status': ({ operator }) => operator.status(),
  'GET /operator/findings': ({ operator }) => operator.findings(),
  'GET /operator/storage': ({ operator }) => operator.storage(),
  'GET /operator/bots': ({ operator }) => first(operator.bots()),
  'POST /operator/bots/{id}/suspend': ({ operator }) => operator.suspend('b1'),
  'POST /operator/bots/{id}/resume': ({ operator }) => operator.resume('b1'),
  'PUT /operator/bots/{id}/tier': ({ operator }) => operator.setTier({ id: 'b1', tier: 'high' }),
  'GET /operator/ledger': ({ operator }) => first(operator.ledger()),
  'GET /stats': (lethe) => lethe.stats({ bucket: 'hour' }),
  'GET /webhooks/deliveries': ({ webhooks }) => first(webhooks.deliveries({ status: 'exhausted' })),
  'GET /webhooks/deliveries/{id}': ({ webhooks }) => webhooks.delivery('d1'),
  'POST /webhooks/deliveries/{id}/redeliver': ({ webhooks }) => webhooks.redeliver('d1'),
  'POST /webhooks/replay': ({ webhooks }) => webhooks.replay({ since: '2026-01-31T08:00:00Z' }),
  'POST /webhooks/test': ({ webhooks }) => webhooks.test(),
};

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
}

const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const OPERATIONS = Object.entries(ownPaths(paths)).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
);

/** Whether the service does an act of this operation once for an `Idempotency-Key`. */
function isKeyed(operation: string): boolean {
  const [method = '', path = ''] = operation.split(' ');
  const { parameters = [] } = paths[`/api/v1${path}`]?.[method.toLowerCase()] ?? {};
  return parameters.some(({ name }) => name === 'Idempotency-Key');
}

/** The operation that a request is meant for: the one with the fewest ids in its path. */
function operationOf(method: string, path: string): string | undefined {
  const fitting = OPERATIONS.filter((operation) =>
    new RegExp(`^${operation.replace(/\{\w+\}/g, '[^/]+')}$`).test(`${method} ${path}`),
  );
  return fitting.sort((one, other) => one.split('{').length - other.split('{').length)[0];
}

describe('@lethe/sdk', () => {
  it('has a method for every operation of openapi.json, and for no other', () => {
    expect(Object.keys(METHODS).sort()).toEqual([...OPERATIONS].sort());
  });

  it.each(Object.entries(METHODS))('calls %s', async (operation, call) => {
    const called: (string | undefined)[] = [];
    let hasKey = false;
    const fetch = (async (url: string, { method, headers }: RequestInit) => {
      hasKey = new Headers(headers).has('idempotency-key');
      called.push(operationOf(method ?? '', new URL(url).pathname.replace('/api/v1', '')));
      const page = { page: 1, page_size: 100, total_count: 0, total_pages: 0, next: null };
      const lists = { results: [], entries: [], texts: [], keys: [], servers: [], categories: [] };
      const more = {
        holders: [],
        tasks: [],
        users: [],
        values: [],
        bots: [],
        events: [],
        checkpoints: [],
        deliveries: [],
      };
      return Response.json({ success: true, data: { id: 'b1', pagination: page, ...lists, ...more } });
    }) as typeof globalThis.fetch;
    await call(new Lethe({ url: 'https://lethe.example', key: 'sk_live_x', fetch }));
    expect([called.at(-1), hasKey]).toEqual([operation, isKeyed(operation)]);
    expect(called.slice(0, -1).filter((before) => before !== 'GET /bots/me')).toEqual([]);
  });

  it.each(['openapi.types.mjs', 'openapi.python.mjs'])(
    'has what %s makes (else: npm run openapi)',
    (name) => {
      const { status, stdout } = spawnSync(process.execPath, [`scripts/${name}`, '--check'], {
        cwd: ROOT,
        encoding: 'utf8',
      });
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    },
  );
});
