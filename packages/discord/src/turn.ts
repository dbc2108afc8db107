import { ConflictError, type Lethe, RateLimitedError, UnavailableError } from '@lethe/sdk';
import type { Asked } from './asked';
import { ACTS, customId } from './custom-id';
import type { BotFacts } from './facts';
import { PATIENT } from './patient';
import { button, type Embed, linkButton, pagesOf, type Row, row } from './reply';
import type { Texts, Words } from './texts';
import type { Waiting } from './waiting';

/** One act of a user, with all that an answer needs. */
export interface Turn {
  readonly lethe: Lethe;
  readonly facts: BotFacts;
  readonly words: Words;
  readonly asked: Asked;
  readonly who: { readonly user_id: string; readonly guild_id: string };
  readonly consentVersion: string | undefined;
  readonly confirmSeconds: number;
  /** Where users check files, if it is known. */
  readonly verifyUrl: string | undefined;
  readonly now: () => number;
  /** Hands a failure to the people who run the bot. */
  readonly report: (error: unknown) => void;
  /** The commands that wait for a consent. */
  readonly waiting: Waiting;
}

/** What an act is about: the data of one server, or of all. */
export type Where = 'here' | 'everywhere';

export const whereOf = (option: unknown): Where => (option === 'everywhere' ? 'everywhere' : 'here');

/** Where the user decided, in the history of the consent. */
export const SOURCE = 'discord';

/** An act takes effect once, also if its interaction arrives twice. */
export const once = ({ asked }: Turn, act: string): { idempotencyKey: string; timeoutMs: number } => ({
  ...PATIENT,
  idempotencyKey: `discord-${asked.id}-${act}`,
});

/** What the user is shown instead of a failure. */
export function failureWord(error: unknown): keyof Texts {
  if (error instanceof ConflictError && error.reason === 'deletion_in_progress') return 'busy';
  return error instanceof RateLimitedError || error instanceof UnavailableError ? 'later' : 'failed';
}

/** What is said of a failure, once it is reported. */
export function failure({ facts, report, words: { say } }: Turn, error: unknown): string {
  facts.forget();
  report(error);
  return say(failureWord(error));
}

/** Whether a version is one that people named. Without one the service makes a digest, which says nothing to a user. */
export const isNamed = (version: string): boolean => !/^(sha256:|$)/.test(version);

/** A time that Discord shows in the time zone of the user. */
export const when = (iso: string | null | undefined, style: 'f' | 't' = 'f'): string =>
  `<t:${Math.floor(Date.parse(iso ?? '') / 1000)}:${style}>`;

/** Whom the user can ask, where the bot itself cannot do something. */
export async function whomToAsk({ facts, words: { say } }: Turn): Promise<string> {
  const { privacy_contact: contact } = await facts.bot();
  return contact === null ? say('ask_operator') : say('ask_contact', { contact });
}

export const jsonFile = (name: string, content: unknown) => ({
  name,
  data: new TextEncoder().encode(`${JSON.stringify(content, null, 2)}\n`),
});

/** The button to the page that checks a receipt or certificate. */
export const verifyRow = ({ verifyUrl, words }: Turn): Row[] =>
  verifyUrl === undefined ? [] : [row(linkButton(words.say('verify_open'), verifyUrl))];

/** Said where the bot has stores of its own, or where that is not known: what is declared and decided is not all that is stored. */
export const ownStores = (
  { words: { say } }: Turn,
  has: boolean | undefined,
  key: 'own_stores' | 'refusals_own_stores' = 'own_stores',
): string[] => (has === false ? [] : [say(key)]);

export interface Shown {
  readonly embed: Embed;
  readonly navigation: Row[];
  readonly isLast: boolean;
}

/** One page of a text with the buttons to the others. The buttons carry `parts` on. */
export function shownPage(
  { words: { say } }: Turn,
  { text, at, view, parts = [] }: { text: string; at: number; view: string; parts?: readonly string[] },
): Shown {
  const pages = pagesOf(text);
  const page = Math.min(Math.max(Number.isSafeInteger(at) ? at : 0, 0), pages.length - 1);
  const to = (label: string, target: number) =>
    button('secondary', label, customId(ACTS.page, view, target, ...parts), pages[target] === undefined);
  const several = pages.length > 1;
  return {
    embed: {
      description: pages[page],
      ...(several && { footer: { text: say('page_of', { page: page + 1, pages: pages.length }) } }),
    },
    navigation: several ? [row(to(say('page_back'), page - 1), to(say('page_next'), page + 1))] : [],
    isLast: page === pages.length - 1,
  };
}
