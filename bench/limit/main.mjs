// The limit: what this machine gives when Node's HTTP server and the driver do Lethe's statements and nothing else. The
// key comes from a Map, bodies are parsed and hardly checked; there is no limiter, no log, no framework. The state that
// it leaves, its webhook calls and its durability are Lethe's.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { newId } from './ids.mjs';
import { PostgresStore } from './postgres.store.mjs';
import { SqliteStore } from './sqlite.store.mjs';
import { WebhookSender } from './webhook.sender.mjs';

const url = process.env.DATABASE_URL;
const store = await (url.startsWith('postgres:') ? PostgresStore : SqliteStore).open(url);
const sender = new WebhookSender(store);
const bots = new Map();

const hashOf = (key) => createHash('sha256').update(key).digest('hex');

async function botOf(authorization) {
  const bot = await store.botOf(hashOf(authorization.slice('Bearer '.length)));
  if (bot !== undefined) bots.set(authorization, bot);
  return bot;
}

async function register(_bot, { platform_bot_id: platformBotId, name, webhook_url: webhookUrl }) {
  const key = `sk_live_${randomBytes(32).toString('hex')}`;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const bot = { id: newId(), platformBotId, name, webhookUrl: webhookUrl ?? null, secret };
  await store.register({ ...bot, digest: hashOf(key) });
  return { id: bot.id, name, api_key: key, webhook_secret: secret };
}

async function revoke(bot, { user_id: userId, guild_id: guildId }) {
  const view = await store.revoke(bot, guildId, userId);
  if (view !== undefined) sender.poke(bot);
  return view;
}

async function forget(bot, { user_id: userId, guild_id: guildId }) {
  const view = await store.erase(bot, guildId, userId);
  if (view !== undefined) sender.poke(bot);
  return view && { ...view, notice: 'Only data stored through this service was erased.' };
}

async function audit(bot, query) {
  const page = Number(query.page ?? 1);
  const size = Number(query.page_size ?? 20);
  const { total, events } = await store.audit(bot, size, (page - 1) * size);
  const pagination = { page, page_size: size, total_count: total, total_pages: Math.ceil(total / size) };
  return { events, pagination };
}

const POST = {
  '/api/v1/bots/register': register,
  '/api/v1/data/register': (bot, { key, fields }) => store.declare(bot, key, fields),
  '/api/v1/data/submit': (bot, body) => store.submit(bot, body),
  '/api/v1/consents/revoke': revoke,
  '/api/v1/gdpr/forget-user': forget,
};
const GET = {
  '/api/v1/consents/status': (bot, query) => store.status(bot, query.guild_id, query.user_id),
  '/api/v1/audit/events': audit,
};
const EXPORT = '/api/v1/data/export/';

async function answer(request, response, text) {
  const { authorization, method } = { ...request.headers, method: request.method };
  const at = request.url.indexOf('?');
  const path = at < 0 ? request.url : request.url.slice(0, at);
  const bot =
    authorization === undefined ? undefined : (bots.get(authorization) ?? (await botOf(authorization)));
  if (bot === undefined && path !== '/api/v1/bots/register') return end(response, 401, '{"success":false}');
  if (method === 'POST') return endWith(response, await POST[path](bot, JSON.parse(text)));
  const query = at < 0 ? {} : Object.fromEntries(new URLSearchParams(request.url.slice(at + 1)));
  if (!path.startsWith(EXPORT)) return endWith(response, await GET[path](bot, query));
  const held = await store.export(bot, query.guild_id, path.slice(EXPORT.length));
  if (held === undefined) return end(response, 404, '{"success":false}');
  const { consent, data } = held;
  const record = { userId: path.slice(EXPORT.length), guildId: query.guild_id, exportedAt: held.at };
  const head = JSON.stringify({ ...record, bot: { id: bot.id, name: bot.name }, consent });
  end(response, 200, `{"success":true,"data":${head.slice(0, -1)},"data":${data ?? '{}'}}}`);
}

function endWith(response, data) {
  if (data === undefined) end(response, 404, '{"success":false}');
  else end(response, 200, `{"success":true,"data":${JSON.stringify(data)}}`);
}

function end(response, status, text) {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

const server = createServer((request, response) => {
  const failed = (error) => {
    process.stderr.write(`${error.stack}\n`);
    end(response, 500, '{"success":false}');
  };
  if (request.method === 'GET') return void answer(request, response).catch(failed);
  let text = '';
  request.setEncoding('utf8').on('data', (piece) => (text += piece));
  request.on('end', () => void answer(request, response, text).catch(failed));
});
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
