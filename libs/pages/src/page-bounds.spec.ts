import type { ArgumentsHost } from '@nestjs/common';
import { ApiError, BOT_WIDE_GUILD_ID } from '@app/kernel';
import { html } from './html';
import { PageFilter } from './page-frame';
import { forgottenPage, type ShownErasure } from './page-last';
import { PageParts, Room } from './page-parts';
import type { OpenLink } from './privacy-links.service';
import { ReadableExport } from './readable-export';
import { languageOf } from './texts';

describe('the language of a page', () => {
  it.each([
    [undefined, 'en'],
    ['de', 'de'],
    ['en;q=0.2, de ; q=0.9', 'de'],
    ['fr\t;\tq=1,de-AT;q=0.5', 'de'],
    ['de;q=0, en', 'en'],
    ['de;level=1;q=0.1', 'en'],
  ])('of %j is %s', (accepted, language) => {
    expect(languageOf(undefined, null, accepted)).toBe(language);
  });

  it.each([' ', '\t', ';', ',', '=', '-', ';q=', ' ;', 'a'])(
    'is looked for in a bounded part of the header, whatever stands there: %j',
    (sign) => {
      const wanted = ',de;q=1';
      const filled = (length: number): string => `a,${sign.repeat(length / sign.length)}${wanted}`;
      expect(languageOf(undefined, null, filled(100))).toBe('de');
      expect(languageOf(undefined, null, filled(16_000))).toBe('en');
    },
  );
});

it('answers a request over the limit with a page in the language of its header, and reads nothing else of it', () => {
  const read: string[] = [];
  const watched = new Proxy<Record<string, unknown>>(
    {},
    {
      get: (_, name) => {
        read.push(String(name));
        return 'de, en;q=0.5';
      },
    },
  );
  const context = {
    id: 'r',
    rate: undefined,
    logger: { isLevelEnabled: () => false },
    meter: { answered: () => 0 },
    spans: {},
  };
  const sent: unknown[] = [];
  const response = {
    req: { context, complete: true, method: 'GET', headers: watched, query: watched, params: { token: 't' } },
    headersSent: false,
    writeHead: (status: number) => sent.push(status),
    end: (text: string) => sent.push(text),
  };
  const host = { switchToHttp: () => ({ getResponse: () => response }) } as unknown as ArgumentsHost;
  new PageFilter().catch(new ApiError('rate_limit_exceeded', 'Too many requests'), host);
  expect(sent).toStrictEqual([429, expect.stringContaining('<html lang="de">')]);
  expect(read).toStrictEqual(['accept-language']);
});

describe('the room of a page', () => {
  it('is asked before a part is made: after a part that does not fit, no other is made', () => {
    const room = new Room();
    const made: number[] = [];
    const shown = [10, 30_000, 10, 20].map((length) =>
      room.take(() => {
        made.push(length);
        return html`${'x'.repeat(length)}`;
      }),
    );
    expect(made).toStrictEqual([10, 30_000]);
    expect(shown.map((part) => part?.text.length)).toStrictEqual([10, undefined, undefined, undefined]);
  });

  it('does not make a part whose texts have no room already, and has this room for what follows', () => {
    const room = new Room();
    const made: number[] = [];
    const shown = [40_000, 100, 20_000, 10_000].map((length) =>
      room.fit(length, () => {
        made.push(length);
        return html`${'x'.repeat(length)}`;
      }),
    );
    expect(made).toStrictEqual([100, 20_000]);
    expect(shown.map((part) => part?.text.length)).toStrictEqual([undefined, 100, 20_000, undefined]);
    expect(room.take(() => html`${'x'.repeat(100)}`)).toBeDefined();
  });

  it('has no part that is larger than itself', () => {
    const room = new Room(100);
    room.take(() => html`${'x'.repeat(80)}`);
    expect(room.part(50).take(() => html`${'x'.repeat(30)}`)).toBeUndefined();
  });

  it('ends the making of values that are wide and deep as soon as they do not fit', () => {
    let read = 0;
    const leaf = () => ({
      get text() {
        read += 1;
        return 'x'.repeat(300);
      },
    });
    const twenty = (make: () => unknown) => Array.from({ length: 20 }, make);
    const wide = { many: twenty(() => twenty(leaf)) };
    expect(new PageParts('en').valuesOf(wide, undefined).text.length).toBeGreaterThan(25_000);
    // Of 400.
    expect(read).toBeLessThan(150);
  });
});

