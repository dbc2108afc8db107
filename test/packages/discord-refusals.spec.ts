import { itInPart } from '../support/depth';
import type { PrivacyOptions } from '@lethe/discord';
import { ProcessingRefusedError } from '@lethe/sdk';
import { agreed, categoryOf, discordBot, idsOf, KITS, readAll, stopBots } from '../support/discord-bot';
import { coreSeat, httpSeat } from '../support/discord-seats';
import { buttonsOf, componentsOf, DiscordUser } from '../support/discord-user';
import { type DiscordMessage, useFakeDiscord } from '../support/fake-discord';
import { useServiceInProcess } from '../support/service';

// Objections (GDPR Art. 21) and restrictions (Art. 18) in the conversation, on the real service.

const service = useServiceInProcess();
const discord = useFakeDiscord();
afterEach(stopBots);

const based = (key: string, label: string, legal_basis: string) => ({
  ...categoryOf(key, label),
  legal_basis,
});
const BASED = [
  based('birthday', 'Birthday', 'consent'),
  based('statistics', 'Statistics', 'legitimate_interests'),
  based('duty', 'Duty', 'public_task'),
];
const textOf = ({ embeds }: DiscordMessage): string => embeds[0]?.description ?? '';
const optionsOf = (message: DiscordMessage): string[] =>
  componentsOf(message).flatMap(({ options = [] }) => options.map(({ label }) => label));

