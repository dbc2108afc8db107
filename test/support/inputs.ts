import type { Answer, Json } from './client';
import { expectFaults } from './expected';

/** The name of a test and a value; `undefined` leaves the field out. */
export type Case = readonly [label: string, value: unknown];

const WRONG_TYPES: readonly Case[] = [
  ['a boolean', true],
  ['an array', ['123456789012345678']],
  ['an object', { id: '123456789012345678' }],
];

export const ABSENT: readonly Case[] = [
  ['missing', undefined],
  ['null', null],
];

/** Texts that are no PlatformId and can be part of a path or query. */
export const BAD_SNOWFLAKE_TEXTS: readonly Case[] = [
  ['of 16 digits', '1234567890123456'],
  ['of 21 digits', '123456789012345678901'],
  ['signed', '+12345678901234567'],
  ['negative', '-12345678901234567'],
  ['hexadecimal', '0x123456789012345678'],
  ['spaced', ' 123456789012345678'],
  ['followed by a line break', '123456789012345678\n'],
  ['of full-width digits', '１２３４５６７８９０１２３４５６７８'],
  ['of Arabic-Indic digits', '١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧'],
  ['of letters', 'abcdefghijklmnopqr'],
  ['decimal', '12345678901234567.0'],
  ['an injection', "123456789012345678' OR 1=1--"],
];

export const BAD_SNOWFLAKES: readonly Case[] = [
  ...ABSENT,
  ...BAD_SNOWFLAKE_TEXTS,
  ...WRONG_TYPES,
  ['empty', ''],
  ['a JSON number', 123456789012345680],
];

export const GOOD_SNOWFLAKES: readonly Case[] = [
  ['of 17 digits', '12345678901234567'],
  ['of 20 digits', '12345678901234567890'],
  ['the bot-wide scope', '00000000000000000'],
];

/** Values that are no text of 1 to `max` code points, besides absent ones. */
export function badTexts(max: number): readonly Case[] {
  return [
    ...WRONG_TYPES,
    ['a number', 7],
    ['empty', ''],
    ['of blanks', ' \t\u00a0'],
    ['of characters that no one sees', '\u200b\u2060\u3164\u2800\ufe0f'],
    [`of ${max + 1} characters`, 'a'.repeat(max + 1)],
    [`of ${max + 1} emoji`, '😀'.repeat(max + 1)],
    ['full of variation selectors', 'a'.repeat(10) + '\uFE0F'.repeat(max * 10)],
    ['with a NUL', 'a\0b'],
    ['with a lone high surrogate', 'a\ud800'],
    ['with a lone low surrogate', '\udc00a'],
  ];
}

export function goodTexts(max: number): readonly Case[] {
  return [
    ['one character', 'x'],
    [`${max} characters`, 'n'.repeat(max)],
    [`${max} emoji`, '😀'.repeat(max)],
    ['markup', '<script>alert(1)</script>'],
    ['SQL', `Robert"); DROP TABLE bots;--' OR 1=1`],
    ['right-to-left text', 'שלום עולם'],
  ];
}

/** Keys of categories and fields that the pattern refuses. */
export const BAD_KEYS: readonly Case[] = [
  ...ABSENT,
  ...WRONG_TYPES,
  ['a number', 1],
  ['empty', ''],
  ['upper case', 'Profile'],
  ['starting with a digit', '1profile'],
  ['with a hyphen', 'my-profile'],
  ['with a space', 'my profile'],
  ['with a dot', 'my.profile'],
  ['with an umlaut', 'größe'],
  ['followed by a line break', 'profile\n'],
  ['a path', '../profile'],
];

/** Keys with a special meaning in JavaScript; the pattern allows them. */
export const PECULIAR_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'tostring',
  'hasownproperty',
  '_',
  '_1',
];

export const BAD_UUIDS: readonly Case[] = [
  ['a word', 'x'],
  ['a number', '1'],
  ['a UUID without hyphens', '018f2f00000070008000000000000000'],
  ['a UUID in braces', '%7B018f2f00-0000-7000-8000-000000000000%7D'],
  ['a UUID and a line break', '018f2f00-0000-7000-8000-000000000000%0A'],
  ['a NUL', '%00'],
  ['SQL', "'%20OR%201=1--"],
  ['10 KB long', 'a'.repeat(10_000)],
];

export const UNKNOWN_UUID = '018f2f00-0000-7000-8000-00000000dead';

export const BAD_PAGES: readonly Case[] = [
  ['zero', '0'],
  ['negative', '-1'],
  ['a fraction', '1.5'],
  ['in exponent form', '1e2'],
  ['hexadecimal', '0x10'],
  ['signed', '%2B1'],
  ['a word', 'abc'],
  ['empty', ''],
  ['a space', '%20'],
  ['beyond the safe integers', '9007199254740993'],
];

export const BAD_PAGE_SIZES: readonly Case[] = [...BAD_PAGES, ['101', '101']];

/** One test per case: the value is refused with 400, which names only its field. */
export function itRefuses(
  fieldName: string,
  cases: readonly Case[],
  send: (body: Json) => Promise<Answer>,
  valid: () => Json,
): void {
  it.each(cases)(`answers 400 invalid_request naming ${fieldName} (%s)`, async (_, value) => {
    expectFaults(await send({ ...valid(), [fieldName]: value }), fieldName);
  });
}

/** One test per case: the value is accepted. */
export function itTakes(
  fieldName: string,
  cases: readonly Case[],
  send: (body: Json) => Promise<Answer>,
  valid: () => Json,
  status: number,
): void {
  it.each(cases)(`answers ${status} when ${fieldName} is good (%s)`, async (_, value) => {
    const answer = await send({ ...valid(), [fieldName]: value });
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
  });
}
