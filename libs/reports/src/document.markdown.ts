import { type Block, type DocumentForm, type Head, type Said, type Section, type Table } from './said';

/** Line breaks, control characters, and marks that change the direction of text. */
const UNPRINTABLE = /[\s\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
/** Characters with a meaning in a line of Markdown, tables included. */
const MARKUP = /[\\`*_{}[\]()<>#!|~&$^=+:@]/g;
/** With the colon and the at sign above: what many readers make a link of, without any markup. */
const HOST = /www(?=\.)/gi;
/** What makes a list, a rule or a heading at the beginning of a line. */
const BEGINNING = /^(?=-)|^(\d{1,9})(?=\.)/;

/** A document as Markdown (CommonMark, with tables). Texts of others have no markup and are on one line (section 2.4). */
export const MARKDOWN: DocumentForm = {
  contentType: 'text/markdown; charset=utf-8',
  head: ({ title, lead }: Head) => `# ${line(title)}\n\n${line(lead)}\n`,
  section: ({ title, isPart, blocks }: Section) =>
    `\n${isPart ? '###' : '##'} ${line(title)}\n${blocks.map((block) => `\n${blockText(block)}\n`).join('')}`,
  tail: '',
};

function blockText(block: Block): string {
  if ('text' in block) return line(block.text);
  if ('items' in block) return block.items.map((item) => `- ${line(item)}`).join('\n');
  if ('facts' in block) return block.facts.map(([name, value]) => `- ${name}: ${line(value)}`).join('\n');
  return tableText(block.table);
}

function tableText({ columns, rows }: Table): string {
  const lines = [columns, columns.map(() => '---'), ...rows.map((row) => row.map(line))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function line({ parts }: Said): string {
  return parts.map((part) => (typeof part === 'string' ? part : shown(part))).join('');
}

/** A text of others with the address behind it, unless that is the text itself, or a way to write to it. */
function shown({ text, href }: Exclude<Said['parts'][number], string>): string {
  const isSaid = href === undefined || href === text || href.startsWith('mailto:');
  return isSaid ? plain(text) : `${plain(text)} (${plain(href)})`;
}

function plain(text: string): string {
  const escaped = text.replace(UNPRINTABLE, ' ').trim().replace(MARKUP, '\\$&').replace(HOST, '$&\\');
  return escaped.replace(BEGINNING, '$1\\');
}
