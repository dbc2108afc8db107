import { requireNumber } from '@lethe/sdk';
import type {
  ButtonInteraction,
  ChatInputCommandInteraction,
  Client,
  Interaction,
  RepliableInteraction,
  StringSelectMenuInteraction,
} from 'discord.js';
import { type Asked, EPHEMERAL } from '../asked';
import type { CommandData } from '../commands';
import type { Get, GuildOptions, Reconciled } from '../guilds';
import { GuildWatch } from '../guild-watch';
import { Privacy, type PrivacyOptions } from '../privacy';
import { leavesFiles, type Reply, sent } from '../reply';
import { guildOf } from '../scope';
import type { Then } from '../waiting';

const GRACE_DAYS_MAX = 90;

type OfPrivacy = ChatInputCommandInteraction | ButtonInteraction | StringSelectMenuInteraction;

export interface DiscordJsOptions extends PrivacyOptions, Omit<GuildOptions, 'lethe'> {}

/** `/privacy` for a bot with discord.js 14. */
export class DiscordJsPrivacy {
  readonly privacy: Privacy;
  private readonly guilds: GuildWatch;

  constructor(options: DiscordJsOptions) {
    // The service would refuse it when the bot leaves a guild.
    requireNumber('graceDays', options.graceDays, 0, GRACE_DAYS_MAX);
    this.privacy = new Privacy(options);
    this.guilds = new GuildWatch(options, (error) => this.privacy.report(error));
  }

  /** Answers `/privacy` and its buttons. Answers false, and does nothing, for every other interaction. */
  readonly handleInteraction = async (interaction: Interaction): Promise<boolean> => {
    if (!canBeOfPrivacy(interaction)) return false;
    const asked = askedOf(interaction);
    if (!this.privacy.handles(asked)) return false;
    await this.answered(interaction, asked, () => this.privacy.reply(asked));
    return true;
  };

  /** Asks the user of an interaction of your own, also of a context menu or form, for consent, and continues by `then`. Only this user sees it. */
  async ask(interaction: RepliableInteraction, then?: Then): Promise<void> {
    const asked = askedOf(interaction);
    await this.answered(interaction, asked, () => this.privacy.ask(asked, then));
  }

  /** Answers an interaction of your own that failed by `error`, which is reported. A user who has objected or restricted reads that. */
  async failed(interaction: RepliableInteraction, error: unknown): Promise<void> {
    const asked = askedOf(interaction);
    await this.answered(interaction, asked, async () => this.privacy.failed(asked, error));
  }

  /** Declares `/privacy` and the other commands of the bot. Commands that are not listed are removed. */
  async putCommands(client: Client<true>, others: readonly object[] = [], guildId?: string): Promise<void> {
    const commands: (CommandData | object)[] = [this.privacy.command, ...others];
    const guild = guildId === undefined ? '' : `/guilds/${guildId}`;
    await client.rest.put(`/applications/${client.application.id}${guild}/commands`, { body: commands });
  }

  /**
   * Follows the guilds of the bot: the data of one that it has left is erased after the days of grace. What happened
   * while the bot did not run is found at its start, what else was lost each day. What the service does not take is tried
   * again until it does, or until the client is destroyed.
   */
  watchGuilds(client: Client): void {
    const get = getOf(client);
    client.on('guildCreate', ({ id }) => this.guilds.joined(id, get));
    client.on('guildDelete', ({ id }) => this.guilds.left(id, get));
    const start = (ready: Client): void => this.guilds.start(() => this.reconcileGuilds(ready));
    client.on('clientReady', start);
    if (client.isReady()) start(client);
    // No event says that a client ends.
    const destroy = client.destroy.bind(client);
    client.destroy = () => {
      this.guilds.stop();
      return destroy();
    };
  }

  /** Compares the guilds of the bot with those of the service. */
  reconcileGuilds(client: Client): Promise<Reconciled> {
    return this.guilds.reconcile(getOf(client));
  }