describe.each(KITS)('%s', (kit) => {
  const bot = async (given?: Partial<PrivacyOptions>, categories: readonly object[] = BASED) => {
    const made = await discordBot({ service, discord, kit }, categories, given);
    const stored = (user: DiscordUser, category: string) =>
      made.lethe.data.submit({ ...idsOf(user), category, data: { value: 'x' } });
    const inForce = async (user: DiscordUser) => {
      const { objections, restrictions } = await made.lethe.data.refusals(idsOf(user));
      return [objections, restrictions].map((of) => of.map(({ category }) => category));
    };
    return { ...made, stored, inForce };
  };
  const inTypeScript = kit === '@lethe/discord' ? it : it.skip;
  const choosing = async (user: DiscordUser, label: string) =>
    user.press(await user.privacy('object'), label);

  describe('/privacy object', () => {
    itInPart('says that nothing is in force, and offers what the user can do', async () => {
      const { user, errors } = await bot();
      const message = await user().privacy('object');
      expect(message.embeds[0]?.title).toBe('Objection and restriction');
      expect(textOf(message)).toMatch(/^You have not objected to anything here[^]*Art\. 18[^]*Art\. 21/);
      expect(textOf(message)).toContain('one to everything only when you erase everything.');
      expect(buttonsOf(message)).toEqual(['Restrict …', 'Object …']);
      expect(errors).toEqual([]);
    });

    itInPart('restricts everything, and ends it', async () => {
      const { user, stored, inForce, errors } = await bot();
      const robin = user();
      await agreed(robin);
      const done = await robin.press(await choosing(robin, 'Restrict …'), 'Restrict everything');
      expect(done.content).toMatch(/^Your restriction is recorded\./);
      expect(textOf(done)).toMatch(/^• Restricted since <t:\d+:f>: everything\n/);
      expect(buttonsOf(done)).toEqual(['End a restriction …', 'Object …']);
      await expect(stored(robin, 'birthday')).rejects.toMatchObject({ reason: 'restriction' });
      const ended = await robin.press(await choosing(robin, 'End a restriction …'), 'End every restriction');
      expect(ended.content).toBe('The restriction has ended.');
      expect(await inForce(robin)).toEqual([[], []]);
      await stored(robin, 'birthday');
      expect(errors).toEqual([]);
    });

    itInPart('restricts one category, and says what is still in force after its end', async () => {
      const { user, inForce } = await bot();
      const robin = user('de');
      const which = await choosing(robin, 'Einschränken …');
      expect(optionsOf(which)).toEqual(['Birthday (de)', 'Statistics (de)', 'Duty (de)']);
      const one = await robin.select(which, ['Statistics (de)']);
      expect(textOf(one)).toMatch(/^• Eingeschränkt seit <t:\d+:f>: Statistics \(de\)\n/);
      expect(optionsOf(await robin.press(one, 'Einschränken …'))).toEqual(['Birthday (de)', 'Duty (de)']);
      await robin.press(await robin.press(one, 'Einschränken …'), 'Alles einschränken');
      expect(await inForce(robin)).toEqual([[], [null, 'statistics']]);
      const left = await robin.select(await choosing(robin, 'Einschränkung aufheben …'), ['Statistics (de)']);
      expect(left.content).toBe(
        'Die Einschränkung ist aufgehoben.\nDie Einschränkung von allem gilt weiter.',
      );
      expect(textOf(left)).toMatch(/^• Eingeschränkt seit <t:\d+:f>: alles\n/);
      expect(await inForce(robin)).toEqual([[], [null]]);
    });

    itInPart('objects to a category only after a confirmation, and erases it', async () => {
      const { lethe, user, stored, inForce, errors } = await bot();
      const robin = user();
      await agreed(robin);
      for (const key of ['birthday', 'statistics']) await stored(robin, key);
      const which = await choosing(robin, 'Object …');
      expect(optionsOf(which)).toEqual(['Statistics', 'Duty']);
      const sure = await robin.select(which, ['Statistics']);
      expect(sure.content).toMatch(
        /^Object to the processing: Statistics\?[^]*cannot be undone[^]*works until <t:\d+:t>/,
      );
      expect((await robin.press(sure, 'Keep my data')).content).toMatch(/^This button erases nothing\./);
      expect(await inForce(robin)).toEqual([[], []]);
      expect(Object.keys((await lethe.data.values(idsOf(robin))).values)).toContain('statistics');
      const done = await robin.press(sure, 'Object and erase');
      expect(done.content).toMatch(/^Your objection is recorded\.[^]*keeps elsewhere are not affected\.$/);
      expect(textOf(done)).toMatch(/^• Objected on <t:\d+:f>: Statistics\n/);
      expect(Object.keys((await lethe.data.values(idsOf(robin))).values)).toEqual(['birthday']);
      await expect(stored(robin, 'statistics')).rejects.toBeInstanceOf(ProcessingRefusedError);
      expect(errors).toEqual([]);
    });

    itInPart('objects to everything that can be objected to, and then offers no more of it', async () => {
      const { user, inForce } = await bot();
      const robin = user();
      const sure = await robin.press(await choosing(robin, 'Object …'), 'Object to everything');
      expect(sure.content).toMatch(/^Object to the processing: everything that you can object to\?/);
      const done = await robin.press(sure, 'Object and erase');
      expect(await inForce(robin)).toEqual([[null], []]);
      expect(textOf(done)).toMatch(/^• Objected on <t:\d+:f>: everything that you can object to\n/);
      expect(textOf(done)).toContain('You can object to nothing more here');
      expect(buttonsOf(done)).toEqual(['Restrict …']);
    });

    itInPart('offers no objection where no category has such a legal basis', async () => {
      const { user } = await bot({}, [categoryOf('birthday', 'Birthday')]);
      const message = await user().privacy('object');
      expect(textOf(message)).toContain('You can object to nothing here: nothing that this bot has');
      expect(buttonsOf(message)).toEqual(['Restrict …']);
    });

    itInPart('is about the user who presses, whoever the message was for', async () => {
      const { user, inForce } = await bot();
      const robin = user();
      const kim = user('en-US', robin.guildId);
      const sure = await robin.press(await choosing(robin, 'Object …'), 'Object to everything');
      await kim.press(sure, 'Object and erase');
      expect([await inForce(robin), await inForce(kim)]).toEqual([
        [[], []],
        [[null], []],
      ]);
    });

    inTypeScript('has a confirmation that expires', async () => {
      let nowMs = Date.now();
      const { user, inForce } = await bot({ now: () => nowMs, confirmSeconds: 60 });
      const robin = user();
      const sure = await robin.press(await choosing(robin, 'Object …'), 'Object to everything');
      nowMs += 61_000;
      expect((await robin.press(sure, 'Object and erase')).content).toContain(
        'The button has expired and erases nothing any more.',
      );
      for (const forged of ['lethe1:j:?:all', 'lethe1:j', 'lethe1:j::all'])
        expect((await robin.send(sure, forged)).content).toContain(
          'The button has expired and erases nothing any more.',
        );
      expect(await inForce(robin)).toEqual([[], []]);
    });

    itInPart('records nothing for a category that is another one by now', async () => {
      const { lethe, user, inForce } = await bot();
      const robin = user();
      const which = await choosing(robin, 'Object …');
      const [sure, other] = [await robin.select(which, ['Statistics']), await robin.select(which, ['Duty'])];
      // First, since a failure has everything read anew.
      await lethe.categories.delete('duty');
      await lethe.categories.register(BASED[2] as ReturnType<typeof categoryOf>);
      expect((await robin.press(other, 'Object and erase')).content).toContain('Nothing was recorded');
      await lethe.categories.change({ key: 'statistics', legal_basis: 'consent' });
      expect((await robin.press(sure, 'Object and erase')).content).toContain('Nothing was recorded');
      expect(
        (await robin.send(which, componentsOf(which)[0]?.custom_id ?? '', ['unknown'])).content,
      ).toContain('Nothing was recorded');
      const limits = await choosing(robin, 'Restrict …');
      expect(
        (await robin.send(limits, componentsOf(limits)[0]?.custom_id ?? '', ['unknown'])).content,
      ).toContain('Nothing was recorded');
      expect(await inForce(robin)).toEqual([[], []]);
    });

    itInPart('says whom to ask where the key of the bot may not erase', async () => {
      const scopes = ['read', 'write'] as ('read' | 'write')[];
      const { lethe, user, errors } = await discordBot({ service, discord, kit, scopes }, BASED);
      const robin = user();
      const sure = await robin.press(await choosing(robin, 'Object …'), 'Object to everything');
      expect((await robin.press(sure, 'Object and erase')).content).toBe(
        'This bot cannot record that here. Nothing was changed. Please ask privacy@bot.example.',
      );
      expect(errors).toHaveLength(1);
      await robin.press(await choosing(robin, 'Restrict …'), 'Restrict everything');
      const { objections, restrictions } = await lethe.data.refusals(idsOf(robin));
      expect([objections.length, restrictions.length]).toEqual([0, 1]);
    });

    itInPart('keeps the limits of Discord with 100 categories of long names', async () => {
      const long = (at: number) => `${'Ärger 🎂 '.repeat(100)}${at}`;
      const many = Array.from({ length: 100 }, (_, at) => based(`category_${at}`, long(at), 'public_task'));
      const { lethe, user, errors } = await bot({}, many);
      const robin = user();
      const menus = componentsOf(await choosing(robin, 'Object …')).filter(({ type }) => type === 3);
      expect(menus.map(({ options = [] }) => options.length)).toEqual([25, 25, 25, 25]);
      for (let at = 0; at < 100; at++)
        await lethe.data.restrict({ ...idsOf(robin), category: `category_${at}` });
      const { pages, text } = await readAll(robin, await robin.privacy('object'));
      expect(pages.length).toBeGreaterThan(1);
      expect(text.match(/Restricted since/g)).toHaveLength(100);
      await readAll(robin, await robin.privacy('status'));
      const ending = await robin.press(pages[0] as DiscordMessage, 'End a restriction …');
      expect(optionsOf(ending)).toHaveLength(100);
      expect(errors).toEqual([]);
    });
  });

  describe('/privacy status', () => {
    itInPart('shows what is in force, also of a user without a consent', async () => {
      const { lethe, user } = await bot();
      const robin = user();
      await lethe.data.restrict(idsOf(robin));
      expect(textOf(await robin.privacy('status'))).toMatch(
        /^You have given no consent, and no request waits[^]*\n\n• Restricted since <t:\d+:f>: everything$/,
      );
      await agreed(robin);
      await lethe.data.object({ ...idsOf(robin), category: 'duty' });
      expect(textOf(await robin.privacy('status'))).toMatch(
        /• Duty: agreed\n\n• Restricted since <t:\d+:f>: everything\n• Objected on <t:\d+:f>: Duty$/,
      );
    });
  });
});

