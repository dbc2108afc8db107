import {
  type Deliver,
  type DiscordComponent,
  type DiscordMessage,
  type FakeDiscord,
  type Payload,
  rawMessage,
} from './fake-discord';
import { snowflake } from './snowflakes';

interface Seat {
  readonly discord: FakeDiscord;
  readonly deliver: Deliver;
}

/** One user of Discord in one guild, who types commands and presses buttons. */
export class DiscordUser {
  readonly id: string;

  constructor(
    private readonly seat: Seat,
    readonly guildId: string | null = snowflake(),
    private readonly locale = 'en-US',
    id = snowflake(),
    /** What Discord says of the place where it is not a guild of the bot or a direct message to it. */
    private readonly place: object = {},
  ) {
    this.id = id;
  }

  /** Types `/privacy` with a subcommand. */
  privacy(subcommand: string, options: Readonly<Record<string, string>> = {}): Promise<DiscordMessage> {
    const given = Object.entries(options).map(([name, value]) => ({ type: 3, name, value }));
    return this.command('privacy', [{ type: 1, name: subcommand, options: given }]);
  }

  /** Types a command of the bot. */
  command(name: string, options: object[], more: object = {}): Promise<DiscordMessage> {
    const { discord, deliver } = this.seat;
    return discord.interact(
      deliver,
      this.payload({ type: 2, data: { id: snowflake(), type: 1, name, options, ...more } }),
    );
  }

  /** Types a command about another user. */
  commandAbout({ user }: DiscordUser, name: string, options: object[]): Promise<DiscordMessage> {
    return this.command(name, options, { resolved: { users: { [user.id]: user } } });
  }

  /** Presses the button with a label. */
  press(message: DiscordMessage, label: string): Promise<DiscordMessage> {
    const found = componentsOf(message).find((one) => one.label === label);
    if (found === undefined || found.disabled === true) throw new Error(`There is no button ${label}`);
    return this.send(message, found.custom_id);
  }

  /** Selects exactly these labels in a menu. */
  select(message: DiscordMessage, labels: readonly string[], menu = 0): Promise<DiscordMessage> {
    const found = componentsOf(message).filter(({ type }) => type === 3)[menu];
    const values = found?.options?.filter(({ label }) => labels.includes(label)).map(({ value }) => value);
    return this.send(message, found?.custom_id ?? '', values);
  }

  /** Sends the id of any component. */
  send(message: DiscordMessage, customId: string, values?: readonly string[]): Promise<DiscordMessage> {
    const { discord, deliver } = this.seat;
    const data = {
      custom_id: customId,
      component_type: values === undefined ? 2 : 3,
      ...(values && { values }),
    };
    const payload = this.payload({ type: 3, data, message: rawMessage(message) });
    return discord.interact(deliver, payload, message);
  }

  private get user() {
    return { id: this.id, username: 'robin', discriminator: '0', global_name: 'Robin', avatar: null };
  }

  private payload(given: object): Payload {
    const { user } = this;
    const member = {
      user,
      roles: [],
      permissions: '0',
      joined_at: '2026-01-01T00:00:00Z',
      deaf: false,
      mute: false,
      flags: 0,
    };
    const where =
      this.guildId === null
        ? { user, context: 1, authorizing_integration_owners: { 0: '0' } }
        : {
            ...{ guild_id: this.guildId, member, context: 0 },
            authorizing_integration_owners: { 0: this.guildId },
          };
    return {
      ...{ id: snowflake(), token: `token-${snowflake()}`, application_id: this.seat.discord.applicationId },
      ...{ version: 1, locale: this.locale, channel_id: '1', entitlements: [], app_permissions: '0' },
      ...{ attachment_size_limit: 10 * 1024 * 1024, ...where, ...this.place, ...given },
    };
  }
}

export const componentsOf = (message: DiscordMessage): DiscordComponent[] =>
  message.components.flatMap((row) => row.components);

/** The labels of the buttons. */
export const buttonsOf = (message: DiscordMessage): string[] =>
  componentsOf(message).flatMap(({ label }) => label ?? []);
