import fc from '../../../test/support/fast-check';
import type { Lethe } from '@lethe/sdk';
import { commandOf } from './commands';
import { ACTS, customId, isOurs, maskOf, parseCustomId, placesOf } from './custom-id';
import { verifyUrlOf } from './public-url';
import { BotFacts } from './facts';
import { cut, LIMITS, pagesOf } from './reply';
import { DiscordRest } from './rest';
import { bestTag, wordsFor } from './texts';
import { DE } from './texts/de';
import { EN } from './texts/en';
import { Waiting, WAITING_MAX } from './waiting';

// The parts of the conversation that need no service.

const text = fc.string({
  unit: fc.constantFrom('a', ' ', '\n', 'ß', '🎂', '**'),
  maxLength: 9_000,
  size: 'max',
});
const isWhole = (part: string): boolean => part.isWellFormed();

describe('pages', () => {
  it('have every word of a text, fit an embed, and cut no character', () => {
    fc.assert(
      fc.property(text, (given) => {
        const pages = pagesOf(given);
        expect(pages.join('').replace(/\s/g, '')).toBe(given.replace(/\s/g, ''));
        expect(
          pages.every((page) => page.length <= LIMITS.embed && page.trim() !== '' && isWhole(page)),
        ).toBe(true);
      }),
    );
  });

  it('cut no character of two units where there is no blank', () => {
    const pages = pagesOf(`a${'🎂'.repeat(5_000)}`);
    expect(pages.map(isWhole)).toEqual([true, true, true]);
  });

  it('end at the ends of lines', () => {
    const [first = ''] = pagesOf(`${'a'.repeat(3_000)}\n${'b'.repeat(3_000)}`);
    expect(first).toBe(`${'a'.repeat(3_000)}\n`);
  });
});

describe('a label', () => {
  it('is cut with a mark, and inside no character', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 120 }), (given, max) => {
        const shown = cut(given, max);
        expect(shown.length).toBeLessThanOrEqual(max);
        expect(isWhole(shown)).toBe(true);
        expect(shown === given || shown.endsWith('…')).toBe(true);
      }),
    );
  });
});

describe('a custom_id', () => {
  it('carries a selection of up to 50, and is read back', () => {
    const places = fc.uniqueArray(fc.integer({ min: 0, max: 49 }), { maxLength: 50 });
    fc.assert(
      fc.property(places, (chosen) => {
        const id = customId(ACTS.choose, 1, 99, maskOf(chosen), 'f'.repeat(24));
        expect(id.length).toBeLessThanOrEqual(LIMITS.customId);
        const mask = parseCustomId(id)?.parts[2] ?? '';
        expect(placesOf(mask, 50)).toEqual([...chosen].sort((one, other) => one - other));
      }),
    );
  });

  it('is not made too long, and is known by its version', () => {
    expect(() => customId(ACTS.page, 'x'.repeat(100))).toThrow(RangeError);
    expect([isOurs('lethe7:p'), parseCustomId('lethe7:p'), isOurs('poll:1')]).toEqual([
      true,
      undefined,
      false,
    ]);
    expect(placesOf('not a mask!', 50)).toEqual([]);
  });
});

