import { mailtoOf } from '@app/kernel';
import { html, type Html } from './html';

/** A text that is not the service's own: shown as text, whatever it has in it. */
class Foreign {
  constructor(
    readonly text: string,
    readonly href?: string,
  ) {}
}

type Part = string | Foreign;

/** A sentence of a document: the service's own words, and texts of others in them. Only {@link said} makes it. */
export class Said {
  constructor(readonly parts: readonly Part[]) {}
}

/** A sentence whose literal words are the service's own. What is put in is a text of others, or another sentence. */
export function said(words: readonly string[], ...put: readonly (string | Said)[]): Said {
  const parts: Part[] = [words[0] ?? ''];
  for (const [at, one] of put.entries()) {
    if (one instanceof Said) parts.push(...one.parts);
    else parts.push(new Foreign(one));
    parts.push(words[at + 1] ?? '');
  }
  return new Said(parts);
}

/** The service's own words. */
export const own = (words: string): Said => new Said([words]);

/** A text of others with the address that it leads to, which was checked when it was stored. */
export const linked = (text: string, href: string): Said => new Said([new Foreign(text, href)]);

/** A text of others, if there is one. */
export function written(text: string | undefined): Said | undefined {
  return text === undefined ? undefined : said`${text}`;
}

/** An address to write to, if there is one. */
export function mailTo(address: string | null | undefined): Said | undefined {
  return address == null ? undefined : linked(address, mailtoOf(address));
}

/** What is given of it, in one line. */
export function listed(sentences: readonly (Said | undefined)[]): Said | undefined {
  const all = sentences.filter((sentence) => sentence !== undefined);
  if (all.length === 0) return undefined;
  return new Said(all.flatMap(({ parts }, at) => (at === 0 ? parts : [', ', ...parts])));
}

/** A sentence for a reader that shows it as text. */
export function textOf({ parts }: Said): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

/** A sentence as HTML. The scheme of each address was checked, or is of mail. */
export function line({ parts }: Said): Html[] {
  return parts.map((part) => {
    if (typeof part === 'string') return html`${part}`;
    const { text, href } = part;
    if (href === undefined) return html`<bdi class="words">${text}</bdi>`;
    return html`<a href="${href}" rel="noopener nofollow"><bdi>${text}</bdi></a>`;
  });
}
