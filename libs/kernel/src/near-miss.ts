/**
 * Whether `name` is `setting` with one character more, less or other, with two neighbours exchanged, or without a last word such as
 * `_MS`. Two mistakes are too many: `API_KEY_ID` of another program is two away from `API_KEY_KIND`.
 */
export function isNearMiss(name: string, setting: string): boolean {
  let start = 0;
  while (start < name.length && name[start] === setting[start]) start++;
  let end = 0;
  const same = Math.min(name.length, setting.length) - start;
  while (end < same && name.at(-1 - end) === setting.at(-1 - end)) end++;
  const [is, meant] = [name, setting].map((text) => text.slice(start, text.length - end)) as [string, string];
  if (is === '' && /^_[A-Z]{1,2}$/.test(meant)) return true;
  if (is.length === 2 && meant.length === 2) return is[0] === meant[1] && is[1] === meant[0];
  return name !== setting && is.length <= 1 && meant.length <= 1;
}
