// Values and keys that a field of a body may refuse. Each is raw text, which can be no JSON.

const quoted = (text: string): string => JSON.stringify(text);
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const repeated = (lengths: readonly number[], ...units: readonly string[]): string[] =>
  lengths.flatMap((length) => units.map((unit) => quoted(unit.repeat(length))));

const JSON_VALUES =
  'null true false [] {} [null] [[]] {"a":1} "" "\\u0000" 0 -0 -1 1 50 51 90 91 3650 3651 2592001 1.5 1e2 1e400 ' +
  '-1e400 1e-400 9007199254740993 123456789012345678901234567890 123456789012345678 "\\ud800" "\\udc00\\ud800" ' +
  '"a\\u0000Zebra" "\\ud83d\\ude00" "\\uffff\\ufdd0" "\\u202eZebra" {"__proto__":{"a":1}} {"$ne":null} {"length":1} ' +
  '{"constructor":{"prototype":{"a":1}}} {"toString":1,"valueOf":2} {"then":1} {"toJSON":1}';
const NO_JSON = `NaN Infinity 01 1. .5 +1 'x' undefined 0x10 "\\x41" "a // "\t"`;

const TEXTS =
  'é ﷺ ß İ \u2028 \ufeff 🏳️‍🌈 Zebra\r\nX-A:1 Zebra\n {{7*7}} ${7} % _ %s%n ../../etc/passwd <script> \\ " $1 ? :a @a';
const URLS =
  'http:// http://[::1 http://user:pw@receiver.invalid/ javascript:alert(1) https://receiver.invalid:99999/ ' +
  'http://169.254.169.254/ http://0x7f.1/ HTTP://RECEIVER.INVALID a@b a@receiver.invalid';
const TIMES =
  '2026-02-30 2026-13-01T00:00:00Z 0000-00-00 2026-01-01T00:00:00+24:00 +275760-09-14T00:00:00Z 2026-01-01T00:00:60.000Z';
const IDS = 'zzBOTzz zzPLATFORMzz zzCONSENTzz 018f2f00-0000-7000-8000-00000000dead all_guilds';

export const SCALARS: readonly string[] = [
  ...`${JSON_VALUES} ${NO_JSON}`.split(' '),
  ...[TEXTS, URLS, TIMES, IDS].flatMap((texts) => texts.split(' ')).map(quoted),
  ...["Zebra' OR 1=1--", 'http://a b', '"a b"@receiver.invalid'].map(quoted),
  ...repeated([16, 17, 20, 21, 35, 36, 64, 65, 100, 101], '1', 'a', '😀'),
  ...repeated([254, 500, 501, 1000, 1001, 2000, 2001, 2048, 2049, 8192, 10_000, 10_001, 20_001, 65_537], 'Z'),
  ...[`a${'\u0301'.repeat(5000)}`, 'a\ufe0f'.repeat(900)].map(quoted),
  ...[14, 15, 16, 17, 100, 5000].map(nested),
  `1${'0'.repeat(5000)}`,
  `[${Array.from({ length: 60 }, () => '"profile"').join()}]`,
  `[${Array.from({ length: 2000 }, () => '{}').join()}]`,
  `{${Array.from({ length: 2000 }, (_, at) => `"k${at}":0`).join()}}`,
];

const NAMES =
  '__proto__ constructor prototype toString hasOwnProperty toJSON then length bot_id guild_id user_id id scope consent_id ' +
  'categories mode status receipt created_at Name NAME a.b a[0] 0 -1 $where é \u202e';

export const KEYS: readonly string[] = [
  ...[...NAMES.split(' '), '', ' name', 'k'.repeat(300), 'K'.repeat(70_000)].map(quoted),
  ...['"\\u0000"', '"\\ud800"', '"\\u006eame"', '1', 'a', "'a'"],
];