describe('a command that the service refuses for an objection or restriction', () => {
  const WORDS = {
    objection: /^Your command needs data to whose processing you have objected\./,
    restriction: /^Your command needs data whose processing you have restricted\./,
  };
  const refusing = async (act: 'object' | 'restrict') => {
    const { lethe, user, errors } = await discordBot({ service, discord }, BASED);
    const robin = user();
    await lethe.data[act](idsOf(robin));
    const submit = () => lethe.data.submit({ ...idsOf(robin), category: 'statistics', data: { value: 'x' } });
    return { lethe, robin, errors, submit };
  };
  const CASES = [
    ['object', 'objection'],
    ['restrict', 'restriction'],
  ] as const;

  it.each(CASES)('is answered after the consent that it waited for: %s', async (act, reason) => {
    const { lethe, robin, submit } = await refusing(act);
    const errors: unknown[] = [];
    const { privacy } = coreSeat(discord, { lethe, onError: (error) => void errors.push(error) });
    const own = { id: '1', userId: robin.id, guildId: robin.guildId, locale: 'en-US' };
    const command = { kind: 'command', name: 'count', options: {} } as const;
    const asked = await privacy.ask({ ...own, act: command }, submit);
    const customId = asked.components
      .flatMap((row) => row.components)
      .map((one) => ('custom_id' in one ? one.custom_id : ''))
      .find((id) => id.startsWith('lethe1:a:')) as string;
    const { following } = await privacy.reply({
      ...{ ...own, id: '2' },
      act: { kind: 'component', customId, values: [], isPrivate: true },
    });
    expect((await following?.())?.content).toMatch(WORDS[reason]);
    expect(errors).toEqual([]);
  });

  it.each(CASES)(
    'is answered in the bot by HTTP, and another failure is reported: %s',
    async (act, reason) => {
      const { lethe, robin, submit } = await refusing(act);
      await agreed(robin);
      const errors: unknown[] = [];
      let others: () => Promise<string> = () => submit().then(() => 'done');
      const seat = await httpSeat(discord, {
        ...{ lethe, onError: (error) => void errors.push(error) },
        others: () => others(),
      });
      try {
        const typing = new DiscordUser({ discord, deliver: seat.deliver }, robin.guildId, 'en-US', robin.id);
        expect((await typing.command('count', [])).content).toMatch(WORDS[reason]);
        expect(errors).toEqual([]);
        others = () => Promise.reject(new Error('broken'));
        expect((await typing.command('count', [])).content).toMatch(/^Something failed/);
        expect(errors).toHaveLength(1);
      } finally {
        await seat.stop();
      }
    },
  );
});
