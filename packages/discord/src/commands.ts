import { LIMITS, cut } from './reply';
import { type Texts, type TextTable, wordsFor } from './texts';

/** The languages of Discord's client. It refuses others in a declaration. */
const LOCALES = (
  'id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th ' +
  'zh-CN ja zh-TW ko'
).split(' ');

const [SUBCOMMAND, STRING] = [1, 3] as const;
const [GUILD, BOT_DM, PRIVATE_CHANNEL] = [0, 1, 2] as const;
const [BY_GUILD, BY_USER] = [0, 1] as const;

interface Described {
  readonly name: string;
  readonly description: string;
  readonly description_localizations: Record<string, string>;
}

interface Choice {
  readonly name: string;
  readonly name_localizations: Record<string, string>;
  readonly value: string;
}

/** A command as Discord's interface takes it. */
export interface CommandData extends Described {
  readonly type: 1;
  readonly contexts: (0 | 1 | 2)[];
  readonly integration_types?: (0 | 1)[];
  readonly options: (Described & {
    readonly type: 1;
    readonly options?: (Described & { readonly type: 3; readonly choices: Choice[] })[];
  })[];
}

export const SUBCOMMANDS = [
  'about',
  'consent',
  'status',
  'page',
  'export',
  'revoke',
  'forget',
  'object',
] as const;

const WITH_WHERE: readonly string[] = ['page', 'export', 'forget'];

/** The declaration of `/privacy`; with `userInstall` also for users who have installed the app themselves. */
export function commandOf(table?: TextTable, userInstall = false): CommandData {
  const english = wordsFor('en', table);
  // A locale is listed where the table has its language.
  const others = LOCALES.map((locale) => ({ locale, words: wordsFor(locale, table) })).filter(
    ({ locale, words }) => words.language !== english.language && sameLanguage(locale, words.language),
  );
  const translated = (key: keyof Texts) =>
    Object.fromEntries(others.map(({ locale, words }) => [locale, cut(words.say(key), LIMITS.label)]));
  const described = (name: string, key: keyof Texts): Described => ({
    ...{ name, description: cut(english.say(key), LIMITS.label) },
    description_localizations: translated(key),
  });
  const choice = (value: string, key: keyof Texts): Choice => ({
    ...{ value, name: cut(english.say(key), LIMITS.label), name_localizations: translated(key) },
  });
  const where = {
    ...described('where', 'option_where'),
    type: STRING,
    choices: [choice('here', 'where_here'), choice('everywhere', 'where_everywhere')],
  };
  return {
    ...described('privacy', 'command'),
    type: 1,
    ...(userInstall
      ? { contexts: [GUILD, BOT_DM, PRIVATE_CHANNEL], integration_types: [BY_GUILD, BY_USER] }
      : { contexts: [GUILD, BOT_DM] }),
    options: SUBCOMMANDS.map((name) => ({
      ...described(name, `command_${name}`),
      type: SUBCOMMAND,
      ...(WITH_WHERE.includes(name) && { options: [where] }),
    })),
  };
}

const sameLanguage = (one: string, other: string): boolean => one.split('-')[0] === other.split('-')[0];
