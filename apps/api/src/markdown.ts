import { Marked, type Tokens } from 'marked';
import { escaped } from '@app/pages';

/** The target of a link; undefined for what this service does not serve, which is shown as text. */
export type Target = (address: string) => string | undefined;

/** The id of a heading, as GitHub makes it: the links between the guides are written for it. */
const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** What can be wider than the page is reached and scrolled with the keyboard. */
export const preformatted = (text: string): string =>
  `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="table" tabindex="0"><table><thead><tr>${head.map((cell) => (cell === '' ? '<td></td>' : `<th scope="col">${cell}</th>`)).join('')}</tr></thead>
<tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')}</tbody></table></div>\n`;

/** HTML of Markdown that this project wrote. HTML in it is not passed on, and images are the words for them. */
export function renderer(target: Target): (markdown: string) => string {
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: () => '',
      code: ({ text }) => preformatted(text),
      image: ({ text }) => (text === '' ? '' : `<em>${escaped(text)}</em>`),
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const address = target(href);
        return address === undefined ? words : `<a href="${escaped(address)}">${words}</a>`;
      },
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[]) =>
          row.map(({ tokens }) => this.parser.parseInline(tokens));
        return table(cells(header), rows.map(cells));
      },
    },
  });
  return (markdown) => marked.parse(markdown, { async: false });
}
