import { mailtoOf } from '@app/kernel';

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

export const mailTo = (address: string): Said => linked(address, mailtoOf(address));

/** Sentences in one, with the service's own words between them. */
export function joined(sentences: readonly Said[], between: string): Said {
  return new Said(sentences.flatMap(({ parts }, at) => (at === 0 ? parts : [between, ...parts])));
}

/** A sentence for a reader that shows it as text. */
export function textOf({ parts }: Said): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Said[])[];
}

/** Named facts, items of a list, a sentence, or a table. */
export type Block =
  | { readonly facts: readonly (readonly [name: string, value: Said])[] }
  | { readonly items: readonly Said[] }
  | { readonly text: Said }
  | { readonly table: Table };

/** A part of a document under a heading; a `part` belongs to the section before it. */
export interface Section {
  readonly title: Said;
  readonly isPart?: boolean;
  readonly blocks: readonly Block[];
}

export const section = (title: string, ...blocks: Block[]): Section => ({ title: own(title), blocks });

/** What is said, under its title; no section where nothing is. */
export function stated(title: string, text: string | Said | undefined): Section[] {
  return text === undefined ? [] : [section(title, { text: said`${text}` })];
}

/** What a document begins with. */
export interface Head {
  readonly language: 'de' | 'en';
  readonly title: Said;
  readonly lead: Said;
  /** The address of a page in its languages, up to the tag. */
  readonly address?: string;
}

/** A form of a document, made piece by piece. */
export interface DocumentForm {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  head(head: Head): string;
  section(section: Section): string;
  readonly tail: string;
}
