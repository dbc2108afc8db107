/** Text that is HTML already. Only {@link html} makes it. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | false | null | undefined | readonly Part[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Marks that change the direction of the text around them, and control characters that HTML forbids. */
const UNSEEN = /[^\P{Cc}\t\n\r]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Surrogate}/gu;

const FORBIDDEN = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Surrogate}/gu;

export function escaped(text: string): string {
  return withoutMarkUp(text.replace(UNSEEN, ''));
}

/** What a field of a form can hold of a text: a field has its own direction, so that marks of it turn nothing around them. */
export function heldIn(text: string): string {
  return text.replace(FORBIDDEN, '');
}

/** A text as a field of a form holds it. What its user sends back has every mark that was there. */
export function inField(text: string): Html {
  return new Html(withoutMarkUp(heldIn(text)));
}

function withoutMarkUp(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
}

/** A template whose parts are escaped, unless they are made by it. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((before, text, at) => before + textOf(parts[at - 1]) + text));
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === false || part === null || part === undefined) return '';
  if (typeof part === 'object') return part.map(textOf).join('');
  return escaped(`${part}`);
}
