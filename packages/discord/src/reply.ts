/** A file of a message. */
export interface ReplyFile {
  readonly name: string;
  readonly data: Uint8Array;
}

export interface Embed {
  title?: string;
  description?: string;
  footer?: { text: string };
}

export interface Button {
  type: 2;
  style: 1 | 2 | 3 | 4;
  label: string;
  custom_id: string;
  disabled?: boolean;
}

/** A button that opens an address. Discord tells the bot nothing of a press. */
export interface LinkButton {
  type: 2;
  style: 5;
  label: string;
  url: string;
}

export interface Select {
  type: 3;
  custom_id: string;
  placeholder?: string;
  min_values: number;
  max_values: number;
  options: { label: string; value: string; description?: string; default?: boolean }[];
}

export interface Row {
  type: 1;
  components: (Button | LinkButton | Select)[];
}

/** A message as Discord's interface takes it, and its files. It is for the acting user alone. */
export interface Reply {
  readonly content: string;
  readonly embeds: Embed[];
  readonly components: Row[];
  readonly files: readonly ReplyFile[];
  /** The failure of a press: the message that was pressed keeps its embeds and components, and gets this content. */
  readonly isNote?: boolean | undefined;
  /** Whether the message that was pressed keeps its files, as a note does: salts are answered once. */
  readonly keepsFiles?: boolean | undefined;
  /** What follows once the message is sent: the command that has waited for the consent. It never rejects. */
  readonly following?: (() => Promise<Reply | undefined>) | undefined;
}

/** The limits of Discord, in UTF-16 units: at least as narrow as where Discord counts characters. */
export const LIMITS = {
  content: 2000,
  embed: 4096,
  title: 256,
  footer: 2048,
  rows: 5,
  options: 25,
  label: 100,
  button: 80,
  customId: 100,
} as const;

/** What Discord answers to a message that it does not take, at no attempt. */
const REFUSED: readonly unknown[] = [400, 413];
/** What it answers where it takes no message any more: the token is over, or the interaction is not known. */
const CLOSED: readonly unknown[] = [401, 403, 404];

/**
 * Sends a message. Where Discord refuses it, or its files may have taken too long, the user reads `failed`, which reports the
 * failure, in place of a deferral that never ends. Another failure is thrown.
 */
export async function sent(
  reply: Reply,
  send: (reply: Reply) => Promise<unknown>,
  failed: (error: unknown) => Reply,
): Promise<void> {
  try {
    await send(reply);
  } catch (error) {
    const { status } = error as { status?: unknown };
    if (!REFUSED.includes(status) && (reply.files.length === 0 || CLOSED.includes(status))) throw error;
    // It is reported already.
    await send({ ...failed(error), isNote: true }).catch(() => undefined);
  }
}

/** Whether files of the message that is replaced are left in it. */
export const leavesFiles = ({ isNote, keepsFiles }: Reply): boolean => isNote === true || keepsFiles === true;

const STYLES = { primary: 1, secondary: 2, success: 3, danger: 4 } as const;

export function reply(given: Partial<Reply>): Reply {
  return { content: '', embeds: [], components: [], files: [], ...given };
}

/** A text of at most `max` units, with a mark where something is left out. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, boundary(text, max - 1))}…`;
}

export function button(
  style: keyof typeof STYLES,
  label: string,
  customId: string,
  disabled = false,
): Button {
  const shown = cut(label, LIMITS.button);
  return { type: 2, style: STYLES[style], label: shown, custom_id: customId, ...(disabled && { disabled }) };
}

export const linkButton = (label: string, url: string): LinkButton => ({
  ...{ type: 2, style: 5, label: cut(label, LIMITS.button), url },
});

export const row = (...components: (Button | LinkButton | Select)[]): Row => ({ type: 1, components });

/** Splits a text into pages of an embed: at the ends of lines, at blanks where a line is longer. Nothing is left out. */
export function pagesOf(text: string): string[] {
  const pages: string[] = [];
  let rest = text;
  while (rest.length > LIMITS.embed) {
    const part = rest.slice(0, boundary(rest, LIMITS.embed));
    const end = [part.lastIndexOf('\n') + 1, part.lastIndexOf(' ') + 1].find((at) => at > part.length / 2);
    pages.push(part.slice(0, end));
    rest = rest.slice(end ?? part.length);
  }
  // An embed without a visible character is refused.
  return [...pages, rest].filter((page) => page.trim() !== '');
}

/** The last place up to `at` that is not inside a character of two units. */
function boundary(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at;
}
