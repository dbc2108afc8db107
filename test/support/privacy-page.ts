import { type Sent, sent } from './sent';

/** A privacy page as a browser gets it. */
export type Page = Sent;

export function get(url: string, headers: Record<string, string> = {}): Promise<Page> {
  return sent(url, { headers });
}

export const unescaped = (text: string): string =>
  text
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');

/** The fields of a form, with the query of the address that it is sent to. */
class Form extends URLSearchParams {
  constructor(readonly query: string) {
    super();
  }
}

/** The forms of an act, in the order of the page. */
export function forms(page: Page, act: string): Form[] {
  const form = new RegExp(`<form\\s[^>]*action="[^"]*/${act}(\\?[^"]*)"\\s*>(.*?)</form>`, 'gs');
  return [...page.text.matchAll(form)].map(([, query = '', inner = '']) => {
    const fields = new Form(unescaped(query));
    for (const [, name = '', value = ''] of inner.matchAll(/<input\s[^>]*?name="(\w+)"\s+value="([^"]*)"/g))
      fields.append(name, unescaped(value));
    return fields;
  });
}

export function send(
  url: string,
  act: string,
  fields: URLSearchParams | string,
  headers = {},
): Promise<Page> {
  return sent(`${url}/${act}${fields instanceof Form ? fields.query : ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: fields.toString(),
  });
}

/** Sends a form of the page, or of its confirmation. */
export async function act(url: string, name: string, at = 0, from = ''): Promise<Page> {
  const page = await get(url + from);
  const form = forms(page, name)[at];
  if (form === undefined) throw new Error(`The page has no form ${name}: ${page.status}`);
  return send(url, name, form);
}
