import { InsufficientScopeError, LetheError } from '@lethe/sdk';
import { isLocal } from './public-url';
import { linkButton, type Reply, reply, row } from './reply';
import { bestTag } from './texts';
import { once, type Turn, when, type Where } from './turn';

/** The languages of the pages of the service. */
export const LANGUAGES = ['en', 'de'];

/** A link to the page on which the user sees, decides, downloads and erases what is stored, as far as the bot's key may. */
export async function page(turn: Turn, where: Where): Promise<Reply> {
  const { say } = turn.words;
  try {
    const { url, until } = await linkTo(turn, where, 'page');
    const open = row(linkButton(say('own_page_open'), url));
    const content = `${say('own_page')}\n${say('own_page_until', { when: until })}`;
    return reply({ content, components: [open] });
  } catch (error) {
    if (!(error instanceof InsufficientScopeError || error instanceof NotPublicError)) throw error;
    turn.report(error);
    return reply({ content: say('own_page_missing') });
  }
}

/** The way to the copy to read, beside the JSON; undefined where the service has no pages for users. */
export async function readableCopy(
  turn: Turn,
  where: Where,
): Promise<Pick<Reply, 'content' | 'components'> | undefined> {
  const { say } = turn.words;
  try {
    const { url, until } = await linkTo(turn, where, 'copy', ['view', 'export']);
    const open = row(linkButton(say('export_open'), url));
    return { content: say('export_read', { when: until }), components: [open] };
  } catch (error) {
    // The export is there without it.
    if (error instanceof LetheError || error instanceof NotPublicError) return undefined;
    throw error;
  }
}

async function linkTo(turn: Turn, where: Where, act: string, allow?: ('view' | 'export')[]) {
  const { asked, lethe, who } = turn;
  const language = bestTag(asked.locale, LANGUAGES) ?? 'en';
  const of = where === 'here' ? who : { user_id: who.user_id, scope: 'all_guilds' as const };
  const given = { ...of, language, ...(allow && { allow }) };
  const { url, expires_at: end } = await lethe.privacy.link(given, once(turn, act));
  requirePublic(url);
  return { url, until: when(end, 't') };
}

class NotPublicError extends Error {}

function requirePublic(url: string): void {
  if (!isLocal(url)) return;
  throw new NotPublicError(
    `Links to privacy pages lead to ${new URL(url).origin}, which users do not reach. Set PUBLIC_URL of the service.`,
  );
}
