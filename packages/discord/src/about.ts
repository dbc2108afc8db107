import { type Category, labelOf, needsConsent, type Notice, purposeOf, reasonOf } from './facts';
import { noticeRow, noticeText } from './notice';
import { objectableOf } from './refusals';
import { cut, LIMITS, type Reply, reply } from './reply';
import type { Texts } from './texts';
import { ownStores, shownPage, type Turn } from './turn';

/** What the bot stores and why (GDPR Art. 13): each declared category with its fields, basis and retention, and the notice. */
export async function about(turn: Turn, at = 0): Promise<Reply> {
  const { facts, words } = turn;
  const [bot, categories, notice, hasOwnStores] = await Promise.all([
    facts.bot(),
    facts.categories(),
    facts.notice(),
    facts.hasOwnStores(),
  ]);
  const { say } = words;
  const declared = categories.map((category) => categoryText(turn, category, notice));
  const rights = [say('about_rights'), ...correction(turn, categories)].join(' ');
  const text = [
    say(introKey(categories, hasOwnStores !== false)),
    ...declared,
    ...ownStores(turn, hasOwnStores),
    ...objection(turn, categories),
    rights,
    ...noticeText(turn, bot, notice),
  ].join('\n\n');
  const { embed, navigation } = shownPage(turn, { text, at, view: 'about' });
  const title = cut(say('about_title', { bot: bot.name }), LIMITS.title);
  return reply({ embeds: [{ title, ...embed }], components: [...navigation, ...noticeRow(turn, notice)] });
}

/** What a consent decides, of all that is declared. */
function introKey(categories: readonly Category[], mayHaveOwnStores: boolean): keyof Texts {
  if (categories.length === 0) return 'about_nothing';
  if (mayHaveOwnStores && categories.some(needsConsent)) return 'about_intro_own_stores';
  if (categories.every(needsConsent)) return 'about_intro';
  return categories.some(needsConsent) ? 'about_intro_some' : 'about_intro_none';
}

function categoryText(
  { asked: { locale }, words: { say } }: Turn,
  category: Category,
  { data_after_withdrawal: after }: Notice,
): string {
  const { fields, legal_basis: basis, retention_days: days } = category;
  const purpose = purposeOf(category, locale);
  const names = fields.map((field) => labelOf(field, locale));
  const basisKey: keyof Texts = `basis_${basis}`;
  const reason = reasonOf(category, locale);
  return [
    `**${labelOf(category, locale)}**`,
    ...(purpose === null ? [] : [purpose]),
    ...(names.length === 0 ? [] : [say('about_fields', { fields: names.join(', ') })]),
    say('about_basis', { basis: say(basisKey) }),
    ...(reason === undefined ? [] : [say('about_without_consent', { reason })]),
    say(keptKey(category, after), { days: days ?? after ?? 0 }),
  ].join('\n');
}

/** `after`: days after which a withdrawal erases, null for never. An older service does not say it. */
function keptKey(
  { retention_days: days, legal_basis: basis }: Category,
  after: number | null = 0,
): keyof Texts {
  if (days === null) {
    if (basis !== 'consent' || after === null) return 'about_kept_without_consent';
    if (after === 0) return 'about_kept';
    return after === 1 ? 'about_kept_after_day' : 'about_kept_after';
  }
  return days === 1 ? 'about_kept_day' : 'about_kept_days';
}

/** The right to object, apart from the others (GDPR Art. 21(4)), where a category can be objected to. */
function objection({ asked: { locale }, words: { say } }: Turn, categories: readonly Category[]): string[] {
  const found = objectableOf({ objections: [], restrictions: [] }, categories);
  const labels = found.map((category) => labelOf(category, locale)).join(', ');
  if (labels === '') return [];
  return [`**${say('about_object_title')}**\n${say('about_object', { categories: labels })}`];
}

/** What users correct themselves (GDPR Art. 16). A service that offers it marks these fields. */
function correction({ asked: { locale }, words: { say } }: Turn, categories: readonly Category[]): string[] {
  const fields = categories
    .flatMap((category) => category.fields)
    .filter((field) => 'editable' in field && field.editable === true)
    .map((field) => labelOf(field, locale));
  return fields.length === 0 ? [] : [say('about_correct', { fields: [...new Set(fields)].join(', ') })];
}
