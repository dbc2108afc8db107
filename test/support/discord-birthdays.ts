import { DiscordUser } from './discord-user';
import type { Deliver, FakeDiscord } from './fake-discord';
import { until } from './until';

/** The life of a user with one of the example bots, which are all the same. `output` is what the bot has written. */
export async function playBirthdays(
  discord: FakeDiscord,
  deliver: Deliver,
  output: () => string,
): Promise<void> {
  expect(output()).not.toContain('Error');
  expect(discord.commands.map(({ name }) => name).sort()).toEqual(['birthday', 'privacy']);
  const robin = new DiscordUser({ discord, deliver });
  const option = (value: string) => [{ type: 1, name: 'set', options: [{ type: 3, name: 'day', value }] }];
  const day = new Date().toISOString().slice(0, 10);
  const asked = await robin.command('birthday', option(day));
  await robin.press(asked, 'I agree');
  expect((await robin.command('birthday', option('tomorrow'))).content).toContain('like this');
  expect((await robin.command('birthday', option(day))).content).toBe('Your birthday is saved.');
  const today = await robin.command('birthday', [{ type: 1, name: 'today', options: [] }]);
  expect(today.content).toBe(`Happy birthday, <@${robin.id}>!`);
  expect((await robin.privacy('export')).files['privacy-export.json']).toContain(day);
  await robin.press(await robin.privacy('revoke'), 'Withdraw everything');
  await robin.press(await robin.privacy('forget'), 'Erase my data');
  await until(() => output().includes('A user was erased') && output().includes('A consent was withdrawn'));
  expect(output()).not.toContain('Error');
}
