// npm run sandbox: a server for the tests of a bot, with a bot, a category and a user. It ends with Ctrl+C and leaves nothing.
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { startServer, temporaryDirectory } from './server.mjs';

/** A file system in memory, where there is one. */
const MEMORY = '/dev/shm';
const USER = '123456789012345678';
const GUILD = '223456789012345678';
const CATEGORY = {
  key: 'profile',
  label_de: 'Profil',
  label_en: 'Profile',
  description_de: 'Um dich mit deinem Namen zu begrüßen und dir zum Geburtstag zu gratulieren.',
  description_en: 'To greet you by your name and to congratulate you on your birthday.',
  fields: [
    { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname' },
    { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday' },
  ],
};
const UNLIMITED = '1000000';

const { values: given } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    port: { type: 'string', default: process.env.PORT ?? '3000' },
  },
});

const server = await startServer({
  directory: temporaryDirectory(place()),
  environment: {
    PORT: given.port,
    API_KEY_KIND: 'test',
    RATE_LIMIT_TIERS: `free=${UNLIMITED}`,
    RATE_LIMIT_ANONYMOUS: UNLIMITED,
    RATE_LIMIT_CONSOLE: UNLIMITED,
    DATABASE_BALLAST_MIB: '0',
    LOG_LEVEL: 'warn',
  },
  // Where tests run another build.
  ...(process.env.SANDBOX_PROGRAM && { program: JSON.parse(process.env.SANDBOX_PROGRAM) }),
}).catch((error) => {
  process.stderr.write(`The sandbox does not start; --port or PORT takes another port. ${error.message}\n`);
  process.exit(1);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end());
try {
  write(await seed());
} catch (error) {
  process.stderr.write(`The sandbox cannot be filled: ${error.message}\n`);
  process.exitCode = 1;
  await end();
}

async function end() {
  await server.stop();
  process.exit();
}

function place() {
  try {
    accessSync(MEMORY, constants.W_OK);
    return MEMORY;
  } catch {
    return tmpdir();
  }
}

async function seed() {
  const subject = { user_id: USER, guild_id: GUILD };
  const version = { ...subject, consent_version: '1.0' };
  const bot = await post('/bots/register', { platform_bot_id: '987654321098765432', name: 'Sandbox' });
  const { api_key: key } = bot;
  await post('/servers/register', { guild_id: GUILD, name: 'Sandbox' }, key);
  await post('/data/register', CATEGORY, key);
  await post('/consents/request', version, key);
  await post('/consents/accept', version, key);
  const data = { nickname: 'Robin', birthday: '2000-02-29' };
  await post('/data/submit', { ...subject, category: 'profile', data }, key);
  return {
    ...{ url: server.url, pid: server.pid, bot_id: bot.id, api_key: key, webhook_secret: bot.webhook_secret },
    ...{ ...subject, consent_version: '1.0', category: 'profile' },
  };
}

async function post(path, body, key) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!answer.success) throw new Error(`${path}: ${answer.error.message}`);
  return answer.data;
}

function write(sandbox) {
  if (given.json) return void process.stdout.write(`${JSON.stringify(sandbox)}\n`);
  const lines = Object.entries(sandbox).map(([name, value]) => `  ${name.padEnd(16)}${value}`);
  process.stdout.write(
    `A sandbox for the tests of a bot, without limits. It keeps nothing: end it with Ctrl+C.\n${lines.join('\n')}

  curl -H 'Authorization: Bearer ${sandbox.api_key}' '${sandbox.url}/api/v1/data/export/${USER}?guild_id=${GUILD}'\n`,
  );
}
