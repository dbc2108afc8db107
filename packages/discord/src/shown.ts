import { NotFoundError } from '@lethe/sdk';
import { type Category, labelOf } from './facts';
import { PATIENT } from './patient';
import type { Turn } from './turn';

const ACTIONS: Readonly<Record<'asked' | 'decided', readonly string[]>> = {
  asked: ['requested', 'shown'],
  decided: ['accepted', 'revoked', 'categories_withdrawn'],
};

type Shown = readonly { readonly key: string; readonly label: string }[];

/**
 * The categories in the words that the user was shown for the request that waits, or for the decision that holds: those of
 * its receipt, also where a category has another label today.
 */
export async function shownFor({ lethe, who }: Turn, what: keyof typeof ACTIONS): Promise<Shown> {
  for await (const { action, texts } of lethe.consents.history(who, PATIENT)) {
    if (!ACTIONS[what].includes(action)) continue;
    const [text] = texts;
    if (text === undefined) return [];
    return (await lethe.consents.words(text.digest, PATIENT).catch(unlessMissing))?.categories ?? [];
  }
  return [];
}

/** The label of a category in shown words; where they do not name it, that of today. */
export function labelShown(shown: Shown, category: Category, locale: string): string {
  return shown.find(({ key }) => key === category.key)?.label ?? labelOf(category, locale);
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
