import { type Category, labelOf, reasonOf } from './facts';
import { cut, type Embed, LIMITS } from './reply';
import type { Turn } from './turn';

/** What no consent decides, each with the reason of the bot; empty where a consent decides all. */
export function withoutConsent(
  { asked: { locale }, words }: Turn,
  categories: readonly Category[],
): string[] {
  const lines = categories.flatMap((category) => {
    const reason = reasonOf(category, locale);
    return reason === undefined ? [] : [`• ${cut(labelOf(category, locale), LIMITS.label)}: ${reason}`];
  });
  return lines.length === 0 ? [] : [[words.say('without_consent'), ...lines].join('\n')];
}

/** The same beside menus, which leave no room for further pages: `/privacy about` has all of it. */
export const withoutConsentEmbeds = (turn: Turn, categories: readonly Category[]): Embed[] =>
  withoutConsent(turn, categories).map((text) => ({ description: cut(text, LIMITS.embed) }));
