import type { PrivacyOptions } from '@lethe/discord';
import { Lethe } from '@lethe/sdk';
import { categoryOf, discordBot, idsOf, KITS, readAll, stopBots, TWO, wordsOf } from '../support/discord-bot';
import { coreSeat } from '../support/discord-seats';
import { buttonsOf, componentsOf, DiscordUser } from '../support/discord-user';
import { type DiscordMessage, useFakeDiscord } from '../support/fake-discord';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

// Declarations of every size, and failures, in the conversation.

const service = useServiceInProcess();
const discord = useFakeDiscord();
afterEach(stopBots);

describe.each(KITS)('%s', (kit) => {
  const bot = (categories: readonly object[], given?: Partial<PrivacyOptions>) =>
    discordBot({ service, discord, kit }, categories, given);
  const inTypeScript = kit === '@lethe/discord' ? it : it.skip;

  describe('the limits of Discord', () => {
    const long = (at: number) => `${'Ärger 🎂 '.repeat(200)}${at}`;
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        categoryOf(`category_${at}`, long(at), `why ${'x'.repeat(600)} ${at}`),
      );

    it('are kept for 50 categories with long names, and nothing of the text is left out', async () => {
      const { lethe, user, errors } = await bot(many(50));
      const robin = user();
      const { pages, text } = await readAll(robin, await robin.privacy('consent'));
      for (let at = 0; at < 50; at++)
        expect(text).toContain(`**${long(at)}**\nwhy ${'x'.repeat(600)} ${at}. Data: Value. Kept`);
      expect(pages.slice(0, -1).flatMap(buttonsOf)).not.toContain('I agree');
      const last = pages.at(-1) as DiscordMessage;
      const menus = componentsOf(last).filter(({ type }) => type === 3);
      expect(menus.map(({ options = [] }) => options.length)).toEqual([25, 25]);
      const [first, second] = menus.map(({ options = [] }) => options);
      const one = await robin.send(last, menus[0]?.custom_id ?? '', [first?.[3]?.value ?? '']);
      const id = componentsOf(one).filter(({ type }) => type === 3)[1]?.custom_id ?? '';
      const both = await robin.send(one, id, [second?.[24]?.value ?? '']);
      await robin.press(both, 'Agree to the selection (2)');
      const granted = (await lethe.consents.status(idsOf(robin))).categories?.filter(
        ({ status }) => status === 'accepted',
      );
      expect(granted?.map(({ key }) => key).sort()).toEqual([first?.[3]?.value, second?.[24]?.value].sort());
      await readAll(robin, await robin.privacy('status'));
      await robin.privacy('revoke');
      expect(errors).toEqual([]);
    });

    it('are kept for 100 categories, of which a bot asks for at most 50 at once', async () => {
      const { user, errors } = await bot(many(100));
      const robin = user();
      const { text } = await readAll(robin, await robin.privacy('about'));
      for (let at = 0; at < 100; at++) expect(text).toContain(long(at));
      await readAll(robin, await robin.privacy('status'));
      expect(errors).toEqual([]);
      expect((await robin.privacy('consent')).content).toContain('Something failed');
      await until(() => errors.length > 0);
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('at most 50') })]);
    });

    it('are kept for a withdrawal from 100 categories', async () => {
      const { lethe, user, errors } = await bot(many(100));
      const robin = user();
      await lethe.consents.request({ ...idsOf(robin), consent_version: '1' });
      await lethe.consents.accept({ ...idsOf(robin), consent_version: '1' });
      const revoking = await robin.privacy('revoke');
      expect(componentsOf(revoking).map(({ options }) => options?.length)).toEqual([
        25,
        25,
        25,
        25,
        undefined,
      ]);
      const values = componentsOf(revoking)[3]?.options?.map(({ value }) => value);
      const done = await robin.send(revoking, componentsOf(revoking)[3]?.custom_id ?? '', values);
      expect(done.content).toContain('You have withdrawn your consent to: Ärger');
      expect(errors).toEqual([]);
    });
  });

  describe('a failure', () => {
    it('is said in words, and reported', async () => {
      const { lethe, errors, user } = await bot(TWO);
      const robin = user('de');
      await lethe.bots.delete({});
      expect((await robin.privacy('about')).content).toContain('wurde den Betreibern gemeldet');
      expect(errors).toEqual([expect.objectContaining({ status: 401 })]);
    });

    inTypeScript('is one for a moment where the service cannot be reached', async () => {
      const errors: unknown[] = [];
      const refused = async () => new Response('{}', { status: 503 });
      const lethe = new Lethe({ url: 'http://lethe.test', key: 'sk_live_x', fetch: refused, retries: 0 });
      const seat = coreSeat(discord, { lethe, onError: (error) => void errors.push(error) });
      const robin = new DiscordUser({ discord, ...seat });
      expect((await robin.privacy('status')).content).toBe(
        'This is not possible at the moment. Please try again in a minute.',
      );
      expect(errors).toHaveLength(1);
    });

    it('is no stale or foreign button', async () => {
      const { user, errors } = await bot(TWO);
      const robin = user();
      const asked = await robin.privacy('consent');
      expect((await robin.send(asked, 'lethe0:a:1:x')).content).toContain('another version');
      expect((await robin.send(asked, 'lethe1:zz')).content).toContain('another version');
      for (const forged of [
        'lethe1:p:consent:-9:~:x',
        'lethe1:p:about:zz',
        'lethe1:a:zzzzzzzzzzzz:x',
        'lethe1:c:9:9:9:9',
      ])
        expect(wordsOf(await robin.send(asked, forged))).not.toBe('');
      expect(errors).toEqual([]);
    });
  });
});
