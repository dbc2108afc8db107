import { isDeepStrictEqual } from 'node:util';
import type { RegisteredBot } from '../../support/bot';
import type { Answer, Json } from '../../support/client';
import { BOT_WIDE } from '../../support/snowflakes';
import type { Tenant } from './tenant';

interface Accepted {
  readonly tenant: Tenant;
  readonly sent: Json;
  readonly answered: Json;
}

/** Reads again what an accepted request has changed; the parts that are not as they were sent. */
type Look = (accepted: Accepted) => Promise<Json>;

/** The members of `sent` that `found` has otherwise. A member that is null in the request may be left out. */
function differing(sent: Json, found: Json | undefined, ...names: readonly string[]): Json {
  const wrong = names.filter((name) => sent[name] != null && !isDeepStrictEqual(sent[name], found?.[name]));
  return Object.fromEntries(wrong.map((name) => [name, { sent: sent[name], found: found?.[name] }]));
}

/** A field has no description where none is declared. */
const described = (sent: Json): Json => ({
  ...sent,
  fields: (sent['fields'] as Json[] | null | undefined)?.map((item) => ({
    description: null,
    ...known(item),
  })),
});
const known = (item: Json): Json =>
  Object.fromEntries(
    ['key', 'type', 'label_de', 'label_en', 'description'].flatMap((name) =>
      name in item ? [[name, item[name]]] : [],
    ),
  );

const one = async (tenant: Tenant, path: string): Promise<Json> => (await tenant.bot.get(path)).data;
const listed = async (
  tenant: Tenant,
  path: string,
  name: string,
  is: (item: Json) => boolean,
): Promise<Json | undefined> => ((await one(tenant, path))[name] as Json[]).find(is);
const CATEGORY = ['description', 'retention_days', 'label_de', 'label_en', 'fields', 'legal_basis'] as const;

const guildOf = (sent: Json): string => (sent['guild_id'] as string | null | undefined) ?? BOT_WIDE;
const statusOf = (tenant: Tenant, user: unknown, guild: string): Promise<Json> =>
  one(tenant, `/consents/status?user_id=${String(user)}&guild_id=${guild}`);

