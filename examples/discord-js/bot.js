import { createServer } from 'node:http';
import { ConsentRequiredError, createWebhookHandler, InvalidRequestError, Lethe } from '@lethe/sdk';
import { DIRECT_MESSAGES, scopeOf } from '@lethe/discord';
import { DiscordJsPrivacy } from '@lethe/discord/discord-js';
import { Client, Events, GatewayIntentBits, PermissionFlagsBits, SlashCommandBuilder } from 'discord.js';
import { hold, warn } from './database.js';

const { DISCORD_TOKEN, DISCORD_API, LETHE_URL, LETHE_KEY, LETHE_WEBHOOK_SECRET, PORT = '8080' } = process.env;

const lethe = new Lethe({ url: LETHE_URL, key: LETHE_KEY });
const privacy = new DiscordJsPrivacy({ lethe, onError: console.error });
const client = new Client({
  intents: [GatewayIntentBits.Guilds],
  // An export is a file, which takes longer than 15 seconds on a slow line.
  rest: { timeout: 150_000, ...(DISCORD_API && { api: DISCORD_API }) },
});

const day = (option) => option.setName('day').setDescription('For example 2000-02-29').setRequired(true);
const birthday = new SlashCommandBuilder()
  .setName('birthday')
  .setDescription('Birthdays on this server')
  .setContexts(0)
  .addSubcommand((set) => set.setName('set').setDescription('Save your birthday').addStringOption(day))
  .addSubcommand((today) => today.setName('today').setDescription('Whose birthday is today?'));
const warning = new SlashCommandBuilder()
  .setName('warn')
  .setDescription('Warn a member')
  .setContexts(0)
  .setDefaultMemberPermissions(PermissionFlagsBits.ModerateMembers)
  .addUserOption((member) => member.setName('member').setDescription('Who is warned').setRequired(true))
  .addStringOption((reason) => reason.setName('reason').setDescription('What for').setRequired(true));

client.once(Events.ClientReady, async (ready) => {
  await privacy.putCommands(ready, [birthday.toJSON(), warning.toJSON()]);
  console.log(`${ready.user.username} is ready`);
});
privacy.watchGuilds(client);

// What a listener rejects is an error of the client, which ends a bot that does not listen to it.
client.on(Events.Error, console.error);
client.on(Events.InteractionCreate, async (interaction) => {
  if (await privacy.handleInteraction(interaction)) return;
  if (!interaction.isChatInputCommand()) return;
  const { commandName, options } = interaction;
  const act = commandName === 'warn' ? warned : options.getSubcommand() === 'set' ? save : today;
  // A user who has installed the bot on their account uses it also in servers that it is not in.
  const isForeign = scopeOf(interaction) === DIRECT_MESSAGES;
  const run = async () => (isForeign ? 'Please have this bot added to the server first.' : act(interaction));
  try {
    await interaction.deferReply({ flags: 'Ephemeral' });
    await interaction.editReply(await run());
  } catch (error) {
    if (error instanceof ConsentRequiredError) return privacy.ask(interaction, run);
    // Reports it. A user who has objected or restricted reads that, in their language.
    await privacy.failed(interaction, error);
  }
});

async function save({ user, guildId, options }) {
  const data = { day: options.getString('day') };
  try {
    await lethe.data.submit({ user_id: user.id, guild_id: guildId, category: 'birthday', data });
    return 'Your birthday is saved.';
  } catch (error) {
    if (error instanceof InvalidRequestError) return 'Please write the day like this: 2000-02-29';
    throw error;
  }
}

async function today({ guildId }) {
  const now = new Date().toISOString().slice(5, 10);
  const names = [];
  const given = { guild_id: guildId, category: 'birthday' };
  for await (const { user_id, data } of lethe.data.valuesOfGuild(given))
    if (data?.day?.slice(5, 10) === now) names.push(`<@${user_id}>`);
  return names.length === 0 ? 'No one today.' : `Happy birthday, ${names.join(', ')}!`;
}

/** Without a consent: the owner of the server has a legitimate interest in it (Art. 6(1)(f)). */
async function warned({ guildId: guild_id, options }) {
  const who = { user_id: options.get('member', true).value, guild_id };
  const warning = { ...who, reason: options.getString('reason', true) };
  const noted = () => `<@${who.user_id}> has ${warn(warning)} warnings.`;
  return lethe.withConsent(who, 'warnings', noted).catch((error) => {
    // The member has objected to it, or restricted it. Which of them is not for the moderator.
    if (error.code === 'processing_refused') return `No warning can be stored about <@${who.user_id}>.`;
    throw error;
  });
}

const holder = await hold(lethe);
// The calls of Lethe. An erasure is done in the bot's own database at once, and not only within a minute.
const webhooks = createWebhookHandler({
  secrets: LETHE_WEBHOOK_SECRET,
  lethe,
  on: {
    user_forgotten: () => {
      holder.wake();
      console.log('A user was erased');
    },
    consent_revoked: () => console.log('A consent was withdrawn'),
  },
  onError: console.error,
});
createServer(webhooks.node).listen(Number(PORT));

await client.login(DISCORD_TOKEN);
