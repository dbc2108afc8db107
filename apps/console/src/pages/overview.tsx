import { useMemo } from 'preact/hooks';
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { Link, useSearchParams } from 'wouter-preact';
import { useWords } from '../language';
import { lethe } from '../service';
import { Loaded } from '../ui';
import { Cards } from './overview-cards';
import { UnderConsent } from './overview-consents';
import {
  type Moment,
  momentsOf,
  type Period,
  periodOf,
  PERIODS,
  queryOf,
  type Stats,
} from './overview-periods';
import { Plots } from './overview-plots';
import { FirstSteps } from './overview-start';
import { WebhookState } from './overview-webhook';
import './overview.css';

const REFRESH_MS = 60_000;

/** What the bot did over time. The period is in the address. */
export function OverviewPage() {
  const { t } = useWords();
  const [address] = useSearchParams();
  const period = periodOf(address.get('period'));
  const stats = useQuery({
    queryKey: ['stats', period.key],
    queryFn: async () => ({ period, ...(await lethe.stats(queryOf(period, Date.now()))) }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <FirstSteps />
      <WebhookState />
      <nav class="periods" aria-label={t('period')}>
        {PERIODS.map(({ key, name }) => (
          <Link key={key} href={`/?period=${key}`} aria-current={key === period.key ? 'true' : undefined}>
            {t(name)}
          </Link>
        ))}
        <span class="small">{t('inUtc')}</span>
      </nav>
      <Loaded from={stats}>{(found) => <Numbers period={found.period} stats={found} />}</Loaded>
    </>
  );
}

function Numbers({ period, stats }: { readonly period: Period; readonly stats: Stats }) {
  const { t } = useWords();
  const moments = useMemo(() => momentsOf(period, stats, Date.now()), [period, stats]);
  const isEmpty = (of: readonly Moment[]): boolean => of.every(({ bucket }) => bucket === undefined);
  if (isEmpty(moments.shown) && isEmpty(moments.before) && !stats.under_consent.at(-1)?.subjects)
    return <p class="empty">{t('noEvents')}</p>;
  return (
    <>
      <UnderConsent moments={moments.shown} counts={stats.under_consent} period={period} />
      <Cards period={period} moments={moments} />
      <p class="small">{t('restrictionsCounted')}</p>
      {isEmpty(moments.shown) ? (
        <p class="empty">{t('noEvents')}</p>
      ) : (
        <Plots moments={moments.shown} withHours={period.bucket === 'hour'} />
      )}
    </>
  );
}
