import type { Locator, Page, Route } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { snowflake, type SubjectIds, subject } from '../support/snowflakes';

const team = useConsole({ RATE_LIMIT_CONSOLE: '10000' });
const { service } = team;
let bot: Bot;
let user: SubjectIds;

const refuses =
  (status: number, code: string, message: string, details?: object) =>
  (route: Route): Promise<void> =>
    route.fulfill({ status, json: { success: false, error: { code, message, details } } });

/** A script after which answers from an address end in the middle of their body. */
const cuts = (path: string): string => `{
  const real = fetch;
  globalThis.fetch = (input, init) => {
    if (!String(input).includes('${path}')) return real(input, init);
    let hasBegun = false;
    const pull = (controller) => {
      if (hasBegun) return controller.error(new TypeError('network error'));
      hasBegun = true;
      controller.enqueue(new TextEncoder().encode('{"success":true,"data":{"a":'));
    };
    return Promise.resolve(new Response(new ReadableStream({ pull })));
  };
}`;

describeInBrowser('the console', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
    await bot.hasCategory('birthday');
    user = { user_id: snowflake(), guild_id: snowflake() };
    await bot.post('/servers/register', { guild_id: user.guild_id, name: 'Garden of Ada' });
    await bot.hasConsent(user);
    await bot.hasData(user, 'birthday', { value: '1 May' });
  });

  const userPath = (): string => `/users/${user.guild_id}/${user.user_id}`;

  /** The page of the user, after the team has signed in there. */
  async function opened(view: View = DESKTOP, key = bot.key): Promise<Page> {
    const page = await team.signsIn(key, { address: userPath(), view });
    await page.waitForSelector('[title=data_submitted]');
    return page;
  }

  /** The button that confirms the erasure of the user, after its question was answered. */
  async function erases(page: Page): Promise<Locator> {
    await page.getByRole('button', { name: 'Erase in this server' }).click();
    await page.fill('dialog input', 'Garden of Ada');
    return page.locator('dialog button.danger');
  }

  describe('offline', () => {
    it('says at once that an act was not done, and does it not when the connection is back', async () => {
      const page = await opened();
      const confirm = await erases(page);
      await page.context().setOffline(true);
      await confirm.click();
      await page.locator('dialog [role=alert]', { hasText: 'The service does not answer' }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.method()));
      const back = page.waitForResponse('**/api/v1/users?**');
      await page.context().setOffline(false);
      await back;
      await page.getByText('You are offline').waitFor({ state: 'detached' });
      expect(sent).not.toContain('POST');
      expect((await bot.status(user)).data).toMatchObject({ status: 'accepted' });
    });

    it('says of what was not yet loaded that the service does not answer', async () => {
      const page = await opened();
      await page.context().setOffline(true);
      await page.click('nav a[href="/console/webhooks"]');
      await page.locator('main [role=alert]', { hasText: 'The service does not answer' }).first().waitFor();
    });
  });

  describe('where an answer is cut', () => {
    it('says of an export that the service does not answer, and calls it no fault of the page', async () => {
      const page = await opened();
      await page.evaluate(cuts('/data/export'));
      await page.getByRole('button', { name: 'Download export' }).click();
      await page.locator('main [role=alert]').waitFor();
      expect(await page.textContent('main [role=alert]')).toContain('The service does not answer');
    });

    it('says of the public keys why they are not there', async () => {
      const page = await team.signsIn(bot.key, { address: '/audit' });
      const alert = page.locator('main [role=alert]');
      const saysOf = async (said: string): Promise<void> => {
        await page.getByRole('button', { name: 'Check the whole log' }).click();
        await alert.waitFor();
        expect(await alert.textContent()).toContain(said);
      };
      const keys = '**/.well-known/lethe-keys.json';
      await page.route(keys, refuses(429, 'rate_limit_exceeded', 'Too many'));
      await saysOf('Too many requests');
      await page.unroute(keys);
      await page.route(keys, (route) => route.fulfill({ status: 503, body: 'Away' }));
      await page.reload();
      await page.waitForSelector('.side');
      await saysOf('cannot do this at the moment');
      await page.reload();
      await page.waitForSelector('.side');
      await page.evaluate(cuts('lethe-keys.json'));
      await saysOf('The service does not answer');
    });
  });

  describe('when it cannot load anew what it shows', () => {
    it.each([
      [DESKTOP, 'what is shown may be old', 'cannot do this at the moment', 'Try again'],
      [
        { ...PHONE, width: 390, scheme: 'light' },
        'kann veraltet sein',
        'kann das im Moment nicht ausführen',
        'Noch einmal',
      ],
    ] as const)('says so above it: %o', async (view, isOld, why, again) => {
      const page = await team.signsIn(bot.key, { address: '/users', view });
      await page.waitForSelector('tbody tr');
      await page.route('**/api/v1/users?**', refuses(503, 'service_unavailable', 'The database is away'));
      await page.locator('.refresh').click();
      const alert = page.locator('main [role=alert]');
      await alert.waitFor();
      const said = await alert.textContent();
      for (const text of [isOld, why, 'The database is away']) expect(said).toContain(text);
      expect(await page.locator('tbody tr').count()).toBe(1);
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-old', view);
      await page.unroute('**/api/v1/users?**');
      await page.getByRole('button', { name: again }).click();
      await alert.waitFor({ state: 'detached' });
    });

    it('says nevertheless that a consent is withdrawn', async () => {
      const page = await opened();
      await page.getByRole('button', { name: 'Withdraw consent' }).click();
      await page.route('**/api/v1/users?**', refuses(429, 'rate_limit_exceeded', 'Too many'));
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('text=The consent is withdrawn.');
      await page.locator('main [role=alert]', { hasText: 'Too many requests' }).first().waitFor();
    });
  });

  describe('where the service answers 503', () => {
    it('says what the service says, and not that it was not reached', async () => {
      const page = await opened();
      const full = 'The disk of the database is almost full; nothing was changed';
      await page.route('**/consents/revoke', refuses(503, 'service_unavailable', full));
      await page.getByRole('button', { name: 'Withdraw consent' }).click();
      await page.locator('dialog button.danger').click();
      const alert = page.locator('dialog [role=alert]');
      await alert.waitFor();
      expect(await alert.textContent()).toContain(full);
      expect(await alert.textContent()).not.toContain('does not answer');
    });

    it('says that an erasure is on record, and has its salt by a repeat, also after the question was left', async () => {
      const page = await opened();
      const keys: (string | undefined)[] = [];
      const done: Record<string, string>[] = [];
      let isAway = true;
      await page.route('**/gdpr/forget-user', async (route) => {
        keys.push(route.request().headers()['idempotency-key']);
        const answer = await route.fetch();
        done.push(((await answer.json()) as { data: Record<string, string> }).data);
        if (!isAway) return route.fulfill({ response: answer });
        const details = { request_id: done[0]?.['request_id'], status: 'processing' };
        return refuses(503, 'service_unavailable', 'The erasure is on record', details)(route);
      });
      const confirm = await erases(page);
      await confirm.click();
      const alert = page.locator('dialog [role=alert]');
      await alert.waitFor();
      const { request_id: id = '', certificate_salt: salt } = done[0] ?? {};
      expect(await alert.textContent()).toContain(`The erasure ${id} is on record. Confirm again`);
      expect(await alert.textContent()).not.toContain('does not answer');
      isAway = false;
      await page.getByRole('button', { name: 'Cancel' }).click();
      const again = await erases(page);
      expect(await alert.count()).toBe(0);
      await again.click();
      await page.waitForSelector('text=The user is erased.');
      expect(await page.locator('.erased code').allTextContents()).toStrictEqual([salt]);
      expect(new Set(keys).size).toBe(1);
    });

    it('says what the service says of an erasure of more than one user and server that was not ended', async () => {
      await bot.hasConsent({ ...user, guild_id: snowflake() });
      const page = await opened();
      const said = 'The database does not answer: request it again';
      const one = { request_id: 'an-erasure', status: 'processing' };
      const alert = page.locator('dialog [role=alert]');
      const saysIt = async (): Promise<void> => {
        await page.locator('dialog button.danger').click();
        await alert.waitFor();
        expect(await alert.textContent()).toContain(said);
        expect(await alert.textContent()).not.toContain('Confirm again');
      };
      const details = { ...one, requests: [] };
      await page.route('**/gdpr/forget-user', refuses(503, 'service_unavailable', said, details));
      await page.getByRole('button', { name: 'Erase in all servers' }).click();
      await page.fill('dialog input', 'all servers');
      await saysIt();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.route('**/api/v1/servers/**', refuses(503, 'service_unavailable', said, one));
      await page.click('nav a[href="/console/settings"]');
      await page.getByRole('button', { name: 'Remove …' }).click();
      await page.getByRole('button', { name: 'Go on' }).click();
      await page.fill('dialog input', 'Garden of Ada');
      await saysIt();
      const asksAnew = async (name: string): Promise<void> => {
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('button', { name }).click();
        await page.waitForSelector('dialog[open]');
        expect(await alert.count()).toBe(0);
      };
      await asksAnew('Go on');
      await page.goto(`${service.url}/console/categories/birthday`);
      await page.getByRole('button', { name: 'Remove this category …' }).click();
      await page.route('**/data/categories/birthday', refuses(503, 'service_unavailable', said));
      await page.fill('dialog input', 'birthday');
      await saysIt();
      await asksAnew('Remove this category …');
    });

    it.each([
      [DESKTOP, 'This is still being done'],
      [{ ...DESKTOP, language: 'de' }, 'Das wird noch ausgeführt'],
    ] as const)(
      'says of a repeat that comes before the act has ended that it does: %o',
      async (view, said) => {
        const page = await opened(view);
        const running = { reason: 'idempotency_in_progress' };
        await page.route('**/gdpr/forget-user', refuses(409, 'conflict', 'Being answered', running));
        await page.getByRole('button', { name: /Erase in this server|Auf diesem Server löschen/ }).click();
        await page.fill('dialog input', 'Garden of Ada');
        const refused = page.waitForResponse('**/gdpr/forget-user');
        await page.locator('dialog button.danger').click();
        await refused;
        // The call waits for the act until its ten minutes are over.
        await page.evaluate(() => {
          const now = performance.now.bind(performance);
          performance.now = () => now() + 600_000;
        });
        await page.locator('dialog [role=alert]', { hasText: said }).waitFor();
      },
    );

    it('lists each server once where a repeat of an erasure answers it again', async () => {
      await bot.hasConsent({ ...user, guild_id: snowflake() });
      const page = await opened();
      await page.route('**/gdpr/forget-user', async (route) => {
        const { data } = (await (await route.fetch()).json()) as { data: { requests: object[] } };
        const details = { requests: data.requests.slice(0, 1) };
        return refuses(500, 'internal_error', 'Some guilds are done', details)(route);
      });
      await page.getByRole('button', { name: 'Erase in all servers' }).click();
      await page.fill('dialog input', 'all servers');
      await page.locator('dialog button.danger').click();
      await page.locator('.erased', { hasText: 'has not ended in every server' }).waitFor();
      await page.unroute('**/gdpr/forget-user');
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('text=The user is erased.');
      expect(await page.locator('.erased li').count()).toBe(2);
    });
  });

  it.each([DESKTOP, { ...PHONE, width: 390, scheme: 'light' }] as const)(
    'keeps what the page alone has when the session ends, until the team goes to sign in: %o',
    async (view) => {
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read', 'write', 'erase'] });
      const page = await opened(view, data.api_key as string);
      await page.locator('.actions .primary').click();
      await page.locator('.link .primary').click();
      const link = (await page.locator('.link .notice code').textContent()) ?? '';
      await bot.delete(`/bots/${bot.id}/keys/${data.id as string}`);
      await page.locator('.refresh').click();
      const ended = page.locator('main [role=alert]', { has: page.getByRole('button') });
      await ended.waitFor();
      expect(await ended.textContent()).toMatch(/Your session has ended|Ihre Sitzung ist beendet/);
      expect(await page.locator('.link .notice code').textContent()).toBe(link);
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-session-ended', view);
      await ended.getByRole('button').click();
      await page.waitForSelector('input[type=password]');
      for (const text of [link, user.user_id]) expect(await page.content()).not.toContain(text);
      await page.fill('input[type=password]', bot.key ?? '');
      await page.press('input[type=password]', 'Enter');
      await page.waitForSelector('.facts');
      expect(await page.getByText(/session has ended|Sitzung ist beendet/).count()).toBe(0);
    },
  );

  it('sends nothing more after its session has ended, and leaves the session of another tab', async () => {
    const other = await service.registerBot({ name: 'Poll bot' });
    const page = await opened();
    const second = await page.context().newPage();
    await second.goto(`${service.url}/console`);
    await second.fill('input[type=password]', other.key ?? '');
    await second.press('input[type=password]', 'Enter');
    await second.waitForSelector('.side');
    await page.locator('.refresh').click();
    const ended = page.locator('main [role=alert]', { hasText: 'Your session has ended' });
    await ended.waitFor();
    await page.waitForSelector('.refresh[aria-busy=false]');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    await (await erases(page)).click();
    await page.locator('dialog [role=alert]').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForSelector('input[type=password]');
    expect(sent).toStrictEqual([]);
    await second.reload();
    await second.waitForSelector('.side');
    await second.waitForSelector('.loading', { state: 'detached' });
    expect(await second.getByText('session has ended').count()).toBe(0);
  });

  it('says of the id alone that was copied that it was', async () => {
    for (let n = 0; n < 20; n++) await bot.hasRequest(subject());
    const page = await team.signsIn(bot.key, { address: '/users?order=all' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.waitForSelector('tbody tr:nth-child(20)');
    await page.locator('tbody tr:first-child .copy').click();
    await page.waitForSelector('tbody .copy[title=Copied]');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForSelector('tbody tr:nth-child(20)', { state: 'detached' });
    expect(await page.locator('tbody .copy[title=Copied]').count()).toBe(0);
  });

  it('says how long ago a time is anew each minute', async () => {
    const page = await team.comes();
    await page.clock.install();
    await page.goto(`${service.url}/console${userPath()}`);
    await page.fill('input[type=password]', bot.key ?? '');
    await page.press('input[type=password]', 'Enter');
    const time = page.locator('tbody tr', { has: page.locator('[title=data_submitted]') }).locator('time');
    await time.waitFor();
    await page.clock.fastForward('10:00');
    // And the minutes in which the page was loaded.
    await time.getByText(/^1\d minutes ago$/).waitFor();
  });

  it.each([
    [DESKTOP, 'legitimate interests. Stored without consent. Reason: it has to be'],
    [
      { ...PHONE, width: 390, scheme: 'light' },
      'berechtigte Interessen. Ohne Einwilligung gespeichert. Begründung: es muss sein',
    ],
  ] as const)('says in the record why a category needs no consent: %o', async (view, said) => {
    const reasons = { requires_consent: false, reason_de: 'es muss sein', reason_en: 'it has to be' };
    const kept = { legal_basis: 'legitimate_interests', retention_days: 1 };
    await bot.hasCategory('stats', undefined, { ...kept, ...reasons });
    const page = await team.signsIn(bot.key, { address: '/reports', view });
    const row = page.locator('.record tbody tr', { hasText: 'stats' });
    await row.waitFor();
    expect(await row.textContent()).toContain(said);
    expect(await row.textContent()).toMatch(/1 (day|Tag)(?!s|e)/);
    expect(await team.accessibility()).toStrictEqual([]);
    await pictured(page, 'console-record', view);
  });

  it.each([
    [DESKTOP, 'A restriction counts as a withdrawal, and its end as an acceptance.'],
    [
      { ...PHONE, width: 390, scheme: 'light' },
      'Eine Einschränkung zählt als Widerruf, ihr Ende als Zustimmung.',
    ],
  ] as const)('says what its numbers of withdrawals count: %o', async (view, said) => {
    const page = await team.signsIn(bot.key, { address: '/', view });
    await page.getByText(said).waitFor();
    expect(await team.accessibility()).toStrictEqual([]);
    await pictured(page, 'console-overview-restrictions', view);
  });

  it('gives the focus back to the button that has opened a question', async () => {
    const page = await opened();
    const open = page.getByRole('button', { name: 'Erase in this server' });
    await open.press('Enter');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await open.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
  });

  it('leaves the focus to the page that comes while a question is open', async () => {
    const page = await opened();
    await page.click('nav a[href="/console/users"]');
    await page.waitForSelector('h1:has-text("Users")');
    await page.goBack();
    await page.waitForSelector('[title=data_submitted]');
    await page.locator('nav a').first().focus();
    // As in a browser in which a click gives a button no focus.
    await page.getByRole('button', { name: 'Erase in this server' }).dispatchEvent('click');
    await page.waitForSelector('dialog[open]');
    await page.goForward();
    await page.waitForSelector('h1:has-text("Users")');
    await page.locator('dialog').waitFor({ state: 'detached' });
    const heading = page.locator('h1');
    expect(await heading.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
  });

  it('takes the id of a server where a list cannot offer all of them', async () => {
    const page = await team.comes();
    const servers = Array.from({ length: 1_001 }, (_, at) => ({
      guild_id: (10n ** 17n + BigInt(at)).toString(),
      ...(at === 0 ? { name: null, unreadable: true } : { name: `Server ${at}` }),
    }));
    const pagination = { page: 1, page_size: 1_001, total_count: 1_001, total_pages: 1, next: null };
    await page.route('**/api/v1/servers?**', (route) =>
      route.fulfill({ json: { success: true, data: { servers, pagination } } }),
    );
    const elsewhere = subject();
    await bot.hasConsent(elsewhere);
    await page.goto(`${service.url}/console/users`);
    await page.fill('input[type=password]', bot.key ?? '');
    await page.press('input[type=password]', 'Enter');
    await page.waitForSelector('tbody tr:nth-child(2)');
    await page.getByLabel('Id of the server').fill(elsewhere.guild_id);
    await page.getByLabel('Id of the server').press('Enter');
    await page.waitForSelector('tbody tr:nth-child(2)', { state: 'detached' });
    expect(await page.textContent('tbody tr')).toContain(elsewhere.user_id);
    await page.goto(`${service.url}/console/audit`);
    await page.getByPlaceholder('Id of the server').fill(elsewhere.guild_id);
    await page.getByPlaceholder('Id of the server').press('Enter');
    await page.waitForURL(`**/audit?server=${elsewhere.guild_id}`);
  });
});
