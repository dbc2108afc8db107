import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Lethe } from '@lethe/sdk';
import { discordPySeat, HAS_DISCORD_PY } from '../support/discord-py-seat';
import { type BotSeat, coreSeat } from '../support/discord-seats';
import { DiscordUser } from '../support/discord-user';
import { type DiscordComponent, type DiscordMessage, useFakeDiscord } from '../support/fake-discord';
import { useServiceInProcess } from '../support/service';
import { snowflake } from '../support/snowflakes';

// The conversation in both languages, as the documentation shows it. WRITE_TRANSCRIPTS=1 writes it anew.

const ROOT = join(__dirname, '../..');
const PUBLIC_URL = 'https://gdpr.bot.example';
const service = useServiceInProcess({ PUBLIC_URL });
const discord = useFakeDiscord();

const PAGES = { 'en-US': 'docs/discord.md', de: 'docs/discord/german.md' } as const;
const DESCRIPTIONS = { 'en-US': 'To congratulate you.', de: 'Um dir zu gratulieren.' };
const NOTICE = {
  public: true,
  controller_name: 'Kim Example',
  controller_address: 'Example Street 1, 10115 Berlin',
  recipients: [
    {
      ...{ name: 'Example Hosting GmbH', country: 'DE' },
      ...{ purpose_de: 'Betreibt die Server.', purpose_en: 'Runs the servers.' },
    },
    {
      ...{ name: 'Example Mail Inc.', country: 'US' },
      ...{ purpose_de: 'Verschickt die Glückwünsche.', purpose_en: 'Sends the congratulations.' },
      ...{ safeguards_de: 'Standardvertragsklauseln', safeguards_en: 'Standard contractual clauses' },
    },
  ],
  automated_decisions: 'none',
  authority_name: 'Berliner Beauftragte für Datenschutz und Informationsfreiheit',
  authority_url: 'https://www.datenschutz-berlin.de',
} as const;
const WORDS = {
  'en-US': {
    some: 'Agree to the selection (1)',
    choice: 'Birthday',
    all: 'Withdraw everything',
    restricting: ['Restrict …', 'Restrict everything', 'End a restriction …', 'End every restriction'],
    erase: 'Erase my data',
    file: 'file',
    off: 'off',
  },
  de: {
    some: 'Der Auswahl zustimmen (1)',
    choice: 'Geburtstag',
    all: 'Alles widerrufen',
    restricting: [
      ...['Einschränken …', 'Alles einschränken'],
      ...['Einschränkung aufheben …', 'Alle Einschränkungen aufheben'],
    ],
    erase: 'Meine Daten löschen',
    file: 'Datei',
    off: 'aus',
  },
};

/** A message in plain text: menus with their choices, buttons, files. */
function shown(
  { content, embeds, components, files }: DiscordMessage,
  words: (typeof WORDS)[keyof typeof WORDS],
): string {
  const [embed] = embeds;
  const parts = [content, embed?.title && `## ${embed.title}`, embed?.description];
  const rows = components.map((row) =>
    row.components.map((part) => componentText(part, words.off)).join(' '),
  );
  const names = Object.keys(files).map((name) => `(${words.file}) ${name}`);
  const text = [...parts, ...rows, ...names, embed?.footer?.text].filter(Boolean).join('\n\n');
  const steady = text.replace(/<t:\d+:[a-zA-Z]>/g, (time) =>
    time.endsWith(':t>') ? '12:05' : '2026-11-23 12:00',
  );
  return steady.replace(/^(?=.)/gm, '  ');
}

function componentText(
  { type, label, options = [], disabled, url, ...rest }: DiscordComponent,
  off: string,
): string {
  if (url !== undefined) return `[${label}: ${url.replace(/[^/]+$/, '…')}]`;
  if (type !== 3) return disabled === true ? `[${label}: ${off}]` : `[${label}]`;
  const { placeholder } = rest as { placeholder?: string };
  const choices = options.map((one) => `${one.default === true ? '(x)' : '( )'} ${one.label}`);
  return `${placeholder}: ${choices.join('  ')}`;
}

type Start = (lethe: Lethe, key: string) => Promise<BotSeat> | BotSeat;

async function conversation(locale: keyof typeof PAGES, start: Start): Promise<string> {
  discord.applicationId = snowflake();
  const bot = await service.registerBot({
    platform_bot_id: discord.applicationId,
    name: 'Birthday Bot',
    privacy_contact: 'privacy@bot.example',
  });
  const lethe = new Lethe({ url: service.url, key: bot.key });
  await lethe.categories.register({
    ...{
      key: 'birthday',
      label_de: 'Geburtstag',
      label_en: 'Birthday',
      description_de: DESCRIPTIONS.de,
      description_en: DESCRIPTIONS['en-US'],
      retention_days: 365,
    },
    fields: [{ key: 'day', type: 'date', label_de: 'Tag', label_en: 'Day' }],
  });
  await lethe.categories.register({
    ...{ key: 'statistics', label_de: 'Statistik', label_en: 'Statistics' },
    fields: [
      { key: 'messages', type: 'number', label_de: 'Zahl der Nachrichten', label_en: 'Number of messages' },
    ],
  });
  await lethe.bots.changeNoticeSettings(NOTICE);
  const seat = await start(lethe, bot.key);
  const robin = new DiscordUser({ discord, ...seat }, undefined, locale);
  const words = WORDS[locale];
  const lines: string[] = [];
  const note = (act: string, message: DiscordMessage): DiscordMessage => {
    lines.push(`Robin: ${act}`, `Bot:\n${shown(message, words)}`);
    return message;
  };
  const type = async (command: string) => note(`/privacy ${command}`, await robin.privacy(command));
  const press = async (message: DiscordMessage, label: string) =>
    note(`[${label}]`, await robin.press(message, label));
  await type('about');
  const asked = await type('consent');
  const chosen = note(`(x) ${words.choice}`, await robin.select(asked, [words.choice]));
  await press(chosen, words.some);
  const who = { user_id: robin.id, guild_id: robin.guildId ?? '' };
  await lethe.data.submit({ ...who, category: 'birthday', data: { day: '2000-02-29' } });
  await type('status');
  await type('page');
  await type('export');
  let refusing = await type('object');
  for (const label of words.restricting) refusing = await press(refusing, label);
  await press(await type('revoke'), words.all);
  await press(await type('forget'), words.erase);
  await seat.stop();
  return `\`\`\`text\n${lines.join('\n\n')}\n\`\`\``;
}

describe.each(['en-US', 'de'] as const)('the conversation in %s', (locale) => {
  it('is in the documentation as it is now (else: WRITE_TRANSCRIPTS=1)', async () => {
    const path = join(ROOT, PAGES[locale]);
    const now = await conversation(locale, (lethe) => coreSeat(discord, { lethe, publicUrl: PUBLIC_URL }));
    const page = readFileSync(path, 'utf8');
    const block = /```text\n[\s\S]*?\n```/;
    if (process.env['WRITE_TRANSCRIPTS'] !== undefined) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(
        path,
        page.replace(block, () => now),
      );
    }
    expect(block.exec(readFileSync(path, 'utf8'))?.[0]).toBe(now);
  });

  (HAS_DISCORD_PY ? it : it.skip)('is the same with lethe_discord, word by word', async () => {
    const told = await conversation(locale, (_, key) =>
      discordPySeat(discord, { url: service.url, key }, { public_url: PUBLIC_URL }),
    );
    expect(readFileSync(join(ROOT, PAGES[locale]), 'utf8')).toContain(told);
  });
});
