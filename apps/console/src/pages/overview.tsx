import { useMemo, useState } from 'preact/hooks';
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { useBot } from '../queries';
import { lethe } from '../service';
import { Loaded, Tile } from '../ui';
import { type Bucket, FIRST_PERIOD, momentsOf, type Period, PERIODS, queryOf } from './overview-periods';
import { Plots } from './overview-plots';

const REFRESH_MS = 60_000;

/** What the bot did over time. */
export function OverviewPage() {
  const { t } = useWords();
  const [period, setPeriod] = useState<Period>(FIRST_PERIOD);
  const stats = useQuery({
    queryKey: ['stats', period.name],
    queryFn: () => lethe.stats(queryOf(period, Date.now())),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <WebhookState />
      <label class="period">
        {t('period')}
        <select
          value={period.name}
          onChange={({ currentTarget: { value } }) =>
            setPeriod(PERIODS.find(({ name }) => name === value) ?? FIRST_PERIOD)
          }
        >
          {PERIODS.map(({ name }) => (
            <option key={name} value={name}>
              {t(name)}
            </option>
          ))}
        </select>
      </label>
      <p class="small">{t('inUtc')}</p>
      <Loaded from={stats}>
        {({ buckets }) =>
          buckets.length === 0 ? (
            <p class="empty">{t('noEvents')}</p>
          ) : (
            <Numbers period={period} buckets={buckets} />
          )
        }
      </Loaded>
    </>
  );
}

function WebhookState() {
  const { t, count } = useWords();
  return (
    <Loaded from={useBot()}>
      {({ webhook_health: health }) =>
        health && (
          <dl class="tiles">
            <Tile
              name={t('webhookState')}
              value={<span class={`badge ${health.status}`}>{t(health.status)}</span>}
            />
            <Tile name={t('pendingCalls')} value={count(health.pending)} />
          </dl>
        )
      }
    </Loaded>
  );
}

function Numbers({ period, buckets }: { readonly period: Period; readonly buckets: readonly Bucket[] }) {
  const { t, count } = useWords();
  const moments = useMemo(() => momentsOf(period, buckets, Date.now()), [period, buckets]);
  const shown = moments.flatMap(({ bucket }) => bucket ?? []);
  const sum = (of: (bucket: Bucket) => number): string =>
    count(shown.reduce((all, bucket) => all + of(bucket), 0));
  const slowest = (of: (bucket: Bucket) => number | undefined): string => {
    const longest = Math.max(-1, ...shown.map((bucket) => of(bucket) ?? -1));
    return longest === -1 ? '–' : `${count(longest)} ms`;
  };
  return (
    <>
      <dl class="tiles">
        <Tile name={t('consentsAccepted')} value={sum(({ counts }) => counts.consent_accepted)} />
        <Tile name={t('consentsRevoked')} value={sum(({ counts }) => counts.consent_revoked)} />
        <Tile name={t('submits')} value={sum(({ counts }) => counts.data_submitted)} />
        <Tile name={t('exports')} value={sum(({ counts }) => counts.data_exported)} />
        <Tile name={t('erasures')} value={sum(({ counts }) => counts.deletion_completed)} />
        <Tile name={t('erasureTime')} value={slowest(({ erasure_ms: ms }) => ms?.p95)} />
        <Tile name={t('webhooksDelivered')} value={sum(({ webhooks }) => webhooks.delivered)} />
        <Tile name={t('webhookFailures')} value={sum(({ webhooks }) => webhooks.failed)} />
        <Tile name={t('webhooksExhausted')} value={sum(({ webhooks }) => webhooks.exhausted)} />
        <Tile name={t('webhookLatency')} value={slowest(({ webhooks }) => webhooks.latency_ms?.p95)} />
      </dl>
      <Plots moments={moments} withHours={period.bucket === 'hour'} />
    </>
  );
}
