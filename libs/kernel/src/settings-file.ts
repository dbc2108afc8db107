/** What a file of settings holds, with a sentence for each place that is not understood. No value is in a sentence. */
export interface SettingsFile {
  readonly values: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

/** The text of a file, with a byte order mark or without; undefined where it is no UTF-8. */
export function utf8In(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Latin letters in UTF-16 are UTF-8 with a NUL beside each.
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

export const notUtf8 = (file: string): string =>
  `${file} is not UTF-8 (some programs of Windows write UTF-16): save as UTF-8, in PowerShell with -Encoding utf8`;

const BEGIN = /[^\S\n]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*/y;
const QUOTED = /'(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`/y;

/**
 * Reads the lines NAME=value of a file like `.env`: quoted or not, over several lines in quotes, with comments. `isOwn` says
 * which names the caller reads; a file may also be that of other programs.
 */
export function settingsIn(bytes: Uint8Array, file: string, isOwn: (name: string) => boolean): SettingsFile {
  const text = utf8In(bytes)?.replace(/\r\n?/g, '\n');
  if (text === undefined) return { values: {}, faults: [notUtf8(file)] };
  const values: Record<string, string> = {};
  const faults: string[] = [];
  for (let at = 0, line = 1; at < text.length;) {
    const place = `${file}, line ${line}`;
    const [begin = '', name] = matchAt(BEGIN, text, at) ?? [];
    const [quoted] = (name !== undefined && matchAt(QUOTED, text, at + begin.length)) || [];
    const [end, next] = lineEnd(text, at + begin.length + (quoted?.length ?? 0));
    const rest = text.slice(at + begin.length + (quoted?.length ?? 0), end);
    const comment = rest.indexOf('#');
    const given = quoted ?? (comment < 0 ? rest : rest.slice(0, comment));
    const isUnderstood =
      name === undefined || quoted !== undefined ? /^\s*(?:#|$)/.test(rest) : !/^['"`]/.test(rest);
    if (!isUnderstood)
      faults.push(
        `${place} is not understood: write NAME=value, or a comment after #; words of a shell (set, $env:) are none`,
      );
    else if (name !== undefined && !isOwn(name) && isOwn(name.toUpperCase()))
      faults.push(`${place} names ${name}, which is written in capitals: ${name.toUpperCase()}`);
    else if (name !== undefined && quoted === undefined && comment >= 0 && /\S$/.test(given) && isOwn(name))
      faults.push(
        `${place} has a # in the value of ${name}: put the value in quotes, or a blank before a comment`,
      );
    else if (name !== undefined) values[name] = quoted === undefined ? given.trim() : unquoted(quoted);
    line += text.slice(at, next).split('\n').length - 1;
    at = next;
  }
  return { values, faults };
}

function unquoted(given: string): string {
  const inner = given.slice(1, -1);
  return given.startsWith('"') ? inner.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : inner;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** The end of the line, and the beginning of the next one. */
function lineEnd(text: string, at: number): [end: number, next: number] {
  const end = text.indexOf('\n', at);
  return end < 0 ? [text.length, text.length] : [end, end + 1];
}