export const LOOKS: Readonly<Record<string, Look>> = {
  'POST /api/v1/bots/register': async ({ tenant, sent, answered }) => {
    const other = tenant.other(answered as unknown as RegisteredBot);
    const { data: found } = await other.get(`/bots/${other.id}`);
    const platform = { platform_bot_id: sent['platform_bot_id'] ?? sent['bot_id'] };
    return differing(
      { ...sent, ...platform },
      found,
      'platform_bot_id',
      'name',
      'privacy_contact',
      'webhook_url',
    );
  },
  'PUT /api/v1/bots/{bot_id}': async ({ tenant, sent }) =>
    differing(sent, await one(tenant, `/bots/${tenant.bot.id}`), 'name', 'privacy_contact', 'webhook_url'),
  'DELETE /api/v1/bots/{bot_id}': async ({ tenant }) => ((await tenant.isServed()) ? { deleted: false } : {}),
  'POST /api/v1/servers/register': async ({ tenant, sent }) => {
    const found = await listed(
      tenant,
      '/servers?page_size=100',
      'servers',
      (item) => item['guild_id'] === sent['guild_id'],
    );
    return differing(sent, found, 'guild_id', 'name');
  },
  'POST /api/v1/data/register': async ({ tenant, sent }) => {
    if (sent['bot_id'] == null)
      return differing(
        described(sent),
        await one(tenant, `/data/categories/${String(sent['key'])}`),
        ...CATEGORY,
      );
    const wrong = (sent['categories'] as Json[]).map(async (item) =>
      differing(
        item,
        await one(tenant, `/data/categories/${String(item['name'])}`),
        'description',
        'retention_days',
        'legal_basis',
      ),
    );
    return Object.assign({}, ...(await Promise.all(wrong))) as Json;
  },
  'PUT /api/v1/data/categories/{key}': async ({ tenant, sent, answered }) =>
    differing(described(sent), await one(tenant, `/data/categories/${String(answered['key'])}`), ...CATEGORY),
  'DELETE /api/v1/data/categories/{key}': async ({ tenant, answered }) => {
    const { status } = await tenant.bot.get(`/data/categories/${String(answered['key'])}`);
    return status === 404 ? {} : { status };
  },
  'POST /api/v1/consents/request': async ({ tenant, sent, answered }) => {
    tenant.learn('CONSENT', answered['id']);
    const found = await statusOf(tenant, sent['user_id'], guildOf(sent));
    const versions = [found['version'], found['pending_version']];
    return versions.includes(answered['version']) ? {} : { version: answered['version'], found };
  },
  'POST /api/v1/consents/accept': ({ tenant, answered }) => differsFrom('accepted', tenant, answered),
  'POST /api/v1/consents/revoke': ({ tenant, answered }) =>
    differsFrom(String(answered['status']), tenant, answered),
  'POST /api/v1/consents/texts': async ({ tenant, sent }) => {
    const path = `/consents/texts?page_size=100&consent_version=${encodeURIComponent(String(sent['consent_version']))}`;
    const found = await listed(tenant, path, 'texts', (item) => item['language'] === sent['language']);
    return differing(
      sent,
      found,
      'title',
      'body',
      'accept_label',
      'decline_label',
      'privacy_notice',
      'jurisdiction',
    );
  },
  'POST /api/v1/data/submit': async ({ tenant, sent }) => {
    const exported = await tenant.bot.export<{ data: Json }>({
      user_id: String(sent['user_id']),
      guild_id: guildOf(sent),
    });
    const found = (exported.data.data[String(sent['category'])] ?? {}) as Json;
    const values = Object.entries(sent['data'] as Json).filter(([, value]) => value !== null);
    const wrong = values.filter(
      ([name, value]) => !isDeepStrictEqual(value, found[name]) && sent['mode'] !== 'merge',
    );
    return Object.fromEntries(wrong.map(([name, value]) => [name, { sent: value, found: found[name] }]));
  },
  'POST /api/v1/audit/event': async ({ tenant, sent, answered }) => {
    tenant.learn('EVENT', answered['id']);
    const found = await listed(
      tenant,
      '/audit/events?page_size=100',
      'events',
      (item) => item['id'] === answered['id'],
    );
    return differing(sent, found, 'user_id', 'guild_id', 'event_type', 'details');
  },
  'POST /api/v1/privacy-links': async ({ tenant, answered }) => {
    tenant.learn('LINK', answered['id']);
    const { status } = await fetch(String(answered['url']), { method: 'HEAD' });
    return status === 200 ? {} : { status };
  },
  'POST /api/v1/gdpr/forget-user': async ({ tenant, answered }) => {
    const id = answered['request_id'] as string | undefined;
    if (id === undefined) return {};
    tenant.learn('DELETION', id);
    const found = await one(tenant, `/gdpr/forget-status/${id}`);
    return found['status'] === 'completed' ? {} : { found };
  },
};

async function differsFrom(status: string, tenant: Tenant, answered: Json): Promise<Json> {
  const found = await statusOf(tenant, answered['user_id'], String(answered['guild_id']));
  return found['status'] === status ? {} : { status, found };
}

/** What differs after an accepted request from what was sent; empty where nothing does, or the route changes nothing. */
export async function differences(
  name: string,
  tenant: Tenant,
  body: Buffer,
  answer: Answer<unknown>,
): Promise<Json> {
  const look = LOOKS[name];
  if (look === undefined) return {};
  const sent = name.startsWith('DELETE') ? {} : (JSON.parse(body.toString().replace(/^\ufeff/, '')) as Json);
  return look({ tenant, sent, answered: answer.data as Json });
}
