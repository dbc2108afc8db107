/** One user in one server, with the field names of the interface. */
export interface Ids {
  readonly user_id: string;
  readonly guild_id: string;
}

const ID = /^\d{17,20}$/;

export const isId = (text: string | null | undefined): text is string => text != null && ID.test(text);

/** In what a bot writes the names say which id is whose; else the server is first, as in the address of a page. */
const USER_FIRST = /user.*(guild|server)/is;

/**
 * The ids in what was typed or pasted: one of a user, or a pair with the server, as an address of the console, two columns or
 * JSON. Undefined where it is neither.
 */
export function idsIn(
  text: string,
  isServer: (id: string) => boolean,
): { readonly user: string; readonly server?: string } | undefined {
  const numbers = text.replace(/^\s*https?:\/\/[^/]*/, '').match(/\d+/g) ?? [];
  const [first, second, ...more] = numbers;
  if (!numbers.every(isId) || first === undefined || more.length > 0) return undefined;
  if (second === undefined) return { user: first };
  const isUserFirst = isServer(first) === isServer(second) ? USER_FIRST.test(text) : isServer(second);
  return isUserFirst ? { user: first, server: second } : { user: second, server: first };
}
