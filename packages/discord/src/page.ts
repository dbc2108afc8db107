import { InsufficientScopeError } from '@lethe/sdk';
import type { Where } from './export-file';
import { linkButton, type Reply, reply, row } from './reply';
import { bestTag } from './texts';
import { once, type Turn, when } from './turn';

/** The languages of the page. */
const LANGUAGES = ['en', 'de'];

/** A link to the page on which the user sees, decides, downloads and erases what is stored, as far as the bot's key may. */
export async function page(turn: Turn, where: Where): Promise<Reply> {
  const { asked, lethe, report, who, words } = turn;
  const { say } = words;
  const language = bestTag(asked.locale, LANGUAGES) ?? 'en';
  const of = where === 'here' ? who : { user_id: who.user_id, scope: 'all_guilds' as const };
  try {
    const { url, expires_at: end } = await lethe.privacy.link({ ...of, language }, once(turn, 'page'));
    requirePublic(url);
    const until = say('own_page_until', { when: when(end, 't') });
    const open = row(linkButton(say('own_page_open'), url));
    return reply({ content: `${say('own_page')}\n${until}`, components: [open] });
  } catch (error) {
    if (!(error instanceof InsufficientScopeError || error instanceof NotPublicError)) throw error;
    report(error);
    return reply({ content: say('own_page_missing') });
  }
}

class NotPublicError extends Error {}

/** Addresses of the machine itself, on which the service listens without `PUBLIC_URL`, and names without a dot. */
const LOCAL = /^(127\.|\[::|[^.[]*$)/;

function requirePublic(url: string): void {
  const { hostname, origin } = new URL(url);
  if (!LOCAL.test(hostname)) return;
  throw new NotPublicError(
    `Links to privacy pages lead to ${origin}, which users do not reach. Set PUBLIC_URL of the service.`,
  );
}
