import { SqliteDatabase as Database } from '@app/database';
import { DiscordUser } from './discord-user';
import type { Deliver, FakeDiscord } from './fake-discord';
import { until } from './until';

/**
 * The life of a user with one of the example bots, which are all the same. `output` is what the bot has written, `database` is
 * its own.
 */
export async function playBirthdays(
  discord: FakeDiscord,
  deliver: Deliver,
  output: () => string,
  database: string,
): Promise<void> {
  expect(output()).not.toContain('Error');
  expect(discord.commands.map(({ name }) => name).sort()).toEqual(['birthday', 'privacy', 'warn']);
  const robin = new DiscordUser({ discord, deliver });
  const option = (value: string) => [{ type: 1, name: 'set', options: [{ type: 3, name: 'day', value }] }];
  const utcDay = (): string => new Date().toISOString().slice(0, 10);
  const moderator = new DiscordUser({ discord, deliver }, robin.guildId);
  const warn = async (member: DiscordUser, reason: string) => {
    const options = [
      { type: 6, name: 'member', value: member.id },
      { type: 3, name: 'reason', value: reason },
    ];
    return (await moderator.commandAbout(member, 'warn', options)).content;
  };
  expect([await warn(robin, 'spam'), await warn(robin, 'noise')]).toEqual(
    [1, 2].map((count) => `<@${robin.id}> has ${count} warnings.`),
  );
  expect(warningsIn(database, robin)).toBe(2);

  // What the bot stores without a consent is declared, and an objection to it is heeded.
  const [about] = (await robin.privacy('about')).embeds;
  expect(about?.description).toMatch(/\*\*Warnings\*\*\n[^]*legitimate interest/);
  const kim = new DiscordUser({ discord, deliver }, robin.guildId);
  const which = await kim.press(await kim.privacy('object'), 'Object …');
  await kim.press(await kim.select(which, ['Warnings']), 'Object and erase');
  expect(await warn(kim, 'spam')).toBe(`No warning can be stored about <@${kim.id}>.`);
  expect(warningsIn(database, kim)).toBe(0);

  let day = utcDay();
  const asked = await robin.command('birthday', option(day));
  await robin.press(asked, 'I agree');
  await until(() => discord.last?.content === 'Your birthday is saved.');
  expect((await robin.command('birthday', option('tomorrow'))).content).toContain('like this');
  let today: string | undefined;
  // Once more if the day ends meanwhile.
  do {
    day = utcDay();
    expect((await robin.command('birthday', option(day))).content).toBe('Your birthday is saved.');
    today = (await robin.command('birthday', [{ type: 1, name: 'today', options: [] }])).content;
  } while (utcDay() !== day);
  expect(today).toBe(`Happy birthday, <@${robin.id}>!`);
  expect((await robin.privacy('export')).files['privacy-export.json']).toContain(day);
  await robin.press(await robin.privacy('revoke'), 'Withdraw everything');
  await robin.press(await robin.privacy('forget'), 'Erase my data');
  await until(() => output().includes('A user was erased') && output().includes('A consent was withdrawn'));
  await until(() => warningsIn(database, robin) === 0);
  expect(output()).not.toContain('Error');
}

function warningsIn(file: string, { id }: DiscordUser): unknown {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare('SELECT count(*) FROM warnings WHERE user_id = ?').pluck().get(id);
  } finally {
    database.close();
  }
}
