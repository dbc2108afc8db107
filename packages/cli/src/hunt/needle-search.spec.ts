import { createHash } from 'node:crypto';
import { canaryId, canaryWord, unusual, valuesOf } from './canaries';
import { NeedleSearch, Scan } from './needle-search';
import { type Needle, needlesOf } from './spellings';

const ID = '7823456789012345677';
const WORD = 'kavidorusenobatelipomuja';
const PEOPLE = [{ user_id: ID, canaries: [{ about: 'a message', word: WORD }] }];
const SEARCH = new NeedleSearch(needlesOf(PEOPLE));

function scanned(search: NeedleSearch, ...chunks: (string | Buffer)[]) {
  const scan = new Scan(search);
  for (const chunk of chunks) scan.feed(Buffer.from(chunk as string));
  scan.end();
  return scan.hits.map(({ needle, offset, line, times }) => ({ ...needle, offset, line, times }));
}
const spellingsIn = (content: string | Buffer): string[] =>
  scanned(SEARCH, content).map(({ about, spelling }) => `${about}: ${spelling}`);

const each = (text: string, spell: (code: number) => string): string =>
  [...Buffer.from(text)].map(spell).join('');
const int64 = (write: (to: Buffer) => unknown): Buffer => {
  const to = Buffer.alloc(8);
  write(to);
  return to;
};
const hash = (name: string) => createHash(name).update(ID);

describe('the spellings of lethe hunt', () => {
  it.each<[string, string | Buffer]>([
    ['id: plain', `<@${ID}>`],
    ['id: plain', JSON.stringify({ user: ID })],
    ['id: UTF-16', Buffer.from(`id=${ID};`, 'utf16le')],
    ['id: UTF-16', Buffer.from(`id=${ID};`, 'utf16le').swap16()],
    ['id: hex', Buffer.from(`u:${ID}`).toString('hex')],
    ['id: JSON-escaped', each(ID, (code) => `\\u00${code.toString(16)}`)],
    ['id: URL-encoded', each(ID, (code) => `%${code.toString(16)}`)],
    ['id: HTML entities', each(ID, (code) => `&#${code};`)],
    ['id: HTML entities', each(ID, (code) => `&#x${code.toString(16)};`)],
    ['id: 64-bit big-endian', int64((to) => to.writeBigInt64BE(BigInt(ID)))],
    ['id: 64-bit little-endian', int64((to) => to.writeBigInt64LE(BigInt(ID)))],
    ['id: 64-bit with its sign turned', int64((to) => to.writeBigUInt64BE(BigInt(ID) + 2n ** 63n))],
    ['id: floating-point big-endian', int64((to) => to.writeDoubleBE(Number(ID)))],
    ['id: floating-point little-endian', int64((to) => to.writeDoubleLE(Number(ID)))],
    ['id: rounded plain', JSON.stringify({ user: Number(ID) })],
    ['id: rounded plain', BigInt(Number(ID)).toString()],
    ['id: MD5 in hex', hash('md5').digest('hex')],
    ['id: SHA256 in hex', hash('sha256').digest('hex')],
    ['id: SHA256 in hex', hash('sha256').digest('hex').toUpperCase()],
    ['id: SHA256 in base64', hash('sha256').digest('base64')],
    ['id: SHA512', hash('sha512').digest()],
    ['a message: plain', unusual(WORD)],
    ['a message: plain', JSON.stringify(unusual(WORD))],
    ['a message: plain', encodeURIComponent(unusual(WORD))],
    ['a message: capitals', unusual(WORD).toUpperCase()],
    ['a message: hex', Buffer.from(unusual(WORD)).toString('hex').toUpperCase()],
    ['a message: JSON-escaped', each(WORD, (code) => `\\u00${code.toString(16).toUpperCase()}`)],
    ['a message: URL-encoded', each(WORD, (code) => `%${code.toString(16).toUpperCase()}`)],
    ['a message: HTML entities', each(WORD, (code) => `&#x${code.toString(16).toUpperCase()};`)],
  ])('finds %s', (expected, spelled) => {
    const content = Buffer.concat([
      Buffer.from('before '),
      Buffer.from(spelled as string),
      Buffer.from(' after'),
    ]);
    expect(spellingsIn(content)).toContain(expected);
  });

  it.each(['base64', 'base64url'] as const)('finds %s at each offset, whatever is around it', (encoding) => {
    for (const text of [ID, WORD])
      for (let before = 0; before < 6; before++)
        for (let after = 0; after < 6; after++)
          for (const filling of ['\0', 'ÿ', '~'])
            expect(
              spellingsIn(
                Buffer.from(filling.repeat(before) + text + filling.repeat(after)).toString(encoding),
              ),
            ).toContain(text === ID ? 'id: base64' : 'a message: base64');
  });

  it('finds nothing of another id and of another word', () => {
    expect(
      spellingsIn(`${BigInt(ID) + 2n} ${canaryWord()} ${hash('sha256').update('1').digest('hex')}`),
    ).toEqual([]);
  });

  it('tells people apart', () => {
    const people = [canaryId(), canaryId()].map((user_id) => ({ user_id, canaries: [] }));
    const search = new NeedleSearch(needlesOf(people));
    expect(scanned(search, people[1]?.user_id ?? '')).toMatchObject([{ person: 2, about: 'id' }]);
  });
});

