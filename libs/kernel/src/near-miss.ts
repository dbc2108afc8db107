/** A shorter setting, such as `PORT`, is one letter away from words of other programs (`POST`, `SORT`): only a swap is an error of it. */
const LETTERS_MIN = 6;
/** `BROKER_PORT` is two errors away from `WORKER_PORT`, `API_KEY_ID` from `API_KEY_KIND`: a short word has one error at most. */
const LETTERS_OF_TWO_ERRORS = 7;
const LETTERS_OF_TWO_ERRORS_IN_ALL = 10;

const PREFIX = 'LETHE_';

/** Names of other programs that are one typing error away from a setting. */
const OF_OTHERS = new Set(['LOGLEVEL', 'LOGFORMAT', 'HEADER_TIMEOUT_MS', 'RENDER_TIMEOUT_MS']);

/**
 * The setting that is meant by `name`, which is none: the one from which it is a few typing errors away (a letter more, less or
 * other, or two neighbours exchanged), or that it is without `LETHE_` or without a unit such as `_MS`.
 */
export function settingMeantBy(name: string, settings: readonly string[]): string | undefined {
  if (OF_OTHERS.has(name)) return undefined;
  return settings.find(
    (setting) =>
      isInSmallLetters(name, setting) ||
      isWithoutAnEnd(name, setting) ||
      isMistyped(name, setting) ||
      (setting.startsWith(PREFIX) && isMistyped(name, setting.slice(PREFIX.length))),
  );
}

/** A short one, such as `host`, may be that of a shell. */
const isInSmallLetters = (name: string, setting: string): boolean =>
  name !== setting && setting.length >= LETTERS_MIN && name.toUpperCase() === setting;

const isWithoutAnEnd = (name: string, setting: string): boolean =>
  name !== setting && [setting.replace(PREFIX, ''), setting.replace(/_[A-Z]{1,2}$/, '')].includes(name);

function isMistyped(name: string, setting: string): boolean {
  if (Math.abs(name.length - setting.length) > 2) return false;
  if (setting.length < LETTERS_MIN) return isSwap(name, setting);
  const [is, meant] = differingWords(name, setting);
  // A word more or less is another name, not a typing error.
  if ((is === '') !== (meant === '')) return false;
  const isLong = setting.length >= LETTERS_OF_TWO_ERRORS_IN_ALL && meant.length >= LETTERS_OF_TWO_ERRORS;
  return typingErrors(is, meant) <= (isLong ? 2 : 1);
}

function isSwap(name: string, setting: string): boolean {
  const at = [...name].findIndex((letter, place) => letter !== setting[place]);
  const swapped = `${setting.slice(0, at)}${setting[at + 1]}${setting[at]}${setting.slice(at + 2)}`;
  return at >= 0 && name === swapped;
}

/** Both names without the words that they begin and end with alike. */
function differingWords(name: string, setting: string): [string, string] {
  const [is, meant] = [name.split('_'), setting.split('_')];
  while (is.length > 0 && is[0] === meant[0]) [is, meant].forEach((words) => words.shift());
  while (is.length > 0 && is.at(-1) === meant.at(-1)) [is, meant].forEach((words) => words.pop());
  return [is.join('_'), meant.join('_')];
}

/** The distance of Damerau and Levenshtein, in which no letter is changed twice. */
function typingErrors(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isExchanged = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + (isSame ? 0 : 1),
        isExchanged ? before[j - 2]! + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return last[other.length]!;
}
