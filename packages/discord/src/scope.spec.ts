import { commandOf } from './commands';
import { askedOf, DIRECT_MESSAGES, scopeOf } from './index';

const [GUILD, OTHER, USER] = ['223456789012345678', '323456789012345678', '123456789012345678'];

/** What Discord says of an interaction, and where it is filed. `clients/python` has the same table. */
const PLACES: readonly (readonly [string, object, string])[] = [
  ['a guild of the bot', { guild_id: GUILD, authorizing_integration_owners: { 0: GUILD } }, GUILD],
  [
    'a guild of the bot, for a user who has the app too',
    { guild_id: GUILD, authorizing_integration_owners: { 0: GUILD, 1: USER } },
    GUILD,
  ],
  ['a guild, by an interface that says neither who has the app nor the context', { guild_id: GUILD }, GUILD],
  [
    'a guild, where both are null',
    { guild_id: GUILD, authorizing_integration_owners: null, context: null },
    GUILD,
  ],
  [
    'a guild, where no one has the app, without a context',
    { guild_id: GUILD, authorizing_integration_owners: {} },
    GUILD,
  ],
  [
    'a guild with a context, where it is not said who has the app',
    { guild_id: GUILD, context: 0 },
    DIRECT_MESSAGES,
  ],
  [
    'a foreign guild, for a user who has the app',
    { guild_id: GUILD, authorizing_integration_owners: { 1: USER } },
    DIRECT_MESSAGES,
  ],
  [
    'a foreign guild of which the user is the administrator',
    {
      ...{ guild_id: GUILD, authorizing_integration_owners: { 1: USER } },
      member: { user: { id: USER }, permissions: '8' },
    },
    DIRECT_MESSAGES,
  ],
  [
    'a guild with a context, where no one has the app',
    { guild_id: GUILD, authorizing_integration_owners: {}, context: 0 },
    DIRECT_MESSAGES,
  ],
  [
    'a guild, where another one has the app',
    { guild_id: GUILD, authorizing_integration_owners: { 0: OTHER } },
    DIRECT_MESSAGES,
  ],
  [
    'a guild, where a direct message has the app',
    { guild_id: GUILD, authorizing_integration_owners: { 0: '0' } },
    DIRECT_MESSAGES,
  ],
  [
    'a direct message to the bot',
    { context: 1, authorizing_integration_owners: { 0: '0' } },
    DIRECT_MESSAGES,
  ],
  [
    'a private channel, for a user who has the app',
    { context: 2, authorizing_integration_owners: { 1: USER } },
    DIRECT_MESSAGES,
  ],
  ['a direct message, by a library that does not say who has the app', {}, DIRECT_MESSAGES],
  ['a direct message with a guild that is null', { guild_id: null }, DIRECT_MESSAGES],
];

describe('an interaction', () => {
  it.each(PLACES)('in %s is filed under one guild, in every form', (_, place, expected) => {
    const raw = place as {
      guild_id?: string | null;
      authorizing_integration_owners?: object;
      context?: number;
    };
    expect(scopeOf(raw)).toBe(expected);
    const { guild_id: guild = null, authorizing_integration_owners: owners, context } = raw;
    expect(scopeOf({ guildId: guild, authorizingIntegrationOwners: owners, context })).toBe(expected);
    const sent = {
      id: '1',
      application_id: '1',
      type: 2,
      token: 't',
      user: { id: USER },
      data: { name: 'x' },
    };
    expect(askedOf({ ...sent, ...place })?.guildId ?? DIRECT_MESSAGES).toBe(expected);
  });
});

describe('the declaration of /privacy', () => {
  it('is for guilds and direct messages, and with userInstall for users who have the app everywhere', () => {
    const declared = ({ contexts, integration_types }: ReturnType<typeof commandOf>) => [
      contexts,
      integration_types,
    ];
    expect(declared(commandOf())).toEqual([[0, 1], undefined]);
    expect(declared(commandOf(undefined, true))).toEqual([
      [0, 1, 2],
      [0, 1],
    ]);
  });
});
