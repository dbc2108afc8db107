// Registers the bot with Lethe once, and declares what it stores.
import { appendFileSync, openSync } from 'node:fs';
import { Lethe } from '@lethe/sdk';
import { DiscordRest } from '@lethe/discord';

const { DISCORD_TOKEN, DISCORD_API, LETHE_URL, LETHE_KEY, PRIVACY_CONTACT } = process.env;
const { WEBHOOK_URL = 'http://127.0.0.1:8080/gdpr', ENV_FILE = '.env' } = process.env;

const rest = new DiscordRest({ token: DISCORD_TOKEN, ...(DISCORD_API && { api: `${DISCORD_API}/v10` }) });
const { id, name } = await rest.get('/oauth2/applications/@me');
// The key and the secret are shown once: a file that cannot be written is found before.
const file = openSync(ENV_FILE, 'a', 0o600);
const given = { platform_bot_id: id, name, privacy_contact: PRIVACY_CONTACT, webhook_url: WEBHOOK_URL };
const bot = await Lethe.register({ url: LETHE_URL }, given).catch((error) => {
  // An earlier run may have ended before it declared the categories.
  if (error.reason === 'bot_exists' && LETHE_KEY) return undefined;
  const newKey = `If its key is lost, the operator runs: npx @lethe/server admin bots:new-key --bot ${id}`;
  throw error.reason === 'bot_exists' ? new Error(newKey, { cause: error }) : error;
});
if (bot) appendFileSync(file, `\nLETHE_KEY=${bot.api_key}\nLETHE_WEBHOOK_SECRET=${bot.webhook_secret}\n`);

const lethe = new Lethe({ url: LETHE_URL, key: bot?.api_key ?? LETHE_KEY });
const birthday = {
  ...{ key: 'birthday', label_de: 'Geburtstag', label_en: 'Birthday' },
  description_de: 'Um dir auf diesem Server zum Geburtstag zu gratulieren.',
  description_en: 'To congratulate you on your birthday on this server.',
  fields: [{ key: 'day', type: 'date', label_de: 'Tag', label_en: 'Day' }],
};
const warnings = {
  ...{ key: 'warnings', label_de: 'Verwarnungen', label_en: 'Warnings' },
  ...{ legal_basis: 'legitimate_interests', requires_consent: false },
  reason_de: 'Der Betreiber des Servers hat ein berechtigtes Interesse daran, Regelverstöße festzuhalten.',
  reason_en: 'The owner of the server has a legitimate interest in noting who breaks its rules.',
  fields: [{ key: 'reason', type: 'string', label_de: 'Grund', label_en: 'Reason' }],
};
const declared = (await lethe.categories.list().toArray()).map(({ key }) => key);
for (const one of [birthday, warnings]) if (!declared.includes(one.key)) await lethe.categories.register(one);
console.log(`${name} is registered. Start it: npm start`);
