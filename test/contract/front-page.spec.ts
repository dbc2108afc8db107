import { createHash } from 'node:crypto';
import { ConsoleFiles } from '@app/pages';
import { UnitOfWork } from '@app/database';
import { Degradations } from '@app/kernel';
import { Health } from '@app/runtime';
import { useServiceInProcess } from '../support/service';
import { stopWindows } from '../support/time';

const service = useServiceInProcess();
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const CONDITIONS = [
  ...['rate_limit_local', 'database_damaged', 'disk_low'],
  ...['clock_step', 'key_file_missing', 'log_failing', 'erasure_unfinished'],
];

const opened = (query = '', language = 'en') =>
  fetch(`${service.url}/${query}`, { headers: { accept: BROWSER, 'accept-language': language } });
const textOf = async (...given: string[]): Promise<string> => (await opened(...given)).text();
const languageOf = (page: string): string | undefined => /<html lang="(\w+)">/.exec(page)?.[1];

beforeAll(() => {
  service.app.get(Health).isServing = true;
});
afterEach(() => jest.restoreAllMocks());

describe('GET / in a browser', () => {
  it('says what this is, its version and state, and where to go, by links that lead somewhere', async () => {
    const answer = await opened();
    const page = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page).toContain('Everything works.');
    expect(page).toMatch(/Version \d+\.\d+\.\d+</);
    const links = [...page.matchAll(/<li><a href="([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(links.length).toBeGreaterThanOrEqual(3);
    for (const link of links) {
      const { status, body } = await fetch(new URL(link, answer.url));
      await body?.cancel();
      expect([link, status]).toEqual([link, 200]);
    }
  });

  it('is the page in the language of the switch, else in that of the browser, else in English', async () => {
    const languages = [
      ['', 'de-AT,de;q=0.9,en;q=0.8'],
      ['', 'en'],
      ['', 'fr'],
      ['?lang=en', 'de'],
      ['?lang=de', 'en'],
    ];
    const shown = [];
    for (const [query = '', language = ''] of [...languages, ['?lang=fr&lang=de', 'en']])
      shown.push(languageOf(await textOf(query, language)));
    expect(shown).toEqual(['de', 'en', 'en', 'en', 'de', 'en']);
    expect((await opened()).headers.get('vary')).toBe('Accept, Accept-Language');
  });

  it.each(['en', 'de'])('describes each condition of readiness in words: %s', async (language) => {
    // A watch of the service would end what it does not see.
    jest.spyOn(service.app.get(Degradations), 'current', 'get').mockReturnValue([...CONDITIONS, 'of_later']);
    const page = await textOf('', language);
    const [, list = ''] = /<p class="state worse">[^<]+<\/p>\s*<ul>([^]*?)<\/ul>/.exec(page) ?? [];
    expect(list.match(/<li>/g)).toHaveLength(CONDITIONS.length + 1);
    for (const condition of CONDITIONS) expect(page).not.toContain(condition);
    expect(page).toContain('of_later');
  });

  it('is answered 503, and says so, while the service cannot work', async () => {
    const health = service.app.get(Health);
    health.isServing = false;
    const answer = await opened();
    health.isServing = true;
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('It cannot work at present');
  });

  it('leads to the console only where that was built', async () => {
    const find = jest.spyOn(service.app.get(ConsoleFiles), 'find');
    find.mockReturnValue(undefined);
    expect(await textOf()).not.toContain('href="console"');
    find.mockReturnValue({ type: 'text/html', body: Buffer.alloc(0), caching: '' });
    expect(await textOf()).toContain('href="console"');
  });

  it('has no script, and its policy allows its own style alone', async () => {
    const answer = await opened();
    const page = await answer.text();
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(page).not.toMatch(/<script|style=|https?:/);
    const names = ['x-content-type-options', 'referrer-policy', 'cache-control'];
    expect(names.map((name) => answer.headers.get(name))).toEqual(['nosniff', 'no-referrer', 'no-cache']);
  });

  it.each([',', 'a/b,', 'a,', '"', ';q=0,', '-'])(
    'is chosen by a bounded part of the headers, since their parsers are not linear: %j',
    async (sign) => {
      const filled = (length: number, wanted: string): string =>
        `x${sign.repeat(length / sign.length)},${wanted}`;
      expect(languageOf(await textOf('', filled(2_000, 'de')))).toBe('en');
      const { status } = await fetch(service.url, { headers: { accept: filled(2_000, 'text/html') } });
      expect(status).toBe(404);
    },
  );

  it('is counted', async () => {
    stopWindows(service);
    const left = async () => Number((await opened()).headers.get('x-ratelimit-remaining'));
    const before = await left();
    expect(await left()).toBe(before - 1);
  });
});

describe('GET /health/ready', () => {
  it('says that the database does not answer while it hangs, and ask it once', async () => {
    const health = service.app.get(Health);
    const { answerMaxMs } = health;
    const ping = jest
      .spyOn(service.app.get(UnitOfWork), 'ping')
      .mockReturnValue(new Promise(() => undefined));
    Object.assign(health, { answerMaxMs: 1 });
    health.isServing = true;
    for (let count = 0; count < 2; count++) {
      const answer = await service.anonymous.send('GET', '/health/ready');
      expect(answer).toMatchObject({ status: 503, error: { message: 'The database does not answer' } });
    }
    expect(ping).toHaveBeenCalledTimes(1);
    ping.mockRestore();
    Object.assign(health, { answerMaxMs, asked: undefined });
  });
});
