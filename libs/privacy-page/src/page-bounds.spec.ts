import type { ArgumentsHost } from '@nestjs/common';
import { ApiError } from '@app/kernel';
import type { Logger } from 'pino';
import { html } from './html';
import { PageFilter } from './page.filter';
import { PageParts, Room } from './page-parts';
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

it('answers a request over the limit with a page, and reads nothing of it', () => {
  const read: string[] = [];
  const watched = new Proxy<Record<string, unknown>>({}, { get: (_, name) => void read.push(String(name)) });
  const context = {
    id: 'r',
    rate: undefined,
    logger: { isLevelEnabled: () => false },
    meter: { answered: () => 0 },
  };
  const sent: unknown[] = [];
  const response = {
    req: { context, complete: true, method: 'GET', headers: watched, query: watched },
    headersSent: false,
    writeHead: (status: number) => sent.push(status),
    end: (text: string) => sent.push(text),
  };
  const host = { switchToHttp: () => ({ getResponse: () => response }) } as unknown as ArgumentsHost;
  new PageFilter({} as Logger).catch(new ApiError('rate_limit_exceeded', 'Too many requests'), host);
  expect(sent).toStrictEqual([429, expect.stringContaining('<html lang="en">')]);
  expect(read).toStrictEqual([]);
});

describe('the room of a page', () => {
  it('is asked before a part is made: behind one that does not fit none is', () => {
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
