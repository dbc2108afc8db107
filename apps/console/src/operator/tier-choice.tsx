import { useState } from 'preact/hooks';
import { submits } from '../confirm';
import type { lethe } from '../service';
import { useOperatorWords } from './words';

/** Removes the given tier, so that the settings decide. */
const OF_SETTINGS = 'default';

type Bot = Awaited<ReturnType<typeof lethe.operator.suspend>>;
type Tier = Awaited<ReturnType<typeof lethe.operator.status>>['tiers'][number];

/** The tier of a bot. Another choice needs a second step, so that no slip changes it. */
export function TierChoice({
  bot,
  tiers,
  isRunning,
  onChange,
}: {
  readonly bot: Bot;
  readonly tiers: readonly Tier[];
  readonly isRunning: boolean;
  readonly onChange: (to: string) => void;
}) {
  const { t, count } = useOperatorWords();
  const present = bot.stored_tier ?? OF_SETTINGS;
  const [chosen, setChosen] = useState(present);
  const limit = tiers.find(({ name }) => name === bot.tier)?.requests_per_minute;
  const about = limit === undefined ? undefined : t('perMinute', { count: count(limit) });
  if (bot.state === 'deleting' || tiers.length === 0) return <span title={about}>{bot.tier}</span>;
  const names = tiers.map(({ name }) => name);
  return (
    <form class="line tier" onSubmit={submits(() => onChange(chosen))}>
      <select
        aria-label={t('tierOf', { name: bot.name })}
        title={about}
        value={chosen}
        disabled={isRunning}
        onChange={(event) => setChosen(event.currentTarget.value)}
      >
        {[...names, ...(names.includes(present) || present === OF_SETTINGS ? [] : [present])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        <option value={OF_SETTINGS}>
          {bot.stored_tier === null ? `${bot.tier} (${t('tierOfSettings')})` : t('tierOfSettings')}
        </option>
      </select>
      {chosen !== present && (
        <button type="submit" disabled={isRunning}>
          {t('changeTier')}
        </button>
      )}
    </form>
  );
}
