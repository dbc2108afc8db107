import { ApiError } from '@app/kernel';
import fc from '../../../test/support/fast-check';
import { atDepth, itInPart } from '../../../test/support/depth';
import { parseBatch } from './batch';

const LIMITS = { bodyLimitBytes: 2_000, jsonDepthLimit: 16 };
const parsed = (text: string) => parseBatch(Buffer.from(text), LIMITS);

const name = fc.constantFrom('items', 'item', 'a', 'it"ems', '[items', '\\items', 'x'.repeat(100) + '"]');
const value = fc.jsonValue({ maxDepth: 3 });
const objects = fc.array(fc.dictionary(fc.oneof(name, fc.string()), value, { maxKeys: 3 }), { maxLength: 4 });

/** The JSON text of a value with white space, and some characters escaped. */
const written = (given: unknown, space: string, escaped: boolean): string => {
  const text = JSON.stringify(given, undefined, space);
  return escaped ? text.replaceAll('i', '\\u0069').replaceAll('}', '} ') : text;
};

describe('parseBatch', () => {
  itInPart('reads what JSON.parse reads, whatever is beside the items', async () => {
    const body = fc.tuple(fc.array(fc.tuple(name, fc.oneof(value, objects)), { maxLength: 5 }), objects);
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.constantFrom('', ' ', '\t', '\n'),
        fc.boolean(),
        async ([beside, items], space, escaped) => {
          // The last of several lists with one name counts.
          const members = [...beside, ['items', items] as const].map(
            ([key, one]) => `${written(key, '', escaped)}${space}:${written(one, space, escaped)}`,
          );
          const text = `{${members.join(`${space},`)}}`;
          const expected: unknown = JSON.parse(text.replace(/\\u0000/g, ''));
          const got = await parsed(text);
          if (text.length > LIMITS.bodyLimitBytes || /\\u0000|\\ud[89a-f]/i.test(text)) return;
          expect(got).toEqual(expected);
        },
      ),
      { numRuns: atDepth(500, 20_000) },
    );
  });

  it('refuses what JSON.parse refuses: texts with one character less, more or another one', async () => {
    const text = '{"a":[1],"items":[{"b":"c\\"]"},{"d":[{}]}, {}]}';
    const characters = ['', ',', ']', '[', '}', '{', '"', '\\', ':', ' ', '1'];
    for (let at = 0; at < text.length; at++)
      for (const removed of [0, 1])
        for (const character of characters) {
          const changed = text.slice(0, at) + character + text.slice(at + removed);
          const got = await parsed(changed);
          const verdict = attempt(changed);
          if (verdict === undefined) expect([changed, got]).toEqual([changed, expect.any(ApiError)]);
          else if (!(got instanceof ApiError)) {
            const read = got as { items?: unknown[] };
            const given = verdict as { items?: unknown[] };
            expect([changed, read]).toEqual([
              changed,
              { ...given, ...(given.items && { items: read.items }) },
            ]);
            if (Array.isArray(given.items))
              given.items.forEach((item, place) => {
                const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
                expect([changed, read.items?.[place]]).toEqual([
                  changed,
                  isObject ? item : expect.any(ApiError),
                ]);
              });
          } else expect(typeof verdict !== 'object' || Array.isArray(verdict)).toBe(true);
        }
  });

  it.each([
    '{"items":[garbage],"items":[{}]}',
    '{"items":[{},{]],"items":[]}',
    '{"items":[{}],"\\u0069tems":[{},nul],"items":[{}]}',
    '{"items":[garbage],"items":5}',
    `{"items":[${'{},'.repeat(150)}garbage],"items":[{}]}`,
  ])('refuses a list that is no JSON, though another one of its name counts: %#', async (text) => {
    expect(await parsed(text)).toMatchObject({
      details: { fields: [{ field: 'body', message: expect.stringContaining('valid JSON') }] },
    });
  });

  it('keeps a little of very many items', async () => {
    const got = (await parsed(`{"items":[${'{},'.repeat(100_000)}{}]}`)) as { items: unknown[] };
    expect(got.items).toHaveLength(101);
  });

  it('refuses more around the items than a body may have', async () => {
    const around = (length: number) => parsed(`{"items":[{}],"more":"${'x'.repeat(length)}"}`);
    expect(await around(LIMITS.bodyLimitBytes - 30)).toMatchObject({ items: [{}] });
    expect(await around(LIMITS.bodyLimitBytes)).toMatchObject({ code: 'payload_too_large' });
    expect(await parsed(`{${'"items":[{}],'.repeat(LIMITS.bodyLimitBytes)}"a":1}`)).toMatchObject({
      code: 'payload_too_large',
    });
  });
});

function attempt(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
