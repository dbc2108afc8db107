/** Probes and documentation are neither counted nor limited. */
export const UNCOUNTED_PATHS =
  /^\/(health\/(live|ready)|docs(-json|\/(start\.js|page\.css|swagger-ui\.css|swagger-ui-bundle\.js|favicon-32x32\.png)?)?)$/;

/** What can be asked for as a text document too. */
export const DOCUMENT_PATHS = /\/processing-record(\?|$)/;

const ID = '018f2f00-0000-7000-8000-000000000000';
const USER = '123456789012345678';
const GUILD = '223456789012345678';

/** One route of the interface that needs a key, with a path that its rules accept. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

/** Every route of the tables, and the additions beside them, that is closed to callers without a key. */
export const CLOSED_ROUTES: readonly Route[] = [
  { method: 'GET', path: `/bots/${ID}` },
  { method: 'PUT', path: `/bots/${ID}` },
  { method: 'DELETE', path: `/bots/${ID}` },
  { method: 'POST', path: '/servers/register' },
  { method: 'GET', path: '/servers' },
  { method: 'DELETE', path: `/servers/${GUILD}` },
  { method: 'POST', path: `/servers/${GUILD}/cancel-deletion` },
  { method: 'POST', path: '/data/register' },
  { method: 'GET', path: '/data/categories' },
  { method: 'GET', path: '/data/categories/profile' },
  { method: 'PUT', path: '/data/categories/profile' },
  { method: 'DELETE', path: '/data/categories/profile' },
  { method: 'POST', path: '/consents/request' },
  { method: 'POST', path: '/consents/accept' },
  { method: 'POST', path: '/consents/revoke' },
  { method: 'GET', path: `/consents/status?user_id=${USER}&guild_id=${GUILD}` },
  { method: 'GET', path: `/consents/history?user_id=${USER}&guild_id=${GUILD}` },
  { method: 'GET', path: `/consents/receipt?user_id=${USER}&guild_id=${GUILD}` },
  { method: 'POST', path: '/consents/texts' },
  { method: 'GET', path: '/consents/texts' },
  { method: 'POST', path: '/data/submit' },
  { method: 'GET', path: `/data/export/${USER}?guild_id=${GUILD}` },
  { method: 'POST', path: '/gdpr/forget-user' },
  { method: 'GET', path: `/gdpr/forget-status/${ID}` },
  { method: 'GET', path: `/gdpr/forget-status/${ID}/certificate` },
  { method: 'POST', path: '/audit/event' },
  { method: 'GET', path: '/audit/events' },
  { method: 'GET', path: `/audit/proof/${ID}` },
  { method: 'GET', path: '/audit/checkpoints' },
  { method: 'GET', path: '/audit/export' },
];

/** The path says it all. */
const BODILESS = /\/cancel-deletion$/;

/** The routes that take a JSON body. */
export const BODY_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/bots/register' },
  ...CLOSED_ROUTES.filter(
    ({ method, path }) => (method === 'POST' || method === 'PUT') && !BODILESS.test(path),
  ),
];

/** The lists that page. */
export const LISTS = [
  ['/servers', 'servers'],
  ['/data/categories', 'categories'],
  ['/consents/texts', 'texts'],
  ['/audit/events', 'events'],
] as const;
