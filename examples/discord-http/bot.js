import { createServer } from 'node:http';
import { ConsentRequiredError, createWebhookHandler, InvalidRequestError, Lethe } from '@lethe/sdk';
import { DIRECT_MESSAGES, DiscordRest, reconcileGuilds, scopeOf } from '@lethe/discord';
import { HttpInteractions } from '@lethe/discord/http';
import { hold, warn } from './database.js';

const { DISCORD_TOKEN, DISCORD_PUBLIC_KEY, DISCORD_API, LETHE_URL, LETHE_KEY } = process.env;
const { LETHE_WEBHOOK_SECRET, PORT = '8080' } = process.env;
const DAY_MS = 86_400_000;

const lethe = new Lethe({ url: LETHE_URL, key: LETHE_KEY });
const api = DISCORD_API && { api: `${DISCORD_API}/v10` };
const rest = new DiscordRest({ token: DISCORD_TOKEN, ...api });
const interactions = new HttpInteractions({
  ...{ lethe, publicKey: DISCORD_PUBLIC_KEY, onError: console.error },
  // With the token the servers in which the bot is used are registered.
  rest: { token: DISCORD_TOKEN, ...api },
  others: answered,
});
const holder = await hold(lethe);
const webhooks = createWebhookHandler({
  secrets: LETHE_WEBHOOK_SECRET,
  lethe,
  on: {
    // The bot's own database is erased at once, and not only within a minute.
    user_forgotten: () => {
      holder.wake();
      console.log('A user was erased');
    },
    consent_revoked: () => console.log('A consent was withdrawn'),
  },
  onError: console.error,
});

async function answered(interaction, ask) {
  // A user who has installed the bot on their account uses it also in servers that it is not in.
  if (scopeOf(interaction) === DIRECT_MESSAGES) return 'Please have this bot added to the server first.';
  if (interaction.data.name === 'warn') return warned(interaction);
  const [{ name, options }] = interaction.data.options;
  const run = () => (name === 'set' ? save(interaction, options[0].value) : today(interaction));
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConsentRequiredError) return ask(run);
    throw error;
  }
}

async function save({ member, guild_id }, day) {
  try {
    await lethe.data.submit({ user_id: member.user.id, guild_id, category: 'birthday', data: { day } });
    return 'Your birthday is saved.';
  } catch (error) {
    if (error instanceof InvalidRequestError) return 'Please write the day like this: 2000-02-29';
    throw error;
  }
}

async function today({ guild_id }) {
  const now = new Date().toISOString().slice(5, 10);
  const names = [];
  for await (const { user_id, data } of lethe.data.valuesOfGuild({ guild_id, category: 'birthday' }))
    if (data?.day?.slice(5, 10) === now) names.push(`<@${user_id}>`);
  return names.length === 0 ? 'No one today.' : `Happy birthday, ${names.join(', ')}!`;
}

/** Without a consent: the owner of the server has a legitimate interest in it (Art. 6(1)(f)). */
async function warned({ guild_id, data: { options } }) {
  const { member: user_id, reason } = Object.fromEntries(options.map(({ name, value }) => [name, value]));
  const noted = () => `<@${user_id}> has ${warn({ user_id, guild_id, reason })} warnings.`;
  return lethe.withConsent({ user_id, guild_id }, 'warnings', noted).catch((error) => {
    // The member has objected to it, or restricted it. Which of them is not for the moderator.
    if (error.code === 'processing_refused') return `No warning can be stored about <@${user_id}>.`;
    throw error;
  });
}

const birthday = {
  ...{ name: 'birthday', description: 'Birthdays on this server', type: 1, contexts: [0] },
  options: [
    {
      ...{ type: 1, name: 'set', description: 'Save your birthday' },
      options: [{ type: 3, name: 'day', description: 'For example 2000-02-29', required: true }],
    },
    { type: 1, name: 'today', description: 'Whose birthday is today?' },
  ],
};
const MODERATE_MEMBERS = String(1n << 40n);
const warning = {
  ...{ name: 'warn', description: 'Warn a member', type: 1, contexts: [0] },
  default_member_permissions: MODERATE_MEMBERS,
  options: [
    { type: 6, name: 'member', description: 'Who is warned', required: true },
    { type: 3, name: 'reason', description: 'What for', required: true },
  ],
};

const server = createServer((request, response) => {
  void (request.url === '/gdpr' ? webhooks : interactions).node(request, response);
});
server.listen(Number(PORT));

const { id } = await rest.get('/oauth2/applications/@me');
await rest.putCommands(id, [interactions.privacy.command, birthday, warning]);
// Without a gateway no event says that the bot has left a guild: the guilds are compared at the start and each day.
const reconcile = () => reconcileGuilds({ lethe }, (path) => rest.get(path)).catch(console.error);
void reconcile();
setInterval(reconcile, DAY_MS).unref();
console.log('The bot is ready');

process.once('SIGTERM', async () => {
  await new Promise((closed) => server.close(closed));
  await interactions.settled();
  process.exit(); // A comparison of the guilds can take many minutes: the next start continues it.
});
