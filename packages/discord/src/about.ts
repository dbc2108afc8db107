import { type Category, labelOf, purposeOf } from './facts';
import { cut, LIMITS, type Reply, reply } from './reply';
import type { Texts } from './texts';
import { shownPage, type Turn } from './turn';

/** What the bot stores and why (GDPR Art. 13): every declared category with its fields, basis and retention. */
export async function about(turn: Turn, at = 0): Promise<Reply> {
  const { facts, words } = turn;
  const [bot, categories] = await Promise.all([facts.bot(), facts.categories()]);
  const { say } = words;
  const contact =
    bot.privacy_contact === null ? [] : [say('about_contact', { contact: bot.privacy_contact })];
  const declared = categories.map((category) => categoryText(turn, category));
  const intro = say(categories.length === 0 ? 'about_nothing' : 'about_intro');
  const text = [intro, ...declared, say('about_rights'), ...contact].join('\n\n');
  const { embed, navigation } = shownPage(turn, { text, at, view: 'about' });
  const title = cut(say('about_title', { bot: bot.name }), LIMITS.title);
  return reply({ embeds: [{ title, ...embed }], components: navigation });
}

function categoryText({ asked: { locale }, words: { say } }: Turn, category: Category): string {
  const { fields, legal_basis: basis, retention_days: days } = category;
  const purpose = purposeOf(category, locale);
  const names = fields.map((field) => labelOf(field, locale));
  const basisKey: keyof Texts = `basis_${basis}`;
  return [
    `**${labelOf(category, locale)}**`,
    ...(purpose === null ? [] : [purpose]),
    ...(names.length === 0 ? [] : [say('about_fields', { fields: names.join(', ') })]),
    say('about_basis', { basis: say(basisKey) }),
    days === null ? say('about_kept') : say('about_kept_days', { days }),
  ].join('\n');
}
