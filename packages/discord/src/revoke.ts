import { NotFoundError } from '@lethe/sdk';
import { ACTS, customId } from './custom-id';
import { needsConsent } from './facts';
import { categoryMenus } from './menus';
import { PATIENT } from './patient';
import { button, cut, LIMITS, type Reply, reply, row } from './reply';
import { labelShown, shownFor } from './shown';
import { statesOf } from './status';
import { once, SOURCE, type Turn, when } from './turn';
import { withoutConsentEmbeds } from './without-consent';

/** Shows what can be withdrawn: as easily as it was given (GDPR Art. 7(3)). */
export async function revoke(turn: Turn, notes: readonly string[] = []): Promise<Reply> {
  const { asked, lethe, facts, who, words } = turn;
  const [status, categories] = await Promise.all([lethe.consents.status(who, PATIENT), facts.categories()]);
  const { say } = words;
  const embeds = withoutConsentEmbeds(turn, categories);
  if (status.status !== 'accepted') return reply({ content: say('revoke_nothing'), embeds });
  const states = statesOf(status, categories);
  const granted = categories.filter(({ key }) => states.get(key) === 'accepted');
  const shown = granted.length > 1 ? await shownFor(turn, 'decided') : [];
  const menus = categoryMenus(ACTS.withdraw, {
    categories: granted.length > 1 ? granted : [],
    placeholder: say('revoke_choose'),
    label: (category) => labelShown(shown, category, asked.locale),
    isMany: true,
  });
  const all = row(button('danger', say('revoke_all'), customId(ACTS.withdrawAll)));
  const which = granted.every(needsConsent) ? 'revoke_which' : 'revoke_which_some';
  return reply({ content: [...notes, say(which)].join('\n'), embeds, components: [...menus, all] });
}

/** Withdraws some categories, or without any the whole consent. */
export async function withdraw(turn: Turn, keys?: readonly string[]): Promise<Reply> {
  const { asked, facts, lethe, who, words } = turn;
  const { say } = words;
  const given = { ...who, source: SOURCE, ...(keys && { categories: [...keys] }) };
  // Read before, since a failure would say that the withdrawal has failed.
  const [all, shown] = await Promise.all([facts.categories(), keys ? shownFor(turn, 'decided') : []]);
  const revoked = await lethe.consents.revoke(given, once(turn, 'revoke')).catch(unlessMissing);
  if (revoked === undefined) {
    // No consent is in force, or a selected category is not declared any more while the others are agreed to.
    facts.forget();
    return revoke(turn, [say('revoke_changed')]);
  }
  const { status, data_erased_at: erasedAt } = revoked;
  const labels = all
    .filter(({ key }) => keys?.includes(key))
    .map((category) => cut(labelShown(shown, category, asked.locale), LIMITS.label / 4));
  const done =
    status === 'revoked' ? say('revoke_done') : say('revoke_done_some', { categories: labels.join(', ') });
  const later = erasedAt === undefined ? [] : [say('status_erased_at', { when: when(erasedAt) })];
  const embeds = withoutConsentEmbeds(turn, all);
  return reply({ content: cut([done, ...later].join('\n'), LIMITS.content), embeds });
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