describe('the page after an erasure', () => {
  const erasure = (at: number): ShownErasure => ({
    ...{ request_id: `request ${at}`, certificate_salt: `salt ${at}`, guild_id: `${at}`.repeat(18) },
    ...{ certificate: 'a.b.c', names: { bot: 'Bot', categories: {} }, own_stores: undefined },
  });
  const unmade = { ...erasure(1), toJSON: () => JSON.parse('no JSON') as string };
  /** As the page has it in English. */
  const placeIn = (section: string): string =>
    /<dt>.*?Place<\/span><\/dt>\s*<dd>(.*?)<\/dd>/s
      .exec(section)![1]!
      .replace(/<span class="in" lang="de">.*?<\/span>|<[^>]*>/gs, '');
  const PLACES = [
    `Server Chess &lt;club&gt; (${'0'.repeat(18)})`,
    `Server ${'1'.repeat(18)}`,
    `Server ${'2'.repeat(18)}`,
    `Direct messages (${BOT_WIDE_GUILD_ID})`,
  ];
  const of = { botId: 'b', userId: '1' };
  const erasures = [erasure(0), unmade, erasure(2), { ...erasure(3), guild_id: BOT_WIDE_GUILD_ID }];
  const servers = new Map([[erasure(0).guild_id, 'Chess <club>']]);
  const page = forgottenPage(
    { of, erasures, isWhole: true, kept: { evidence: 1095, backups: 35 }, servers },
    'en',
    't',
  );

  it('is made in a turn for each certificate, and has numbers and salts of those that cannot be made', async () => {
    const pieces: string[] = [];
    await page.writeTo(async (piece) => void pieces.push(piece));
    expect(pieces).toHaveLength(6);
    for (const at of [0, 1, 2, 3])
      expect(pieces[at + 1]).toMatch(new RegExp(`request ${at}.*salt ${at}<`, 's'));
    expect(pieces.map((piece) => piece.includes('<textarea'))).toEqual([
      false,
      true,
      false,
      true,
      true,
      false,
    ]);
    expect(pieces.join('')).toMatch(/^<!doctype html>.*<\/html>\s*$/s);
  });

  it('has the numbers and salts alone where it cannot begin', () => {
    const { content, status } = page.reader!.faultPage(new ApiError('service_unavailable', 'Too many'));
    expect(status).toBe(200);
    for (const at of [0, 1, 2, 3]) expect(content).toMatch(new RegExp(`request ${at}.*salt ${at}<`, 's'));
    expect(content).not.toContain('<textarea');
    expect(content.split('<section>').slice(1).map(placeIn)).toEqual(PLACES);
  });

  it('names the place of each certificate with its id, which ties it to its user', async () => {
    const pieces: string[] = [];
    await page.writeTo(async (piece) => void pieces.push(piece));
    expect(pieces.slice(1, -1).map(placeIn)).toEqual(PLACES);
  });
});

describe('the copy to read', () => {
  const asked: string[] = [];
  const labels = (digest: string) => [{ key: 'place', label: `Place of ${digest}`, text: '' }];
  const reading = {
    copied: () => Promise.reject(new Error('not asked for')),
    words: (_: unknown, digest: string) => {
      asked.push(digest);
      return Promise.resolve({ title: '', body: '', categories: labels(digest) });
    },
  };
  const bot = { name: 'Bot', privacy_contact: null } as never;
  const link = { userId: '1'.repeat(18) } as OpenLink;
  const copy = new ReadableExport(
    reading,
    { bot, notice: {}, purposes: [], withdrawnDays: 30 },
    link,
    'en',
    '2026-01-01T00:00:00.000Z',
  );
  const written = async (section: string, item: Record<string, unknown>): Promise<string[]> => {
    const pieces: string[] = [];
    for await (const piece of copy.item(section, item)) pieces.push(piece);
    return pieces;
  };

  it('has the largest text in pieces that are not large', async () => {
    const categories = Array.from({ length: 50 }, () => ({ key: 'k', label: 'l', text: 'x'.repeat(10_000) }));
    const pieces = await written('consent_texts', { digest: 'sha256:0', title: 't', body: 'b', categories });
    expect(pieces.length).toBeGreaterThan(10);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(45_000);
  });

  it('reads the words of entries that follow each other once, and holds those of one text', async () => {
    const entry = (digest: string) => ({
      ...{ created_at: '2026-01-01T00:00:00.000Z', action: 'accepted', version: 'constructor' },
      ...{ categories: ['place', 'constructor'], texts: [{ language: 'en', digest }] },
    });
    for (const digest of ['a', 'a', 'b', 'b', 'a'])
      expect((await written('consent_history', entry(digest))).join('')).toMatch(
        new RegExp(
          `<bdi>Place of ${digest}</bdi></li><li><bdi>constructor</bdi>.*<dd><bdi>constructor</bdi>`,
        ),
      );
    expect(asked).toStrictEqual(['a', 'b', 'a']);
  });

  it('cuts long labels where entries name them, which their texts have whole', async () => {
    const label = 'x'.repeat(1_000);
    reading.words = () =>
      Promise.resolve({ title: '', body: '', categories: [{ key: 'place', label, text: '' }] });
    const [texts, details] = [[{ language: 'en', digest: 'c' }], { version: '1', category: 'place' }];
    const entry = { created_at: '2026-01-01T00:00:00.000Z', version: '1', action: 'accepted', texts };
    const event = { ...entry, event_type: 'consent_accepted', source: 'service', details };
    const cut = `<bdi>${'x'.repeat(300)}…</bdi>`;
    expect((await written('consent_history', { ...entry, categories: ['place'] })).join('')).toContain(cut);
    expect((await written('audit_events', event)).join('')).toContain(cut);
  });

  it('shows the sections of modules that the page does not know, under their own names', async () => {
    const pieces = await written('games.scores', { points: 7 });
    expect(pieces.join('')).toBe(
      '<h3>games.scores</h3><article><dl><dt><bdi>points</bdi></dt><dd><bdi>7</bdi></dd></dl></article>',
    );
  });
});
