// Registers the bot with Lethe once, and declares what it stores.
import { appendFileSync, openSync } from 'node:fs';
import { Lethe } from '@lethe/sdk';
import { DiscordRest } from '@lethe/discord';

const { DISCORD_TOKEN, DISCORD_API, LETHE_URL, LETHE_KEY, PRIVACY_CONTACT, WEBHOOK_URL } = process.env;

const rest = new DiscordRest({ token: DISCORD_TOKEN, ...(DISCORD_API && { api: `${DISCORD_API}/v10` }) });
const { id, name } = await rest.get('/oauth2/applications/@me');
// The key and the secret are shown once: a file that cannot be written is found before.
const file = openSync(process.env.ENV_FILE ?? '.env', 'a', 0o600);
const bot = await Lethe.register(
  { url: LETHE_URL },
  {
    ...{ platform_bot_id: id, name, privacy_contact: PRIVACY_CONTACT },
    webhook_url: WEBHOOK_URL ?? 'http://127.0.0.1:8080/gdpr',
  },
).catch((error) => {
  // An earlier run may have ended before it declared the category.
  if (error.reason === 'bot_exists' && LETHE_KEY) return undefined;
  const newKey = `If its key is lost, the operator runs: npx @lethe/server admin bots:new-key --bot ${id}`;
  throw error.reason === 'bot_exists' ? new Error(newKey, { cause: error }) : error;
});
if (bot) appendFileSync(file, `\nLETHE_KEY=${bot.api_key}\nLETHE_WEBHOOK_SECRET=${bot.webhook_secret}\n`);

const lethe = new Lethe({ url: LETHE_URL, key: bot?.api_key ?? LETHE_KEY });
await lethe.categories.register({
  key: 'birthday',
  label_de: 'Geburtstag',
  label_en: 'Birthday',
  description_de: 'Um dir auf diesem Server zum Geburtstag zu gratulieren.',
  description_en: 'To congratulate you on your birthday on this server.',
  fields: [{ key: 'day', type: 'date', label_de: 'Tag', label_en: 'Day' }],
});
console.log(`${name} is registered. Start it: npm start`);
