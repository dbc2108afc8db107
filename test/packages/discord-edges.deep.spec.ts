import { Privacy, type PrivacyOptions, type Reply } from '@lethe/discord';
import { Lethe, LetheError } from '@lethe/sdk';
import { categoryOf, discordBot, idsOf, KITS, readAll, stopBots, TWO, wordsOf } from '../support/discord-bot';
import { coreSeat } from '../support/discord-seats';
import { buttonsOf, componentsOf, DiscordUser } from '../support/discord-user';
import { type DiscordMessage, useFakeDiscord } from '../support/fake-discord';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// Declarations of every size, and failures, in the conversation.

const service = useService();
const discord = useFakeDiscord();
afterEach(stopBots);

const told = (error: unknown): string => (error as Error).message;

describe.each(KITS)('%s', (kit) => {
  const seats = { service, discord };
  const bot = (categories: readonly object[], given?: Partial<PrivacyOptions>) =>
    discordBot({ ...seats, kit }, categories, given);
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

  describe('what the bot says about itself', () => {
    it('has pages where it is long, with nothing left out and the way to the notice on each', async () => {
      const recipients = Array.from({ length: 20 }, (_, at) => ({
        ...{ name: `${at} ${'n'.repeat(190)}`, country: 'US' },
        ...{ purpose_en: `${at} ${'🎂 '.repeat(160)}.`, safeguards_en: `${at} ${'s'.repeat(480)}` },
      }));
      const texts = { interests_en: `${'i '.repeat(999)}.`, source_en: 'o'.repeat(2_000) };
      const { lethe, user, errors } = await bot(TWO);
      await lethe.bots.changeNoticeSettings({ controller_name: 'Robin', recipients, ...texts });
      const robin = user();
      const { pages, text } = await readAll(robin, await robin.privacy('about'));
      expect(pages.length).toBeGreaterThan(4);
      for (const { name, purpose_en: purpose, safeguards_en: safeguards } of recipients)
        for (const said of [name, purpose, safeguards]) expect(text).toContain(said);
      for (const said of Object.values(texts)) expect(text).toContain(said);
      expect(errors).toEqual([]);
    });

    /** A service whose answers a test changes. */
    const changed = async (change: (path: string, answer: Response) => Promise<Response>) => {
      const { lethe, errors } = await bot(TWO);
      const { api_key: key } = await lethe.keys.create({ scopes: ['read'] });
      const through: typeof fetch = async (input, init) =>
        change(new URL(input instanceof Request ? input.url : input).pathname, await fetch(input, init));
      const itsLethe = new Lethe({ url: service.url, key, fetch: through, retries: 0 });
      const seat = coreSeat(discord, { lethe: itsLethe, onError: (error) => void errors.push(error) });
      return { errors, user: (locale: string) => new DiscordUser({ discord, ...seat }, undefined, locale) };
    };

    inTypeScript(
      'is left out where the service has no notice settings, and is a failure where it fails',
      async () => {
        let status = 404;
        const { user, errors } = await changed(async (path, answer) =>
          path.endsWith('/notice-settings')
            ? Response.json({ success: false, error: { code: 'not_found', message: 'x' } }, { status })
            : answer,
        );
        expect(wordsOf(await user('de').privacy('about'))).toMatch(
          /\n\nAnsprechpartner für Datenschutz: \S+$/,
        );
        expect(errors).toEqual([]);
        status = 503;
        const other = await changed(async (path, answer) =>
          path.endsWith('/notice-settings') ? new Response('{}', { status }) : answer,
        );
        expect((await other.user('de').privacy('about')).content).toContain('Das geht im Moment nicht.');
      },
    );

    inTypeScript('names the values that users correct themselves, each once', async () => {
      const { user } = await changed(async (path, answer) =>
        path.endsWith('/data/categories')
          ? new Response(
              (await answer.text()).replaceAll('"type":"string"', '"type":"string","editable":true'),
            )
          : answer,
      );
      expect(wordsOf(await user('de').privacy('about'))).toContain(
        ' beschweren. Auf deiner Datenschutzseite (`/privacy page`) kannst du selbst berichtigen: Wert.\n',
      );
      const { user: without } = await bot(TWO);
      expect(wordsOf(await without().privacy('about'))).not.toContain('correct');
    });
  });

  describe('a command that waits for the consent', () => {
    const asking = async (then: () => Promise<unknown>, given?: Partial<PrivacyOptions>) => {
      const made = await bot(TWO, given);
      const who = { userId: snowflake(), guildId: snowflake(), locale: 'en-US' };
      const act = { kind: 'command', name: 'birthday', options: {} } as const;
      const pressed =
        (customId: string, values: string[] = [], privacy = made.privacy) =>
        (userId = who.userId) =>
          privacy.reply({
            ...{ ...who, userId, id: snowflake() },
            act: { kind: 'component', customId, values, isPrivate: true },
          });
      const question = await made.privacy.ask({ ...who, id: snowflake(), act }, then);
      return { ...made, pressed, question, ids: { user_id: who.userId, guild_id: who.guildId } };
    };
    const idOf = ({ components }: Reply, label: RegExp): string =>
      components
        .flatMap((row) => row.components)
        .flatMap((one) =>
          'label' in one && 'custom_id' in one && label.test(one.label) ? one.custom_id : [],
        )[0] ?? '';
    const AGAIN = 'Now please give your command again.';

    inTypeScript(
      'continues once after the consent is recorded, however often the button is pressed',
      async () => {
        const states: string[] = [];
        const { lethe, pressed, question, ids, errors } = await asking(async () => {
          states.push((await lethe.consents.status(ids)).status);
          return 'Saved.';
        });
        const press = pressed(idOf(question, /I agree/));
        const answers = [...(await Promise.all([press(), press()])), await press()];
        for (const { content, files } of answers) {
          expect(files).toEqual([expect.objectContaining({ name: 'consent-receipt.jwt' })]);
          expect(files).toEqual(answers[0]?.files);
          expect(content).toContain('Thank you. You agreed to:');
          expect(content).not.toContain(AGAIN);
        }
        expect(states).toEqual([]);
        const [following, ...others] = answers.flatMap((one) => one.following ?? []);
        expect(others).toEqual([]);
        expect(await following?.()).toMatchObject({ content: 'Saved.', components: [] });
        expect([states, errors]).toEqual([['accepted'], []]);
      },
    );

    inTypeScript.each([
      ['all', /I agree/],
      ['one', /\(1\)/],
    ])('keeps the button of a consent to %s whose answer is lost, for the next press', async (_, label) => {
      const { lethe, privacy, pressed, question, ids, errors } = await asking(async () => 'Saved.');
      const menu = question.components[0]?.components[0] as { custom_id: string };
      const chosen = await pressed(menu.custom_id, ['birthday'])();
      const { consents } = privacy['options'].lethe;
      const { accept } = consents;
      const lost = new LetheError('The answer is lost', { code: 'internal_error' });
      jest.spyOn(consents, 'accept').mockImplementationOnce(async (...given) => {
        await accept(...given);
        throw lost;
      });
      const failed = await pressed(idOf(chosen, label))();
      expect(failed).toMatchObject({ content: expect.stringMatching(/^Something failed/), isNote: true });
      expect([(await lethe.consents.status(ids)).status, errors]).toEqual(['accepted', [lost]]);
      const done = await pressed(idOf(chosen, label))();
      expect(done.content).toContain('Thank you. You agreed to:\n• Birthday\n');
      expect(done.files).toEqual([expect.objectContaining({ name: 'consent-receipt.jwt' })]);
      expect(await done.following?.()).toMatchObject({ content: 'Saved.' });
      expect(errors).toEqual([lost]);
    });

    inTypeScript(
      'is no failure where presses of different choices meet: the user is asked anew',
      async () => {
        const { lethe, privacy, pressed, question, ids, errors } = await asking(async () => 'Saved.');
        const menu = question.components[0]?.components[0] as { custom_id: string };
        const chosen = async (key: string) => pressed(idOf(await pressed(menu.custom_id, [key])(), /\(1\)/));
        const [birthday, statistics] = [await chosen('birthday'), await chosen('statistics')];
        const { consents } = privacy['options'].lethe;
        const { accept, revoke } = consents;
        const others: Reply[] = [];
        jest.spyOn(consents, 'accept').mockImplementationOnce(async (...given) => {
          others.push(await statistics());
          return accept(...given);
        });
        const again = await birthday();
        expect(others.map(({ content }) => content)).toEqual([expect.stringContaining('\n• Statistics\n')]);
        expect(await others[0]?.following?.()).toMatchObject({ content: 'Saved.' });
        expect(again.content).toContain('`/privacy about`');
        // What is selected no longer is withdrawn meanwhile.
        jest.spyOn(consents, 'revoke').mockImplementationOnce(async (...given) => {
          await lethe.consents.revoke(ids);
          return revoke(...given);
        });
        const done = await pressed(idOf(again, /\(1\)/))();
        expect(done.content).toMatch(/^Thank you\. You agreed to:\n• Birthday\nYou can/);
        expect(errors).toEqual([]);
      },
    );

    inTypeScript(
      'begins at once where nothing is asked for, and its failure is none of a consent',
      async () => {
        const bans = {
          ...{ ...categoryOf('bans', 'Bans'), legal_basis: 'legitimate_interests', requires_consent: false },
          ...{ reason_de: 'Nötig.', reason_en: 'Needed.' },
        };
        const { privacy, errors } = await bot([bans]);
        const who = { userId: snowflake(), guildId: snowflake(), locale: 'en-US' };
        const act = { kind: 'command', name: 'ban', options: {} } as const;
        const ask = (then?: () => Promise<unknown>) => privacy.ask({ ...who, id: snowflake(), act }, then);
        const said = await ask(async () => 'Saved.');
        expect(said).toMatchObject({
          content: expect.stringContaining('asks for no consent'),
          components: [],
        });
        expect(await said.following?.()).toMatchObject({ content: 'Saved.' });
        const failing = await ask(() => Promise.reject(new Error('x')));
        expect((await failing.following?.())?.content).toMatch(/^Something failed/);
        expect(errors.map(told)).toEqual(['x']);
        const bare = await ask();
        expect(bare.following).toBeUndefined();
        expect(bare.content).toMatch(new RegExp(`^This bot asks for no consent\\. .*\n${AGAIN}$`));
        const other = await bot([bans, ...TWO], { categories: ['bans'] });
        const some = await other.privacy.ask({ ...who, id: snowflake(), act });
        expect(some.content).toBe(`Nothing below needs your consent. Each part has its reason.\n${AGAIN}`);
        expect(some.embeds).toEqual([{ description: expect.stringContaining('• Bans: Needed.') }]);
        // No consent of the user mends what the bot does not ask for.
        const needing = await other.privacy.ask({ ...who, id: snowflake(), act }, () =>
          other.lethe.data.submit({ ...idsOf(other.user()), category: 'birthday', data: { value: 'x' } }),
        );
        expect((await needing.following?.())?.content).toMatch(/^Something failed/);
        expect(other.errors).toEqual([expect.objectContaining({ code: 'consent_required' })]);
      },
    );

    inTypeScript('is carried through menus and a text that has changed', async () => {
      const { lethe, pressed, question } = await asking(async () => 'Saved.');
      const menu = question.components[0]?.components[0] as { custom_id: string };
      const chosen = await pressed(menu.custom_id, ['birthday'])();
      await lethe.categories.change({ key: 'birthday', description: 'To sell it.' });
      const again = await pressed(idOf(chosen, /\(1\)/))();
      expect(again.content).toContain('The text has changed');
      const done = await pressed(idOf(again, /I agree/))();
      expect(await done.following?.()).toMatchObject({ content: 'Saved.' });
    });

    inTypeScript(
      'is to be given again after a restart, too late, by another user, and without a `then`',
      async () => {
        let nowMs = Date.now();
        const calls: string[] = [];
        const { lethe, privacy, pressed, question } = await asking(async () => calls.push('called'), {
          now: () => nowMs,
        });
        const id = idOf(question, /I agree/);
        const restarted = new Privacy({ lethe });
        const answers = [await pressed(id, [], restarted)(snowflake()), await pressed(id)(snowflake())];
        nowMs += 15 * 60_000;
        answers.push(await pressed(id)());
        const act = { kind: 'command', name: 'birthday', options: {} } as const;
        const user = { userId: snowflake(), guildId: snowflake(), locale: 'en-US' };
        const bare = await privacy.ask({ ...user, id: snowflake(), act });
        answers.push(await pressed(idOf(bare, /I agree/))());
        for (const { content, following } of answers)
          expect([content.endsWith(`\n${AGAIN}`), following]).toEqual([true, undefined]);
        expect(calls).toEqual([]);
      },
    );

    inTypeScript('fails as a command, not as the consent', async () => {
      const fails = new Error('no birthday');
      const failing = await asking(() => Promise.reject(fails));
      const done = await failing.pressed(idOf(failing.question, /I agree/))();
      expect(done.content).toContain('Thank you. You agreed to:');
      expect((await done.following?.())?.content).toMatch(
        /^Your consent is recorded, but then your command failed/,
      );
      expect(failing.errors).toEqual([fails]);
      const { pressed, question, errors } = await asking(() =>
        failing.lethe.data.submit({ ...idsOf(failing.user()), category: 'birthday', data: { value: 'x' } }),
      );
      const partial = await pressed(idOf(question, /I agree/))();
      expect((await partial.following?.())?.content).toBe(
        'Your command needs something that you have not agreed to: `/privacy consent`.',
      );
      expect(errors).toEqual([]);
    });
  });

  describe('a failure', () => {
    it('is said in words, and reported', async () => {
      const { lethe, errors, user } = await bot(TWO);
      const robin = user('de');
      await lethe.bots.delete({});
      expect((await robin.privacy('about')).content).toContain('wurde den Betreibern gemeldet');
      await until(() => errors.length > 0);
      expect(errors).toEqual([expect.objectContaining({ status: 401 })]);
    });

    it('is no privacy page where the service has no PUBLIC_URL, or the key no scope for it', async () => {
      const [local, lacking] = [await bot(TWO), await discordBot({ ...seats, kit, scopes: ['admin'] }, TWO)];
      for (const { user } of [local, lacking]) {
        const told = await user('de').privacy('page');
        expect(told).toMatchObject({
          content: expect.stringMatching(/^Dieser Bot kann dir keine Datenschutzseite zeigen\. .*export/),
          components: [],
        });
      }
      await until(() => local.errors.length > 0 && lacking.errors.some((one) => told(one).includes('scope')));
      expect(local.errors.map(told)).toEqual([expect.stringMatching(/ Set PUBLIC_URL of the service\.$/)]);
      expect(told(local.errors[0])).not.toContain('/p/');
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
      // It says that it was reported: without `onError`, to the log.
      const log = jest.spyOn(console, 'error').mockImplementation();
      await new DiscordUser({ discord, ...coreSeat(discord, { lethe }) }).privacy('status');
      expect(log.mock.calls).toEqual([[expect.objectContaining({ status: 503 })]]);
      log.mockRestore();
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
