import { CONSENT_STATUSES } from '../vocabulary';
import type { FakeBot, Held } from './fake-bot';
import type { Json } from './fake-consent';
import { idOf } from './fake-ids';
import { invalid } from './fake-refusal';

const ORDERS = ['key', 'recent'];

/** The rows of `GET /users`. @throws FakeRefusal 400 for a wrong filter, 404 for a category that is not declared */
export function usersOf(bot: FakeBot, all: readonly Held[], given: Json): Json[] {
  const { category, status, order = 'key', ...named } = given;
  const asked: Json = {
    ...('user_id' in named && { user_id: idOf(named, 'user_id') }),
    ...('guild_id' in named && { guild_id: idOf(named, 'guild_id') }),
  };
  requireOne('status', CONSENT_STATUSES, status ?? 'none');
  requireOne('order', ORDERS, order);
  const key = category === undefined ? undefined : bot.categories.named(category).key;
  const shown = all.filter(({ isHeld, ids: own, consent }) => {
    const isNamed = (asked['user_id'] ?? own.user_id) === own.user_id;
    const isThere = (asked['guild_id'] ?? own.guild_id) === own.guild_id;
    const state =
      key === undefined
        ? consent.statusView['status']
        : consent.stateOf(key, bot.categories.needsConsent(key));
    return isHeld && isNamed && isThere && state !== undefined && (status ?? state) === state;
  });
  if (order === 'recent') shown.sort((one, other) => placeOf(bot, one) - placeOf(bot, other));
  return shown.map(({ consent }) => ({ ...consent.statusView, updated_at: consent.changedAt }));
}

function requireOne(name: string, of: readonly unknown[], value: unknown): void {
  if (!of.includes(value)) throw invalid(name, `must be one of ${of.join(', ')}`);
}

/** The newest event is the first. */
function placeOf({ events }: FakeBot, { ids }: Held): number {
  return events.all.findIndex(
    ({ user_id: user, guild_id: guild }) => user === ids.user_id && guild === ids.guild_id,
  );
}
