import { useMemo } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import { Chart, type Line } from '../chart';
import { useWords } from '../language';
import { useBot } from '../queries';
import { lethe } from '../service';
import { Loaded, Tile } from '../ui';

const DAYS = 30;
const DAY_MS = 86_400_000;
const REFRESH_MS = 60_000;

type Stats = Awaited<ReturnType<typeof lethe.stats>>;
type Bucket = Stats['buckets'][number];

/** What the bot did in the last days. */
export function OverviewPage() {
  const stats = useQuery({
    queryKey: ['stats'],
    queryFn: () => lethe.stats(),
    refetchInterval: REFRESH_MS,
  });
  const bot = useBot();
  const { t, count } = useWords();
  return (
    <>
      <Loaded from={bot}>
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
      <Loaded from={stats}>{({ buckets }) => <Numbers buckets={buckets} />}</Loaded>
    </>
  );
}

function Numbers({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const { t, count, language } = useWords();
  const days = useMemo(() => everyDay(buckets), [buckets]);
  const sum = (of: (bucket: Bucket) => number): number =>
    buckets.reduce((all, bucket) => all + of(bucket), 0);
  const slowest = Math.max(0, ...buckets.map(({ erasure_ms: ms }) => ms?.p95 ?? 0));
  const lines = useMemo((): Line[] => {
    const values = (type: keyof Bucket['counts']) => days.map(({ bucket }) => bucket?.counts[type] ?? 0);
    return [
      { name: t('consentsAccepted'), colour: '--plot-a', values: values('consent_accepted') },
      { name: t('submits'), colour: '--plot-b', values: values('data_submitted') },
      { name: t('exports'), colour: '--plot-c', values: values('data_exported') },
      { name: t('erasures'), colour: '--plot-d', values: values('deletion_completed') },
    ];
  }, [days, language]);
  const times = useMemo(() => days.map(({ atMs }) => atMs / 1000), [days]);
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  return (
    <>
      <p class="small">{t('lastDays')}</p>
      <dl class="tiles">
        <Tile name={t('consentsAccepted')} value={count(sum(({ counts }) => counts.consent_accepted))} />
        <Tile name={t('consentsRevoked')} value={count(sum(({ counts }) => counts.consent_revoked))} />
        <Tile name={t('submits')} value={count(sum(({ counts }) => counts.data_submitted))} />
        <Tile name={t('exports')} value={count(sum(({ counts }) => counts.data_exported))} />
        <Tile name={t('erasures')} value={count(sum(({ counts }) => counts.deletion_completed))} />
        <Tile name={t('erasureTime')} value={slowest === 0 ? '–' : `${count(slowest)} ms`} />
        <Tile name={t('webhooksDelivered')} value={count(sum(({ webhooks }) => webhooks.delivered))} />
        <Tile name={t('webhookFailures')} value={count(sum(({ webhooks }) => webhooks.failed))} />
      </dl>
      {buckets.length === 0 ? (
        <p class="empty">{t('noEvents')}</p>
      ) : (
        <>
          <h2>{t('eventsPerDay')}</h2>
          <Chart
            title={t('eventsPerDay')}
            timeName={t('time')}
            language={language}
            times={times}
            lines={lines}
          />
          <details>
            <summary>{t('details')}</summary>
            <div class="scroll" tabIndex={0} role="region" aria-label={t('eventsPerDay')}>
              <table>
                <caption class="hidden">{t('eventsPerDay')}</caption>
                <thead>
                  <tr>
                    <th scope="col">{t('time')}</th>
                    {lines.map(({ name }) => (
                      <th key={name} scope="col">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {days.map(({ atMs }, at) => (
                    <tr key={atMs}>
                      <td data-title={t('time')}>{dates.format(atMs)}</td>
                      {lines.map(({ name, values }) => (
                        <td key={name} data-title={name}>
                          {count(values[at] ?? 0)}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </details>
        </>
      )}
    </>
  );
}

/** The service leaves out days on which nothing happened; a plot needs them as zero. */
function everyDay(buckets: readonly Bucket[]): { readonly atMs: number; readonly bucket?: Bucket }[] {
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]));
  const lastMs = Math.max(Math.floor(Date.now() / DAY_MS) * DAY_MS, ...known.keys());
  return Array.from({ length: DAYS }, (_, at) => {
    const atMs = lastMs - (DAYS - 1 - at) * DAY_MS;
    return { atMs, bucket: known.get(atMs) };
  });
}
