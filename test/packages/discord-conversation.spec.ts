import { itInPart } from '../support/depth';
import type { PrivacyOptions } from '@lethe/discord';
import { LetheError, NetworkError, NotFoundError, RateLimitedError } from '@lethe/sdk';
import { agreed, categoryOf, discordBot, idsOf, KITS, stopBots, TWO, wordsOf } from '../support/discord-bot';
import { buttonsOf, componentsOf, DiscordUser } from '../support/discord-user';
import { useFakeDiscord } from '../support/fake-discord';
import { useServiceInProcess } from '../support/service';
import { snowflake } from '../support/snowflakes';
import { until } from '../support/until';

// What the conversation guarantees, on the real service.

const toldStatus = async (user: DiscordUser) => (await user.privacy('status')).embeds[0]?.description;

const PUBLIC_URL = 'https://gdpr.bot.example';
const service = useServiceInProcess({ PUBLIC_URL });
const discord = useFakeDiscord();
afterEach(stopBots);

describe.each(KITS)('%s', (kit) => {
  const bot = (categories: readonly object[], given?: Partial<PrivacyOptions>) =>
    discordBot({ service, discord, kit }, categories, given);
  const inTypeScript = kit === '@lethe/discord' ? it : it.skip;

  describe('the acting user', () => {
    itInPart('is the one who presses, whoever the message was for', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      const kim = user('en-US', robin.guildId);
      const asked = await robin.privacy('consent');
      await kim.press(asked, 'I agree');
      expect((await lethe.consents.status(idsOf(kim))).status).toBe('accepted');
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('pending');
      await agreed(robin);
      await kim.press(await robin.privacy('forget'), 'Erase my data');
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('accepted');
      expect((await lethe.consents.status(idsOf(kim))).status).toBe('none');
    });

    itInPart('acts in the scope of direct messages where there is no guild', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user('en-US', null);
      await agreed(robin);
      expect(await lethe.consents.status(idsOf(robin))).toMatchObject({ status: 'accepted' });
    });
  });

  describe('a bot with stores of its own', () => {
    itInPart('says that they are asked to erase, and of no user that nothing is stored', async () => {
      const { lethe, user } = await bot(TWO);
      const labels = { label_de: 'Datenbank', label_en: 'Database' };
      await lethe.holders.register({ key: 'database', kind: 'pull', covers: ['xp'], ...labels });
      const robin = user();
      const beyond = 'What the bot keeps about you in stores of its own is not shown here.';
      expect(await toldStatus(robin)).toContain(beyond);
      const about = (await robin.privacy('about')).embeds[0]?.description;
      expect(about).toMatch(/^Nothing that needs your consent is stored with this service without it: you/);
      expect(about).toContain(beyond);
      const { embeds } = await robin.privacy('object');
      expect(embeds[0]?.description).toContain('nothing that this bot has declared has the legal basis');
      expect(embeds[0]?.description).toContain('`/privacy forget` has it erased there too.');
      expect((await robin.privacy('export')).content).toBe(
        'Nothing is recorded about you here. What the bot keeps about you in stores of its own is not part of this. ' +
          'Please ask privacy@bot.example.',
      );
      const kim = user();
      const asked = await kim.privacy('consent');
      const service = 'that needs your consent is stored about you here with this service.';
      expect(await toldStatus(kim)).toContain(`You have not decided yet. Nothing new ${service}`);
      await kim.press(asked, 'I agree');
      expect(await toldStatus(kim)).toContain(beyond);
      await kim.press(await kim.privacy('revoke'), 'Withdraw everything');
      expect(await toldStatus(kim)).toMatch(
        /Nothing new that needs it is stored about you here with this se/,
      );
      expect(await toldStatus(kim)).toContain(beyond);
      const inMessages = user('en-US', null);
      for (const [one, where, said] of [
        [robin, 'everywhere', 'about you in stores of its own, which can take a while. Messages'],
        [robin, 'here', 'about you from this server in stores of its own, which can take a while. Messages'],
        // Its task means the rows of every server, unless Lethe holds something of one.
        [inMessages, 'here', 'stores of its own, which can take a while. Data from servers stays there as'],
      ] as const) {
        const sure = await one.privacy('forget', { where });
        expect(sure.content?.includes('a server that the bot is on, the bot also erases')).toBe(
          one === inMessages,
        );
        const { content } = await one.press(sure, 'Erase my data');
        expect(content).toContain('The bot has also been asked to erase what it keeps');
        expect(content).toContain(said);
        expect(content).not.toContain('keeps elsewhere');
      }
      expect(await lethe.holders.tasks({ key: 'database' }).toArray()).toHaveLength(3);
    });

    inTypeScript('says no more than it knows where they cannot be listed, and asks again', async () => {
      const { user, privacy, errors } = await bot(TWO);
      const robin = user();
      const { holders, privacy: rights } = privacy['options'].lethe;
      const list = jest.spyOn(holders, 'list');
      const fails = (error: Error) =>
        list.mockImplementation(() => {
          throw error;
        });
      for (const failure of [
        new RateLimitedError('x', { code: 'rate_limit_exceeded', status: 429 }),
        new NetworkError('x', { code: 'network_error' }),
        new TypeError('x'),
      ]) {
        fails(failure);
        expect(await toldStatus(robin)).toContain('in stores of its own is not shown here');
        expect((await robin.privacy('export')).content).toContain('Nothing is recorded about you here. What');
        await agreed(robin);
        // It is asked at the side of the certificate: the user does not wait for both in turn.
        list.mockClear();
        let askedBefore = 0;
        const certificate = jest.spyOn(rights, 'certificate').mockImplementationOnce(() => {
          askedBefore = list.mock.calls.length;
          throw failure;
        });
        const erased = await robin.press(await robin.privacy('forget'), 'Erase my data');
        expect(askedBefore).toBe(1);
        certificate.mockRestore();
        expect(erased.content).toMatch(/\nMessages on Discord are not affected\.$/);
        expect(erased.files['erasure-certificate.json']).toContain('certificate_salt');
      }
      expect(new Set(errors.map((error) => (error as Error).name))).toEqual(new Set(['TypeError']));
      fails(new NotFoundError('an older service', { code: 'not_found', status: 404 }));
      expect(await toldStatus(robin)).toMatch(
        /^You have given no consent, [^.]*\. Nothing is stored about you/,
      );
      list.mockRestore();
      expect((await robin.privacy('export')).content).toBe('Nothing is stored about you.');
    });
  });

  describe('a newer consent that leaves out a category', () => {
    itInPart('is not said to be a withdrawal of the user', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      await lethe.data.submit({ ...idsOf(robin), category: 'statistics', data: { value: 'x' } });
      const categories = ['birthday'];
      const { consent_id } = await lethe.consents.request({
        ...idsOf(robin),
        consent_version: '2',
        categories,
      });
      await lethe.consents.accept({
        consent_id: String(consent_id),
        user_id: robin.id,
        consent_version: '2',
      });
      const { status, data_erased_at: at } = await lethe.consents.status(idsOf(robin));
      expect([status, typeof at]).toEqual(['accepted', 'string']);
      const said = await toldStatus(robin);
      expect(said).toContain('a consent that is no longer in force is erased on');
      expect(said).not.toContain('withdrew');
    });
  });

  describe('what the bot stores', () => {
    const NOTICE = {
      public: true,
      controller_name: 'Robin Example',
      controller_address: 'Street 1\n10115 Berlin',
      controller_email: 'robin@example.org',
      officer_name: 'Kim',
      officer_email: 'kim@example.org',
      recipients: [
        {
          name: 'Hosting GmbH',
          country: 'DE',
          purpose_de: 'Betreibt den Server',
          purpose_en: 'Runs the server',
        },
        { name: 'Mail Inc.', country: 'US', purpose_en: 'Sends mail', safeguards_de: 'Standardklauseln' },
        { name: 'Plain' },
      ],
      interests_de: 'Ordnung',
      interests_en: 'Order',
      source_en: 'The platform',
      automated_decisions: 'exist',
      automated_decisions_de: 'Sperre nach drei Verwarnungen',
      authority_name: 'Authority',
      authority_url: 'https://authority.example.org',
      notice_url: 'https://bot.example.org/privacy',
    } as const;
    const told = async (user: DiscordUser) => (await user.privacy('about')).embeds[0]?.description ?? '';
    const noticeOf = (text: string) => text.slice(text.indexOf('\n\n', text.indexOf('/privacy forget')) + 2);

    itInPart('has the facts of the notice settings, in the language of the user', async () => {
      const { lethe, user, errors } = await bot(TWO);
      await lethe.bots.changeNoticeSettings(NOTICE);
      expect(noticeOf(await told(user()))).toBe(
        [
          '**Who is responsible**\nController: Robin Example\nAddress: Street 1, 10115 Berlin\n' +
            'Contact for privacy: robin@example.org, privacy@bot.example\n' +
            'Data protection officer: Kim, kim@example.org\n' +
            'Supervisory authority: Authority, https://authority.example.org\n' +
            "The bot's own privacy policy: https://bot.example.org/privacy",
          '**Who receives the data**\n• Hosting GmbH (Germany): Runs the server\n' +
            '• Mail Inc. (United States, outside the European Economic Area): Sends mail\n' +
            'Safeguards: Standardklauseln\n• Plain',
          '**Legitimate interests**\nOrder',
          '**Where the data comes from**\nThe platform',
          '**Automated decisions**\nSperre nach drei Verwarnungen',
        ].join('\n\n'),
      );
      const german = await told(user('de'));
      for (const said of [
        '**Wer verantwortlich ist**\nVerantwortlicher: Robin Example\nAnschrift: Street 1, 10115 Berlin\n',
        'Datenschutzbeauftragter: Kim, kim@example.org\nAufsichtsbehörde: Authority, https://',
        '• Hosting GmbH (Deutschland): Betreibt den Server\n',
        '• Mail Inc. (Vereinigte Staaten, außerhalb des Europäischen Wirtschaftsraums): Sends mail\nGarantien: St',
        '**Berechtigte Interessen**\nOrdnung',
      ])
        expect(german).toContain(said);
      expect(noticeOf(await told(user('fr')))).toBe(noticeOf(await told(user())));
      expect(errors).toEqual([]);
    });

    itInPart('leads to the notice for everybody while it is public', async () => {
      const open = await bot(TWO);
      await open.lethe.bots.changeNoticeSettings(NOTICE);
      const { id } = await open.lethe.bots.me();
      for (const [locale, label, language] of [
        ['en-US', 'Read the privacy notice', 'en'],
        ['de', 'Datenschutzhinweise lesen', 'de'],
        ['fr', 'Read the privacy notice', 'en'],
      ] as const) {
        const url = `${PUBLIC_URL}/notice/${id}?language=${language}`;
        expect(componentsOf(await open.user(locale).privacy('about'))).toEqual([
          expect.objectContaining({ label, url }),
        ]);
        expect((await fetch(url.replace(PUBLIC_URL, service.url))).status).toBe(200);
      }
      const hidden = await bot(TWO);
      await hidden.lethe.bots.changeNoticeSettings({ ...NOTICE, public: false });
      expect(componentsOf(await hidden.user().privacy('about'))).toEqual([]);
    });

    itInPart('is as before where the bot says nothing about itself, with the contact alone', async () => {
      const { user } = await bot([{ ...categoryOf('birthday', 'Birthday'), retention_days: 1 }]);
      const { components, embeds } = await user().privacy('about');
      expect(embeds[0]?.description).toMatch(/authority\.\n\nContact for privacy: privacy@bot\.example$/);
      expect(embeds[0]?.description).toContain('\nKept for: 1 day after the last change\n');
      expect(components).toEqual([]);
      const other = await bot(TWO);
      await other.lethe.bots.change({ privacy_contact: null });
      await other.lethe.bots.changeNoticeSettings({
        automated_decisions: 'none',
        automated_decisions_en: 'x',
      });
      expect(noticeOf(await told(other.user()))).toBe(
        '**Automated decisions**\nThere are none (Art. 22 GDPR).',
      );
      const unsaid = await bot(TWO);
      await unsaid.lethe.bots.changeNoticeSettings({ automated_decisions_en: 'x' });
      expect(await told(unsaid.user())).not.toContain('Automated decisions');
    });
  });

  describe('the question for consent', () => {
    itInPart('selects nothing beforehand, and keeps the selection in its own buttons', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      const asked = await robin.privacy('consent');
      expect(asked.content).toContain('`/privacy about`');
      expect(componentsOf(asked)[0]?.options?.map((option) => option.default)).toEqual([false, false]);
      expect(componentsOf(asked).find(({ label }) => label?.endsWith('(0)'))?.disabled).toBe(true);
      const chosen = await robin.select(asked, ['Statistics']);
      expect(componentsOf(chosen)[0]?.options?.map((option) => option.default)).toEqual([false, true]);
      await robin.press(chosen, 'Agree to the selection (1)');
      const { categories } = await lethe.consents.status(idsOf(robin));
      expect(categories).toEqual([
        { key: 'birthday', status: 'none' },
        { key: 'statistics', status: 'accepted' },
      ]);
    });

    itInPart('shows no digest as its version, nor does the status', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      const asked = await robin.privacy('consent');
      await robin.press(asked, 'I agree');
      const [entry] = await lethe.consents.history(idsOf(robin)).toArray();
      expect(entry).toMatchObject({ action: 'accepted', source: 'discord' });
      expect(asked.embeds[0]?.footer).toBeUndefined();
      expect(await toldStatus(robin)).toMatch(/^You agreed on <t:\d+:f>\.\n/);
    });

    itInPart('shows the registered text of the language, else the English one', async () => {
      const { lethe, user } = await bot(TWO, { consentVersion: '7' });
      const text = { consent_version: '7', title: 'Titel', body: 'Worum es geht', accept_label: 'Ja!' };
      await lethe.consents.registerText({
        ...text,
        language: 'de',
        privacy_notice: 'https://bot.example/',
      });
      await lethe.consents.registerText({
        ...text,
        language: 'en',
        body: 'What it is about',
        accept_label: 'Yes!',
      });
      const robin = user('de');
      const asked = await robin.privacy('consent');
      expect(wordsOf(asked)).toContain('Worum es geht');
      expect(wordsOf(asked)).toContain('https://bot.example/');
      expect(asked.embeds[0]?.footer?.text).toBe('Version 7');
      await agreed(robin, 'Ja!');
      expect(await toldStatus(robin)).toMatch(/^Du hast am <t:\d+:f> der Version 7 zugestimmt\.\n/);
      const english = await user('fr').privacy('consent');
      expect([wordsOf(english), buttonsOf(english)[0]]).toEqual([
        expect.stringContaining('What it is about'),
        'Yes!',
      ]);
    });

    itInPart('is in the language of labels, where the categories have them', async () => {
      const labels = { labels: { fr: 'Anniversaire' } };
      const { user } = await bot(
        [{ ...categoryOf('birthday', 'Birthday'), ...labels }, categoryOf('other', 'Other')],
        {
          texts: { fr: { consent_choose: 'Choisissez' } },
        },
      );
      const asked = await user('fr').privacy('consent');
      expect(wordsOf(asked)).toContain('**Anniversaire**');
      const [menu] = componentsOf(asked);
      expect(menu).toMatchObject({ placeholder: 'Choisissez' });
      expect(menu?.options?.map(({ label }) => label)).toEqual(['Anniversaire', 'Other']);
      const about = await user('fr').privacy('about');
      expect(wordsOf(about)).toContain('**Anniversaire**');
    });

    itInPart('says why and until when a category is stored without a consent', async () => {
      const reasons = {
        reason_de: 'Missbrauch muss abgewehrt werden.',
        reason_en: 'Abuse has to be prevented.',
      };
      const without = { legal_basis: 'legitimate_interests', requires_consent: false, ...reasons };
      const { user } = await bot([
        { ...categoryOf('bans', 'Bans'), ...without },
        categoryOf('birthday', 'Birthday'),
        { ...categoryOf('orders', 'Orders'), legal_basis: 'contract' },
      ]);
      const said = wordsOf(await user().privacy('about'));
      expect(said).toContain('Abuse has to be prevented.\nKept until you have it erased\n');
      expect(said).toContain('a contract (Art. 6(1)(b) GDPR)\nKept until you have it erased\n');
      expect(said).toContain(
        'Kept until you have it erased, or until 30 days after you withdraw your consent',
      );
      expect(said).toContain(
        '**Your right to object (Art. 21 GDPR)**\nWith `/privacy object` you can object at any time to the processing of this data: Bans. It is then erased.',
      );
      expect(said).toContain('erasure with `/privacy forget`, restriction with `/privacy object`.');
      const german = wordsOf(await user('de').privacy('about'));
      expect(german).toContain(
        'Missbrauch muss abgewehrt werden.\nGespeichert, bis du die Löschung verlangst\n',
      );
    });

    const bans = {
      ...{ ...categoryOf('bans', 'Bans'), legal_basis: 'legitimate_interests', requires_consent: false },
      ...{ reason_de: 'Missbrauch muss abgewehrt werden.', reason_en: 'Abuse has to be prevented.' },
    };
    const BANS =
      'What this bot may store without your consent, and its reason:\n• Bans: Abuse has to be prevented.';

    it('leaves a category out that needs no consent, and says so with its reason', async () => {
      const { lethe, user, errors } = await bot([bans, ...TWO]);
      const robin = user();
      expect(wordsOf(await robin.privacy('about'))).toContain(
        'What needs your consent is not stored without it: you decide with `/privacy consent`. What needs none has its reason below.',
      );
      expect(wordsOf(await robin.privacy('status'))).toBe(
        `\nYou have given no consent, and no request waits for your answer. What needs your consent is not stored about you here.\n\n${BANS}`,
      );
      const asked = await robin.privacy('consent');
      expect(wordsOf(asked)).not.toContain('Bans');
      expect(wordsOf(await robin.privacy('status'))).toContain(
        'Nothing new that needs your consent is stored about you here.\n\n• Birthday: not decided\n• Statistics: not decided\n\nWhat',
      );
      await robin.press(asked, 'I agree');
      const agreedTo = (await lethe.consents.status(idsOf(robin))).categories?.map(({ key }) => key);
      expect(agreedTo).toEqual(['birthday', 'statistics']);
      const status = wordsOf(await robin.privacy('status'));
      expect(status.slice(status.indexOf('•'))).toBe(`• Birthday: agreed\n• Statistics: agreed\n\n${BANS}`);
      const revoking = await robin.privacy('revoke');
      expect(wordsOf(revoking)).toContain(`stored under it.\n${BANS}`);
      expect(componentsOf(revoking)[0]?.options?.map(({ label }) => label)).toEqual([
        'Birthday',
        'Statistics',
      ]);
      const some = await robin.select(revoking, ['Birthday']);
      expect(wordsOf(some)).toBe(`You have withdrawn your consent to: Birthday.\n${BANS}`);
      await robin.press(await robin.privacy('revoke'), 'Withdraw everything');
      expect(wordsOf(await robin.privacy('status'))).toContain(
        'Nothing new that needs it is stored about you here.\n\n• Birthday: withdrawn\n• Statistics: withdrawn\n\nWhat',
      );
      expect(wordsOf(await user('de').privacy('status'))).toContain(
        'Was deine Einwilligung braucht, ist hier nicht über dich gespeichert.\n\nWas dieser Bot ohne deine Einwilligung speichern darf, und seine Begründung:\n• Bans (de): Missbrauch muss abgewehrt werden.',
      );
      expect(errors).toEqual([]);
    });

    it('does not call a consent to everything one to a category that needs none', async () => {
      const { lethe, user, errors } = await bot([bans, ...TWO]);
      const robin = user();
      await lethe.consents.request({ ...idsOf(robin), consent_version: '1' });
      await lethe.consents.accept({ ...idsOf(robin), consent_version: '1' });
      expect(wordsOf(await robin.privacy('status'))).not.toContain('Bans: agreed');
      const [menu] = componentsOf(await robin.privacy('revoke'));
      expect(menu?.options?.map(({ label }) => label)).toEqual(['Birthday', 'Statistics']);
      expect(errors).toEqual([]);
    });

    inTypeScript('lets a consent be withdrawn that named a category before it needed none', async () => {
      let nowMs = Date.now();
      const { lethe, user, errors } = await bot(
        TWO.map((one) => ({ ...one, legal_basis: 'legitimate_interests' })),
        { now: () => nowMs },
      );
      const robin = user();
      const asked = await robin.privacy('consent');
      await robin.press(asked, 'I agree');
      const { requires_consent, reason_de, reason_en } = bans;
      const turned = { requires_consent, reason_de, reason_en };
      await lethe.categories.change({ key: 'statistics', ...turned });
      nowMs += 60_000;
      expect(wordsOf(await robin.privacy('status'))).toContain('• Statistics: agreed');
      const revoking = await robin.privacy('revoke');
      expect(revoking.content).toContain('What needs no consent can still be stored.');
      await robin.select(revoking, ['Statistics']);
      await lethe.categories.change({ key: 'birthday', ...turned });
      nowMs += 60_000;
      expect((await robin.press(asked, 'I agree')).content).toContain('This bot asks for no consent.');
      expect(errors).toEqual([]);
    });

    it('asks for nothing where no category needs a consent', async () => {
      const { lethe, user, errors } = await bot([bans]);
      const robin = user();
      expect((await robin.privacy('consent')).content).toBe(
        'This bot asks for no consent. `/privacy about` says what it stores about you, and why.',
      );
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('none');
      expect(wordsOf(await robin.privacy('status'))).toBe(
        `\nThis bot asks for no consent. \`/privacy about\` says what it stores about you, and why.\n\n${BANS}`,
      );
      expect(wordsOf(await robin.privacy('about'))).toContain('Nothing below needs your consent.');
      expect(wordsOf(await robin.privacy('revoke'))).toBe(`There is no consent to withdraw.\n${BANS}`);
      expect((await user('de').privacy('consent')).content).toContain('bittet um keine Einwilligung');
      expect(errors).toEqual([]);
    });

    itInPart(
      'is none of a category that is not declared, which is reported with the way to mend it',
      async () => {
        const { user, errors } = await bot(TWO, { categories: ['statistisc'] });
        for (const [locale, words] of [
          ['en-US', 'This bot asks for no consent here at the moment.'],
          ['de', 'Dieser Bot bittet hier derzeit um keine Einwilligung.'],
        ])
          expect(await user(locale).privacy('consent')).toMatchObject({ content: words, embeds: [] });
        await until(() => errors.length > 0);
        expect(errors).toEqual([
          expect.objectContaining({
            message: expect.stringMatching(/: statistisc\. .* Declared: birthday, statistics\.$/),
          }),
        ]);
      },
    );

    itInPart(
      'says the purpose in the language of the user, else in English, else as it is declared',
      async () => {
        const only = {
          description: 'Greeting',
          description_de: 'Zum Gruß',
          descriptions: { fr: 'Pour saluer' },
        };
        const { user } = await bot([{ ...categoryOf('birthday', 'Birthday'), ...only }]);
        const said = async (locale: string) => {
          const [asked, about] = [await user(locale).privacy('consent'), await user(locale).privacy('about')];
          return [wordsOf(asked), wordsOf(about)];
        };
        const has = (words: string): unknown[] => [1, 2].map((): unknown => expect.stringContaining(words));
        expect(await said('de')).toEqual(has('Zum Gruß'));
        expect(await said('fr')).toEqual(has('Pour saluer'));
        expect(await said('pt-BR')).toEqual(has('Greeting'));
        const other = await bot([
          { ...categoryOf('birthday', 'Birthday'), ...only, description_en: 'To greet' },
        ]);
        expect(wordsOf(await other.user('pt-BR').privacy('about'))).toContain('To greet');
        const { description_de, descriptions } = only;
        const bare = await bot([{ ...categoryOf('birthday', 'Birthday'), description_de, descriptions }]);
        for (const command of ['consent', 'about'])
          expect(wordsOf(await bare.user('pt-BR').privacy(command))).toContain('Zum Gruß');
      },
    );

    itInPart('is asked anew where text or categories have changed since it was shown', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      const asked = await robin.privacy('consent');
      const chosen = await robin.select(asked, ['Birthday']);
      await lethe.categories.change({ key: 'birthday', description: 'To sell it.' });
      for (const [message, label] of [
        [asked, 'I agree'],
        [chosen, 'Agree to the selection (1)'],
      ] as const) {
        const again = await robin.press(message, label);
        expect(again.content).toContain('The text has changed');
        expect(wordsOf(again)).toContain('To sell it.');
        expect((await lethe.consents.status(idsOf(robin))).status).toBe('pending');
      }
      const stale = await robin.select(asked, ['Birthday']);
      expect(componentsOf(stale)[0]?.options?.map((option) => option.default)).toEqual([false, false]);
    });

    itInPart('withdraws what is selected no longer', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const value = { ...idsOf(robin), category: 'statistics', data: { value: 'x' } };
      await lethe.data.submit(value);
      const asked = await robin.privacy('consent');
      expect(asked.content).toContain('You agreed to this on');
      expect(componentsOf(asked)[0]?.options?.map((option) => option.default)).toEqual([true, true]);
      await robin.press(await robin.select(asked, ['Birthday']), 'Agree to the selection (1)');
      const status = await lethe.consents.status(idsOf(robin));
      const states = Object.fromEntries((status.categories ?? []).map((one) => [one.key, one.status]));
      expect(states['birthday']).toBe('accepted');
      expect(states['statistics']).not.toBe('accepted');
      expect(status.data_erased_at ?? status.categories?.find(({ data_erased_at: at }) => at)).toBeDefined();
      await expect(lethe.data.submit(value)).rejects.toMatchObject({ status: 403 });
      // And the other one alone, which withdraws all that was granted.
      await robin.press(
        await robin.select(await robin.privacy('consent'), ['Statistics']),
        'Agree to the selection (1)',
      );
      const other = await lethe.consents.status(idsOf(robin));
      expect(other.categories).toContainEqual(
        expect.objectContaining({ key: 'statistics', status: 'accepted' }),
      );
      expect(other.categories).not.toContainEqual(
        expect.objectContaining({ key: 'birthday', status: 'accepted' }),
      );
    });

    itInPart('takes a no', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      const declined = await agreed(robin, 'No, thank you');
      expect(declined).toMatchObject({
        content: 'Understood. You have not agreed to anything. If you change your mind: `/privacy consent`.',
        components: [],
      });
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('none');
      const [entry] = await lethe.consents.history(idsOf(robin)).toArray();
      expect(entry).toMatchObject({ action: 'declined', source: 'discord' });
      expect(await toldStatus(robin)).toMatch(/^You declined on .*`\/privacy consent`\.$/);
      await agreed(robin);
      const kept = await agreed(robin, 'No, thank you');
      expect(kept.content).toContain('stays in force');
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('accepted');
      expect(await toldStatus(robin)).toMatch(/^You agreed on /);
      await lethe.consents.request({ ...idsOf(robin), consent_version: 'newer' });
      await lethe.consents.decline(idsOf(robin));
      expect(await toldStatus(robin)).toMatch(/^You agreed on [^]*\n\nYou declined a newer text on /);
    });

    itInPart(
      'is not said never to have been asked where the request has ended with its category',
      async () => {
        const { lethe, user } = await bot(TWO);
        const [robin, kim] = [user(), user('de')];
        const categories = [TWO[0]!.key];
        for (const one of [robin, kim])
          await lethe.consents.request({ ...idsOf(one), consent_version: '1.0', categories });
        await lethe.categories.delete(categories[0]!);
        expect(await toldStatus(robin)).toMatch(
          /^You have given no consent, and no request waits for your answer\./,
        );
        expect(await toldStatus(kim)).toMatch(
          /^Du hast keine Einwilligung gegeben, und keine Anfrage wartet/,
        );
      },
    );

    itInPart('is never said not to have been asked after a no, in either language', async () => {
      const { lethe, user } = await bot(TWO);
      const [robin, kim] = [user('de'), user()];
      expect(await toldStatus(robin)).toContain(
        'Du hast keine Einwilligung gegeben, und keine Anfrage wartet',
      );
      await agreed(robin, 'Nein, danke');
      expect(await toldStatus(robin)).toMatch(/^Du hast am <t:\d+:f> abgelehnt\. .*`\/privacy consent`\.$/);
      expect((await robin.privacy('revoke')).content).toContain('keine Einwilligung');
      expect(await toldStatus(robin)).toMatch(/^Du hast am <t:\d+:f> abgelehnt\. /);
      await agreed(kim);
      await kim.press(await kim.privacy('revoke'), 'Withdraw everything');
      await agreed(kim, 'No, thank you');
      expect(await toldStatus(kim)).toMatch(
        /^You withdrew your consent on [^]*\n\nYou declined on <t:\d+:f>\./,
      );
      await lethe.consents.request({ ...idsOf(kim), consent_version: 'newer' });
      expect(await toldStatus(kim)).not.toContain('declined');
    });
  });

  describe('an interaction that arrives twice', () => {
    itInPart('acts once', async () => {
      const { lethe, user, seat } = await bot(TWO);
      const robin = user();
      const asked = await robin.privacy('consent');
      const payloads: Parameters<typeof seat.deliver>[0][] = [];
      const recording = new DiscordUser(
        { discord, deliver: (payload) => (payloads.push(payload), seat.deliver(payload)) },
        ...[robin.guildId, 'en-US', robin.id],
      );
      await recording.press(asked, 'I agree');
      await lethe.consents.revoke(idsOf(robin));
      const [payload] = payloads;
      if (payload === undefined) throw new Error('No payload');
      await discord.interact(seat.deliver, { ...payload, token: 'a-replayed-one' }, asked);
      expect((await lethe.consents.status(idsOf(robin))).status).not.toBe('accepted');
    });
  });

  describe('a withdrawal', () => {
    itInPart('is for some categories, or for all', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const some = await robin.select(await robin.privacy('revoke'), ['Statistics']);
      expect(some.content).toBe('You have withdrawn your consent to: Statistics.');
      const states = (await lethe.consents.status(idsOf(robin))).categories;
      expect(states).toContainEqual(expect.objectContaining({ key: 'birthday', status: 'accepted' }));
      expect((await robin.privacy('status')).embeds[0]?.description).toMatch(
        /Birthday: agreed\n• Statistics: withdrawn/,
      );
      await robin.press(await robin.privacy('revoke'), 'Withdraw everything');
      expect((await robin.privacy('revoke')).content).toBe('There is no consent to withdraw.');
    });

    itInPart('is offered anew where a selected category was deleted meanwhile', async () => {
      const { lethe, user, errors } = await bot([...TWO, categoryOf('roles', 'Roles')]);
      const robin = user();
      await agreed(robin);
      const asked = await robin.privacy('revoke');
      await lethe.categories.delete('roles');
      const again = await robin.select(asked, ['Birthday', 'Roles']);
      expect(again.content).toBe(
        'Nothing was withdrawn: what you can withdraw has changed. Please choose again.\n' +
          'Which consent do you withdraw? After that nothing new is stored under it.',
      );
      const labels = componentsOf(again)[0]?.options?.map(({ label }) => label);
      expect(labels).toEqual(['Birthday', 'Statistics']);
      const done = await robin.select(again, ['Birthday']);
      expect(done.content).toContain('You have withdrawn your consent to: Birthday.');
      await robin.press(again, 'Withdraw everything');
      expect((await robin.press(again, 'Withdraw everything')).content).toBe(
        'There is no consent to withdraw.',
      );
      expect(errors).toEqual([]);
    });
  });

  describe('a category that has another label today', () => {
    itInPart('is named in the words that the user was shown', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      const categories = TWO.map(({ key }) => key);
      const asked = await lethe.consents.request({ ...idsOf(robin), categories, language: 'en' });
      await lethe.categories.change({ key: 'statistics', label_en: 'Birthday greetings' });
      expect(await toldStatus(robin)).toContain('Statistics: ');
      await lethe.consents.accept({ consent_id: asked.id });
      expect(await toldStatus(robin)).toContain('Statistics: ');
      const told = await robin.select(await robin.privacy('revoke'), ['Statistics']);
      expect(told.content).toContain('Statistics');
      expect(await toldStatus(robin)).toContain('Statistics: ');
    });
  });

  describe('an erasure', () => {
    inTypeScript('is confirmed by a button that expires', async () => {
      let nowMs = Date.now();
      const { lethe, user } = await bot(TWO, { now: () => nowMs, confirmSeconds: 60 });
      const robin = user();
      await agreed(robin);
      const sure = await robin.privacy('forget');
      expect((await robin.press(sure, 'Keep my data')).content).toMatch(/^This button erases nothing\./);
      nowMs += 61_000;
      const late = await robin.press(sure, 'Erase my data');
      expect(late.content).toContain('The button has expired and erases nothing any more.');
      const forged = await robin.send(sure, 'lethe1:f:here:?');
      expect(forged.content).toContain('The button has expired and erases nothing any more.');
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('accepted');
    });

    itInPart('is of one guild, or of every guild with a certificate for each', async () => {
      const { lethe, user } = await bot(TWO);
      const here = user();
      const there = user('en-US', snowflake(), here.id);
      const elsewhere = user('en-US', snowflake(), here.id);
      for (const one of [here, there, elsewhere]) await agreed(one);
      await here.press(await here.privacy('forget', { where: 'here' }), 'Erase my data');
      expect((await lethe.consents.status(idsOf(there))).status).toBe('accepted');
      const sure = await here.privacy('forget', { where: 'everywhere' });
      const erased = await here.press(sure, 'Erase my data');
      // A second press changes the same message: the salts of the first stay in it.
      expect((await here.press(sure, 'Erase my data')).files).toEqual(erased.files);
      const { certificates } = JSON.parse(erased.files['erasure-certificate.json'] ?? '') as {
        certificates: { guild_id: string; certificate: string }[];
      };
      expect(certificates.map(({ guild_id: id }) => id).sort()).toEqual(
        [there.guildId, elsewhere.guildId].sort(),
      );
      expect(certificates.every(({ certificate }) => certificate.startsWith('eyJ'))).toBe(true);
      expect(erased.content).toContain('has the certificates of the erasures, one for each server: they are');
      const again = await here.press(await here.privacy('forget', { where: 'everywhere' }), 'Erase my data');
      expect(again.content).toBe('Nothing was stored about you.');
    });
  });

  describe('a file with salts, which are answered once,', () => {
    itInPart('stays in its message after a press of a button that has expired', async () => {
      const { user } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const erased = await robin.press(await robin.privacy('forget'), 'Erase my data');
      const late = await robin.send(erased, 'lethe1:f:here:?');
      expect(late.content).toContain('The button has expired and erases nothing any more.');
      expect(late.files).toEqual(erased.files);
      expect(late.files['erasure-certificate.json']).toContain('certificate_salt');
    });

    inTypeScript('stays in its message after a press that fails', async () => {
      const { user, privacy } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const sure = await robin.privacy('forget');
      const erased = await robin.press(sure, 'Erase my data');
      jest
        .spyOn(privacy['options'].lethe.privacy, 'forget')
        .mockRejectedValueOnce(new NetworkError('x', { code: 'network_error' }));
      const [button] = componentsOf(sure);
      const failed = await robin.send(erased, button?.custom_id ?? '');
      expect(failed.content).not.toEqual(erased.content);
      expect(failed.files).toEqual(erased.files);
    });
  });

  describe('the button that keeps the data', () => {
    inTypeScript('denies no erasure of the one beside it, and takes away no file of it', async () => {
      const { user, privacy } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const rights = privacy['options'].lethe.privacy;
      const forget = rights.forget.bind(rights);
      let open = (): void => undefined;
      const held = new Promise<void>((resolve) => (open = resolve));
      const spy = jest.spyOn(rights, 'forget').mockImplementation(async (...given) => {
        await held;
        return forget(...given);
      });
      const sure = await robin.privacy('forget');
      const erased = robin.press(sure, 'Erase my data');
      await until(() => spy.mock.calls.length === 1);
      const keeping = 'This button erases nothing. If you have pressed the other one too, that one counts.';
      expect((await robin.press(sure, 'Keep my data')).content).toBe(keeping);
      open();
      const done = await erased;
      expect(done.content).toContain('Your data has been erased.');
      // A press whose answer is late.
      const keep = componentsOf(sure).find(({ label }) => label === 'Keep my data');
      const late = await robin.send(done, keep?.custom_id ?? '');
      expect([late.content, late.files]).toEqual([keeping, done.files]);
    });
  });

  describe('a failure of the service', () => {
    inTypeScript('keeps the button of an erasure and the salts of what is done', async () => {
      const { lethe, user, privacy, errors } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const done = { request_id: 'r', guild_id: '2', certificate_salt: 'salt of r' };
      const details = { requests: [{ ...done, status: 'completed' }] };
      const failure = new LetheError('Some are done', { code: 'internal_error', details });
      jest.spyOn(privacy['options'].lethe.privacy, 'forgetEverywhere').mockRejectedValueOnce(failure);
      const failed = await robin.press(
        await robin.privacy('forget', { where: 'everywhere' }),
        'Erase my data',
      );
      expect(failed.content).toMatch(
        /^Something failed, .*\nThe attached file has the salt of each certificate/,
      );
      expect(JSON.parse(failed.files['erasure-certificate.json'] ?? '')).toEqual({
        ...{ user_id: robin.id, certificates: [{ ...done, certificate: null }] },
      });
      expect(errors).toEqual([failure]);
      expect((await robin.press(failed, 'Erase my data')).content).toContain('Your data has been erased.');
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('none');
    });

    inTypeScript('leaves the text of a consent above the button that agrees to it', async () => {
      const { user, privacy } = await bot(TWO);
      const robin = user();
      const { consents } = privacy['options'].lethe;
      jest.spyOn(consents, 'accept').mockRejectedValueOnce(new NetworkError('x', { code: 'network_error' }));
      const asked = await robin.privacy('consent');
      const failed = await robin.press(asked, 'I agree');
      expect(failed).toEqual({
        ...asked,
        content: expect.stringMatching(/^Something failed, .*\n.*about`$/),
      });
      expect(await robin.press(failed, 'I agree')).toMatchObject({
        ...{ content: expect.stringContaining('Thank you. You agreed to:'), embeds: [] },
      });
    });

    inTypeScript('after a withdrawal does not say that the withdrawal has failed', async () => {
      let nowMs = Date.now();
      const { lethe, user, privacy } = await bot(TWO, { now: () => nowMs });
      const robin = user();
      await agreed(robin);
      const asked = await robin.privacy('revoke');
      nowMs += 60_000;
      const missing = new NotFoundError('x', { code: 'not_found' });
      const list = jest.spyOn(privacy['options'].lethe.categories, 'list').mockImplementation(() => {
        throw missing;
      });
      expect((await robin.press(asked, 'Withdraw everything')).content).toContain('Something failed');
      expect((await lethe.consents.status(idsOf(robin))).status).toBe('accepted');
      list.mockRestore();
      expect((await robin.press(asked, 'Withdraw everything')).content).toContain('You have withdrawn');
    });
  });

  describe('a receipt and a certificate', () => {
    inTypeScript('are not said to be in a file that has salts alone', async () => {
      const { lethe, user, privacy } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const missing = () => lethe.privacy.certificate('00000000-0000-7000-8000-000000000000');
      jest.spyOn(privacy['options'].lethe.privacy, 'certificate').mockImplementationOnce(missing);
      const { content } = await robin.press(await robin.privacy('forget'), 'Erase my data');
      expect(content).toContain('The attached file has the salt of each certificate');
      expect(content).not.toContain('is the certificate');
    });

    itInPart('are said to be what they are, beside the page that checks them where it is known', async () => {
      // Discord takes no message with a button to a local address.
      for (const publicUrl of [undefined, 'http://localhost:3000', `${PUBLIC_URL}/`]) {
        const { user } = await bot(TWO, publicUrl === undefined ? {} : { publicUrl });
        const robin = user();
        const asked = await robin.privacy('consent');
        const done = await robin.press(asked, 'I agree');
        // A second press changes the same message: it takes nothing away.
        const { content, components, files } = await robin.press(asked, 'I agree');
        expect({ content, components, files }).toEqual({
          ...{ content: done.content, components: done.components },
          files: { 'consent-receipt.jwt': done.files['consent-receipt.jwt'] },
        });
        const erased = await robin.press(await robin.privacy('forget'), 'Erase my data');
        expect(done.content).toContain('The attached file is your receipt: it is signed,');
        expect(erased.content).toContain(
          'The attached file is the certificate of the erasure: it is signed,',
        );
        const links = [done, erased].map((one) => componentsOf(one).map(({ label, url }) => [label, url]));
        const link = publicUrl?.startsWith(PUBLIC_URL) ? [['Check the file', `${PUBLIC_URL}/verify`]] : [];
        expect(links).toEqual([link, link]);
      }
    });
  });

  describe('the privacy page', () => {
    itInPart('is offered by a link of the user, in their language, of one guild or of all', async () => {
      const { user, errors } = await bot(TWO);
      const robin = user('de');
      await agreed(robin, 'Ich stimme zu');
      const there = user('de', snowflake(), robin.id);
      await agreed(there, 'Ich stimme zu');
      for (const where of ['here', 'everywhere']) {
        const message = await robin.privacy('page', { where });
        expect(message.content).toMatch(/^Deine Datenschutzseite .*\nDer Link gilt bis <t:\d+:t>\. /);
        expect(message.flags).toBe(64);
        const [{ url = '', label } = {}] = componentsOf(message);
        expect([label, new URL(url).origin]).toEqual(['Datenschutzseite öffnen', PUBLIC_URL]);
        const page = await (await fetch(url.replace(PUBLIC_URL, service.url))).text();
        expect(page).toContain('<html lang="de"');
        const shown = [robin, there].map(({ guildId }) => page.includes(guildId ?? ''));
        expect(shown).toEqual([true, where === 'everywhere']);
      }
      expect(errors).toEqual([]);
    });
  });

  describe('an export', () => {
    itInPart('is of one guild or of all, and says where there is nothing', async () => {
      const { lethe, user } = await bot(TWO);
      const robin = user();
      expect((await robin.privacy('export')).content).toBe('Nothing is stored about you.');
      await agreed(robin);
      await lethe.data.submit({ ...idsOf(robin), category: 'birthday', data: { value: 'x' } });
      const exported = await robin.privacy('export', { where: 'everywhere' });
      const [{ label, url = '' } = {}] = componentsOf(exported);
      expect([label, exported.content]).toEqual([
        'Copy to read',
        expect.stringContaining('To read and to print'),
      ]);
      const page = await (await fetch(url.replace(PUBLIC_URL, service.url))).text();
      expect(page).toContain('Download to read');
      expect(page).not.toContain('Erase everything');
      const file = exported.files['privacy-export.json'] ?? '';
      expect(JSON.parse(file)).toMatchObject({
        guilds: [{ guildId: robin.guildId, data: { birthday: { value: 'x' } } }],
      });
      expect(file).not.toContain('"success"');
    });

    itInPart("says that the part of the bot's own stores is missing until they have answered", async () => {
      const { lethe, user, errors } = await bot(TWO);
      const robin = user();
      await agreed(robin);
      const holder = { key: 'warnings', label_de: 'x', label_en: 'x', covers: ['warnings'] };
      await lethe.holders.register({ kind: 'pull', ...holder });
      for (const where of ['here', 'everywhere']) {
        const { content } = await robin.privacy('export', { where });
        expect(content).toContain('What they have about you from other servers can be missing.');
        // It claims no part that has not come.
        expect(content).toContain("and what the bot's own stores have answered for the same servers.");
        expect(content).toMatch(
          /\nThe bot's own stores have been asked, and their part is not complete yet\./,
        );
      }
      for (const { task_id } of await lethe.holders.tasks({ key: 'warnings' }).toArray())
        await lethe.holders.acknowledge({ key: 'warnings', task_id, result: 'nothing' });
      expect((await robin.privacy('export')).content).not.toContain('not complete yet');
      expect(errors).toEqual([]);
    });

    inTypeScript(
      'says of a store that is long silent whom to ask, and of one that was not asked where to ask it',
      async () => {
        const { user, privacy } = await bot(TWO);
        const robin = user();
        const silent =
          /\nSome of the bot's own stores have not given their part in time\. Please ask privacy@bot\.example\./;
        const cases = [
          ['overdue'],
          ['asked', 'overdue'],
          ['asked'],
          ['stated', 'nothing'],
          ['stated', 'not_asked'],
        ];
        for (const states of cases) {
          const document = { guilds: states.map((state) => ({ holders: [{ state }] })) };
          jest
            .spyOn(privacy['options'].lethe.data, 'exportStream')
            .mockResolvedValueOnce(new Blob([JSON.stringify(document)]).stream());
          const { content } = await robin.privacy('export');
          expect(content).toContain('Your data is in the attached file.');
          const said = [
            silent.test(content),
            content.includes('again in some minutes'),
            content.includes(
              "\nFor some servers the bot's own stores were not asked: give `/privacy export` there.",
            ),
          ];
          expect(said).toEqual(['overdue', 'asked', 'not_asked'].map((state) => states.includes(state)));
        }
      },
    );

    inTypeScript(
      'is whole or not sent: without the history where that is too large, else with whom to ask',
      async () => {
        const { lethe, user, privacy } = await bot(TWO);
        const robin = user();
        await agreed(robin);
        await lethe.data.submit({
          ...idsOf(robin),
          category: 'birthday',
          data: { value: 'x'.repeat(20_000) },
        });
        for (let at = 0; at < 4; at++)
          await lethe.audit.write({
            ...idsOf(robin),
            event_type: 'data_exported',
            details: { note: 'y'.repeat(8_000) },
          });
        const asked = { id: '1', userId: robin.id, guildId: robin.guildId, locale: 'en-US' };
        const act = { kind: 'command', name: 'privacy', subcommand: 'export', options: {} } as const;
        const room = 16 * 1024;
        const short = await privacy.reply({ ...asked, act, fileMaxBytes: 30_000 + room });
        expect(short.content).toMatch(
          /Left out, .*: the history, .*, and what the bot's own stores have\.\n/,
        );
        expect(JSON.parse(new TextDecoder().decode(short.files[0]?.data))).toMatchObject({
          data: { birthday: {} },
        });
        const none = await privacy.reply({ ...asked, act, fileMaxBytes: 10_000 + room });
        expect(none.files).toEqual([]);
        expect(none.content).toMatch(
          /^Your data is too large for a file on Discord\. Please ask privacy@bot\.example\.\nTo read/,
        );
      },
    );
  });
});