describe('the search of lethe hunt', () => {
  it('finds a needle wherever two chunks are cut, at the same offset and line', () => {
    const content = Buffer.from(`one\ntwo\n${'x'.repeat(700)}\n"${ID}" and ${WORD}\nlast ${ID}`);
    const whole = scanned(SEARCH, content);
    expect(whole).toMatchObject([
      { about: 'id', spelling: 'plain', offset: 710, line: 4, times: 2 },
      { about: 'a message', spelling: 'plain', offset: 735, line: 4, times: 1 },
    ]);
    for (let cut = 0; cut <= content.length; cut++)
      expect(scanned(SEARCH, content.subarray(0, cut), content.subarray(cut))).toEqual(whole);
    expect(scanned(SEARCH, ...[...content].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  it('finds needles that overlap, and one at either end', () => {
    const needle = (text: string): Needle => ({
      ...{ bytes: Buffer.from(text), person: 1, about: text, spelling: 'plain' },
    });
    const search = new NeedleSearch([needle('12345678'), needle('34567890'), needle('123456789')]);
    expect(scanned(search, '1234567890').map(({ about, offset }) => [about, offset])).toEqual([
      ...[
        ['12345678', 0],
        ['123456789', 0],
        ['34567890', 2],
      ],
    ]);
    expect(scanned(new NeedleSearch([needle('aaaaaaaa')]), 'a'.repeat(10))).toMatchObject([{ times: 3 }]);
  });

  it('names no line in a file that is no text', () => {
    expect(scanned(SEARCH, `\0\n${ID}`)).toMatchObject([{ offset: 2, line: null }]);
  });

  it('finds the one canary in a stream of 50 MB, and keeps no more than a bounded rest', () => {
    const scan = new Scan(SEARCH);
    const chunk = Buffer.alloc(65_536, 'no canary here, only numbers 123456789012345678\n');
    for (let at = 0; at < 800; at++) scan.feed(chunk);
    scan.feed(Buffer.from(ID.slice(0, 7)));
    scan.feed(Buffer.from(ID.slice(7)));
    scan.end();
    expect(scan.hits).toMatchObject([{ offset: 800 * 65_536, times: 1 }]);
  });
});

describe('the made-up users of lethe hunt', () => {
  it('have ids that no platform gives before 2070, and that fit a signed 64-bit number', () => {
    const first = BigInt(Date.UTC(2070, 0, 1) - Date.UTC(2015, 0, 1)) << 22n;
    for (let at = 0; at < 1000; at++) {
      const id = canaryId();
      expect(id).toMatch(/^\d{19}$/);
      expect(BigInt(id) >= first && BigInt(id) < 2n ** 63n).toBe(true);
      expect(BigInt(Number(id))).not.toBe(BigInt(id));
    }
  });

  it('have a value for each type of field', () => {
    const fields = ['string', 'number', 'boolean', 'date', 'json'].map((type) => ({
      key: `a_${type}`,
      type,
    }));
    const values = valuesOf(fields, WORD);
    expect(Object.keys(values)).toEqual(fields.map(({ key }) => key));
    expect(values['a_string']).toContain(WORD);
    expect(JSON.stringify(values['a_json'])).toContain(WORD);
  });
});