  /** Defers at once, since Discord waits three seconds, and answers when the service has answered. */
  private async answered(
    interaction: RepliableInteraction,
    asked: Asked,
    answer: () => Promise<Reply>,
  ): Promise<void> {
    let reply: Reply | undefined;
    try {
      if (interaction.deferred || interaction.replied) {
        reply = await answer();
        await this.add(interaction, asked, reply);
      } else {
        if (asked.act.kind === 'component' && asked.act.isPrivate && this.privacy.handles(asked))
          await (interaction as ButtonInteraction).deferUpdate();
        else await interaction.deferReply({ flags: EPHEMERAL });
        reply = await answer();
        await this.edit(interaction, asked, reply);
      }
    } catch (error) {
      this.privacy.report(error);
    }
    // Also where Discord did not take the message: the consent is recorded.
    const following = await reply?.following?.();
    if (following === undefined) return;
    const message = { ...messageOf(following), flags: EPHEMERAL } as const;
    await interaction.followUp(message).catch((error) => this.privacy.report(error));
  }

  private edit(interaction: RepliableInteraction, asked: Asked, reply: Reply): Promise<void> {
    return this.sent(asked, reply, (message) => interaction.editReply(editOf(message)));
  }

  private sent(asked: Asked, reply: Reply, send: (reply: Reply) => Promise<unknown>): Promise<void> {
    return sent(reply, send, (error) => this.privacy.failed(asked, error));
  }

  /** Answers an interaction that the bot has answered itself. */
  private async add(interaction: RepliableInteraction, asked: Asked, reply: Reply): Promise<void> {
    if (interaction.ephemeral === true) return this.edit(interaction, asked, reply);
    // Discord puts the first message after a public deferral in its place, for everybody to see. A public answer is left
    // as it is, and so is the message of a button or menu, of which `ephemeral` says nothing.
    if (interaction.ephemeral === false && !interaction.replied) await interaction.deleteReply();
    const send = (message: Reply) => interaction.followUp({ ...messageOf(message), flags: EPHEMERAL });
    await this.sent(asked, reply, send);
  }
}

const getOf =
  ({ rest }: Client): Get =>
  (path) =>
    rest.get(path as `/${string}`);

const canBeOfPrivacy = (interaction: Interaction): interaction is OfPrivacy =>
  interaction.isChatInputCommand() || interaction.isButton() || interaction.isStringSelectMenu();

function askedOf(interaction: RepliableInteraction): Asked {
  const { id, user, locale, attachmentSizeLimit: fileMaxBytes } = interaction;
  const shared = {
    id,
    userId: user.id,
    guildId: guildOf(interaction),
    locale,
    ...(fileMaxBytes && { fileMaxBytes }),
  };
  if (interaction.isChatInputCommand()) {
    const { commandName: name, options } = interaction;
    const subcommand = options.getSubcommand(false) ?? undefined;
    const given = subcommand === undefined ? options.data : (options.data[0]?.options ?? []);
    const values = Object.fromEntries(given.map((option) => [option.name, option.value]));
    return { ...shared, act: { kind: 'command', name, ...(subcommand && { subcommand }), options: values } };
  }
  // A command of a context menu.
  if (interaction.isCommand())
    return { ...shared, act: { kind: 'command', name: interaction.commandName, options: {} } };
  const { customId, message } = interaction;
  const values = interaction.isStringSelectMenu() ? interaction.values : [];
  // A message of a channel that is not cached is as it was sent, and its flags a number. The form of a command has none.
  const isPrivate = (Number(message?.flags) & EPHEMERAL) !== 0;
  return { ...shared, act: { kind: 'component', customId, values, isPrivate } };
}

const messageOf = ({ content, embeds, components, files, isNote }: Reply) => ({
  ...{ content, ...(isNote !== true && { embeds, components }), allowedMentions: { parse: [] } },
  files: files.map(({ name, data }) => ({ name, attachment: Buffer.from(data) })),
});

/** What replaces a message: its files are removed, unless the reply leaves them. */
function editOf(reply: Reply) {
  const { files, ...message } = messageOf(reply);
  return leavesFiles(reply) ? message : { ...message, files, attachments: [] };
}
