import { useMemo } from 'preact/hooks';
import { Chart, type Line } from '../chart';
import { localeOf, useWords } from '../language';
import type { TextName } from '../texts.en';
import type { Bucket, Moment } from './overview-periods';

type Number = (bucket: Bucket) => number | null | undefined;

interface Plot {
  readonly title: TextName;
  /** Of a plot of durations, where a moment without one has no number. */
  readonly isOfTimes?: boolean;
  readonly lines: readonly (readonly [name: TextName, of: Number])[];
}

const PLOTS: readonly Plot[] = [
  {
    title: 'plotConsents',
    lines: [
      ['consentsRequested', ({ counts }) => counts.consent_requested],
      ['consentsAccepted', ({ counts }) => counts.consent_accepted],
      ['consentsRevoked', ({ counts }) => counts.consent_revoked],
    ],
  },
  {
    title: 'plotActs',
    lines: [
      ['submits', ({ counts }) => counts.data_submitted],
      ['exports', ({ counts }) => counts.data_exported],
      ['erasures', ({ counts }) => counts.deletion_completed],
    ],
  },
  {
    title: 'plotWebhooks',
    lines: [
      ['webhooksDelivered', ({ webhooks }) => webhooks.delivered],
      ['webhookFailures', ({ webhooks }) => webhooks.failed],
      ['webhooksExhausted', ({ webhooks }) => webhooks.exhausted],
    ],
  },
  {
    title: 'plotLatency',
    isOfTimes: true,
    lines: [
      ['p50', ({ webhooks }) => webhooks.latency_ms?.p50],
      ['p95', ({ webhooks }) => webhooks.latency_ms?.p95],
      ['longest', ({ webhooks }) => webhooks.latency_ms?.max],
    ],
  },
  {
    title: 'plotErasures',
    isOfTimes: true,
    lines: [
      ['p50', ({ erasure_ms: ms }) => ms?.p50],
      ['p95', ({ erasure_ms: ms }) => ms?.p95],
      ['longest', ({ erasure_ms: ms }) => ms?.max],
    ],
  },
];

const COLOURS = ['--plot-a', '--plot-b', '--plot-c'] as const;

/** What happened over time, as plots and as a table. */
export function Plots({
  moments,
  withHours,
}: {
  readonly moments: readonly Moment[];
  readonly withHours: boolean;
}) {
  const { t, language } = useWords();
  const times = useMemo(() => moments.map(({ atMs }) => atMs / 1000), [moments]);
  const plots = useMemo(
    () => PLOTS.map((plot) => ({ ...plot, lines: linesOf(plot, moments, t) })),
    [moments, language],
  );
  return (
    <>
      <div class="plots">
        {plots.map(({ title, lines, isOfTimes }) => (
          <section key={title} class="plot">
            <h2>{t(title)}</h2>
            {isOfTimes === true && lines.every(({ values }) => values.every((value) => value === null)) ? (
              <p class="empty">{t('noTimes')}</p>
            ) : (
              <Chart
                title={t(title)}
                timeName={t('time')}
                language={localeOf(language)}
                {...{ withHours, times, lines }}
              />
            )}
          </section>
        ))}
      </div>
      <details>
        <summary>{t('asTable')}</summary>
        {plots.map(({ title, lines }) => (
          <Numbers key={title} title={t(title)} {...{ moments, lines, withHours }} />
        ))}
      </details>
    </>
  );
}

function linesOf(
  { lines, isOfTimes }: Plot,
  moments: readonly Moment[],
  t: (name: TextName) => string,
): Line[] {
  const none = isOfTimes === true ? null : 0;
  return lines.map(([name, of], at) => ({
    name: t(name),
    colour: COLOURS[at] ?? '--plot-a',
    values: moments.map(({ bucket }) => (bucket === undefined ? none : (of(bucket) ?? none))),
  }));
}

/** The numbers of one plot; moments in which nothing happened are left out. */
function Numbers({
  title,
  moments,
  lines,
  withHours,
}: {
  readonly title: string;
  readonly moments: readonly Moment[];
  readonly lines: readonly Line[];
  readonly withHours: boolean;
}) {
  const { t, count, language } = useWords();
  const hour = withHours ? ({ timeStyle: 'short' } as const) : {};
  const form = { dateStyle: 'medium', timeZone: 'UTC', ...hour } as const;
  const dates = new Intl.DateTimeFormat(localeOf(language), form);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {[t('time'), ...lines.map(({ name }) => name)].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {moments.map(({ atMs, bucket }, at) =>
            bucket === undefined ? null : (
              <tr key={atMs}>
                <td data-title={t('time')}>{dates.format(atMs)}</td>
                {lines.map(({ name, values }) => (
                  <td key={name} data-title={name}>
                    {values[at] == null ? '–' : count(values[at])}
                  </td>
                ))}
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