describe('the page that checks files', () => {
  it('is at the origin of the service, where users reach it', () => {
    for (const origin of ['https://gdpr.bot.example', 'http://gdpr.bot.example:3000/'])
      expect(verifyUrlOf(origin)).toBe(`${origin.replace(/\/$/, '')}/verify`);
    for (const local of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000', 'https://lethe'])
      expect(verifyUrlOf(local)).toBeUndefined();
    for (const wrong of [
      'gdpr.bot.example',
      '',
      'ftp://a.example',
      'https://a.example/b',
      'https://a.example:x',
    ])
      expect(() => verifyUrlOf(wrong)).toThrow(TypeError);
  });
});

describe('the commands that wait', () => {
  it('are bounded in number and time, and each is taken once, by its user', () => {
    let nowMs = 0;
    const waiting = new Waiting(() => nowMs);
    const then = async () => undefined;
    const ids = Array.from({ length: WAITING_MAX + 1 }, () => waiting.add('1', then));
    const [oldest = '', next = ''] = ids;
    expect(waiting.take(oldest, '1')).toEqual({ isLost: true });
    expect(waiting.take(next, '2')).toEqual({ isLost: true });
    expect([waiting.take(next, '1'), waiting.take(next, '1')]).toEqual([
      { then, isLost: false },
      { then: undefined, isLost: false },
    ]);
    nowMs = 15 * 60_000;
    expect(waiting.take(ids.at(-1) ?? '', '1')).toEqual({ isLost: true });
    const late = waiting.add('1', then);
    expect([waiting.take(late, '1').then, waiting['kept'].size]).toEqual([then, 1]);
  });
});

describe('the words', () => {
  const valuesOf = (words: string): string[] =>
    [...words.matchAll(/\{\w+\}/g)].map(([found]) => found).sort();

  it.each(Object.keys(EN) as (keyof typeof EN)[])('say %s in both languages with the same values', (key) => {
    expect(DE[key]).not.toBe('');
    expect(valuesOf(DE[key])).toEqual(valuesOf(EN[key]));
  });

  it('promise no more of the privacy page than the key of a bot may give', () => {
    for (const { command_page: page } of [EN, DE])
      expect(page).not.toMatch(/everything|alles|decide|entscheid/);
  });

  it('are those of the language that fits best', () => {
    const fits = (locale: string, ...tags: string[]) => bestTag(locale, tags);
    expect(fits('pt-BR', 'en', 'pt', 'pt-BR')).toBe('pt-BR');
    expect(fits('es-419', 'en', 'es-ES')).toBe('es-ES');
    expect(fits('ja', 'de', 'en')).toBe('en');
    expect(fits('ja', 'fr')).toBe('fr');
    expect(wordsFor('fr', { fr: { busy: 'Patience' } }).say('busy')).toBe('Patience');
    expect(wordsFor('fr', { fr: { busy: 'Patience' } }).say('later')).toBe(EN.later);
    expect(wordsFor('en').say('about_contact', { contact: '{bot}' })).toBe('Contact for privacy: {bot}');
  });
});

describe('the declaration of /privacy', () => {
  const described = (
    value: unknown,
  ): { description: string; description_localizations: Record<string, string> }[] => {
    if (typeof value !== 'object' || value === null) return [];
    const inner = Object.values(value).flatMap(described);
    return 'description' in value ? [value as ReturnType<typeof described>[number], ...inner] : inner;
  };

  it('has descriptions that Discord takes whole, in the languages that there are', () => {
    const all = described(commandOf({ 'pt-BR': { command: 'O que este bot guarda' } }));
    expect(all).toHaveLength(12);
    for (const { description, description_localizations: others } of all) {
      expect(Object.keys(others)).toEqual(['de', 'pt-BR']);
      for (const words of [description, ...Object.values(others)]) {
        expect(words.length).toBeLessThanOrEqual(LIMITS.label);
        expect(words).not.toMatch(/…$/);
      }
    }
  });
});

describe('what the bot has declared', () => {
  it('is read again after a minute, and after the clock was set back', async () => {
    let nowMs = 3_600_000;
    const me = jest.fn().mockResolvedValue({});
    const facts = new BotFacts({ bots: { me } } as unknown as Lethe, undefined, () => nowMs, jest.fn());
    const reads: number[] = [];
    for (const at of [3_600_000, 3_659_999, 3_660_000, 0, 59_999]) {
      nowMs = at;
      await facts.bot();
      reads.push(me.mock.calls.length);
    }
    expect(reads).toEqual([1, 1, 2, 3, 3]);
  });
});

describe('a request to Discord', () => {
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('that is never answered ends, and is repeated as after a fault of the network', async () => {
    jest.useFakeTimers();
    const limits = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const end = new AbortController();
      setTimeout(() => end.abort(new Error('late')), ms);
      return end.signal;
    });
    const fetch = jest.fn(
      (_url: unknown, init?: RequestInit) =>
        new Promise<Response>((_, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('late')));
        }),
    );
    const rest = new DiscordRest({ fetch });
    const file = { name: 'data.json', data: new Uint8Array(2) };
    const reply = { content: 'Done.', embeds: [], components: [], files: [] };
    for (const files of [[], [file]]) {
      const answer = rest.answer('1', 'token', { ...reply, files }).catch(String);
      await jest.runAllTimersAsync();
      expect(await answer).toBe('DiscordError: PATCH /webhooks/1/…/messages/@original: Error: late');
    }
    expect(limits.mock.calls.flat()).toEqual([
      ...Array<number>(5).fill(15_000),
      ...Array<number>(5).fill(150_000),
    ]);
    expect(fetch).toHaveBeenCalledTimes(10);
  });

  it('that is refused until a time in no seconds is repeated after a second', async () => {
    jest.useFakeTimers({ now: 0 });
    const times: number[] = [];
    const headers = { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' };
    const rest = new DiscordRest({
      fetch: () => {
        times.push(Date.now());
        return Promise.resolve(new Response(null, times.length < 3 ? { status: 429, headers } : {}));
      },
    });
    const done = rest.get('/users/@me');
    await jest.runAllTimersAsync();
    await done;
    expect(times).toEqual([0, 1_000, 2_000]);
  });
});
