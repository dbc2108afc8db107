import { type NamedFact, own, type Said } from '@app/pages';
export { line, linked, mailTo, own, Said, said, textOf } from '@app/pages';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Said[])[];
}

/** Named facts, items of a list, a sentence, or a table. */
export type Block =
  | { readonly facts: readonly NamedFact[] }
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
export function stated(title: string, text: Said | undefined): Section[] {
  return text === undefined ? [] : [section(title, { text })];
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
