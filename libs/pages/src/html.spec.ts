import fc from '../../../test/support/fast-check';
import { escaped, heldIn, html, inField } from './html';
import { DE } from './texts.de';
import { EN } from './texts.en';

/** Any code point: the same unit of fast-check computes for seconds before its first text. */
const unit = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code));

describe('the template of the page', () => {
  it('lets no text become mark-up, in content or in an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (text) => {
        const page = html`<p title="${text}">${text}</p>`.text;
        const [, attribute, content] = /^<p title="([^"]*)">([^<]*)<\/p>$/s.exec(page) ?? [];
        expect([attribute, content]).toStrictEqual([escaped(text), escaped(text)]);
      }),
    );
  });

  it('leaves out marks that turn the direction of text', () => {
    expect(escaped('a\u202eb\u2066c\u0000d')).toBe('abcd');
  });

  it('keeps these marks in a field of a form, which has its own direction, and lets no text become mark-up there', () => {
    expect(html`<input value="${inField('a\u200f\u2067"<\u2069\u0000b')}" />`.text).toBe(
      '<input value="a\u200f\u2067&quot;&lt;\u2069b" />',
    );
    expect(heldIn('a\u200f\u0001\uffffb\tc\n')).toBe('a\u200fb\tc\n');
  });

  it('joins lists, and leaves out what is absent', () => {
    const items = ['a', '<'].map((item) => html`<li>${item}</li>`);
    expect(html`${items}${null}${undefined}${false}`.text).toBe('<li>a</li><li>&lt;</li>');
  });
});

const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
};

describe('the texts of the page', () => {
  it('have the same keys in every language', () => {
    expect(shapeOf(DE)).toStrictEqual(shapeOf(EN));
  });
});
