import { useMemo } from 'preact/hooks';
import { Chart, type Line, type Plot } from '../chart';
import { useWords } from '../language';
import type { TextName } from '../texts';
import { localeOf } from '../times';
import type { Bucket, Moment } from './overview-periods';

type OfBucket = (bucket: Bucket) => number | null | undefined;

interface Course {
  readonly title: TextName;
  readonly kind: Plot['kind'];
  readonly lines: readonly {
    readonly name: TextName;
    readonly of: OfBucket;
    readonly colour: Line['colour'];
    readonly isBelow?: boolean;
  }[];
}

const COURSES: readonly Course[] = [
  {
    title: 'plotConsents',
    kind: 'bars',
    lines: [
      { name: 'consentsAccepted', colour: 'a', of: ({ counts }) => counts.consent_accepted },
      { name: 'consentsRevoked', colour: 'b', of: ({ counts }) => counts.consent_revoked, isBelow: true },
    ],
  },
  {
    title: 'plotActs',
    kind: 'bars',
    lines: [
      { name: 'submits', colour: 'a', of: ({ counts }) => counts.data_submitted },
      { name: 'exports', colour: 'c', of: ({ counts }) => counts.data_exported },
      { name: 'erasures', colour: 'd', of: ({ counts }) => counts.deletion_completed },
    ],
  },
  {
    title: 'plotWebhooks',
    kind: 'bars',
    lines: [
      { name: 'webhooksDelivered', colour: 'a', of: ({ webhooks }) => webhooks.delivered },
      { name: 'webhookFailures', colour: 'b', of: ({ webhooks }) => webhooks.failed, isBelow: true },
    ],
  },
  {
    title: 'plotErasures',
    kind: 'lines',
    lines: [
      { name: 'median', colour: 'a', of: ({ erasure_ms: ms }) => ms?.p50 },
      { name: 'p95', colour: 'b', of: ({ erasure_ms: ms }) => ms?.p95 },
      { name: 'longest', colour: 'd', of: ({ erasure_ms: ms }) => ms?.max },
    ],
  },
];

interface Drawn extends Plot {
  readonly title: TextName;
}

/** What happened over time, as plots and as tables. */
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
    (): Drawn[] => COURSES.map((course) => ({ ...course, lines: linesOf(course, moments, t) })),
    [moments, language],
  );
  return (
    <>
      <div class="plots">
        {plots.map((plot) => (
          <section key={plot.title} class="plot">
            <h2>{t(plot.title)}</h2>
            {plot.lines.every(({ values }) => values.every((value) => value === null)) ? (
              <p class="chart empty">{t('noErasures')}</p>
            ) : (
              <Chart title={t(plot.title)} {...{ withHours, times, plot }} />
            )}
          </section>
        ))}
      </div>
      <details>
        <summary>{t('asTable')}</summary>
        {plots.map(({ title, lines }) => (
          <NumbersOf key={title} title={t(title)} {...{ moments, lines, withHours }} />
        ))}
      </details>
    </>
  );
}

function linesOf({ lines, kind }: Course, moments: readonly Moment[], t: (name: TextName) => string): Line[] {
  const none = kind === 'lines' ? null : 0;
  return lines.map(({ name, of, ...rest }) => ({
    ...rest,
    name: t(name),
    values: moments.map(({ bucket }) => (bucket === undefined ? none : (of(bucket) ?? none))),
  }));
}

/** The numbers of one plot; moments that have nothing to say are left out. */
export function NumbersOf({
  title,
  moments,
  lines,
  withHours,
  of = ({ bucket }) => bucket,
}: {
  readonly title: string;
  readonly moments: readonly Moment[];
  readonly lines: readonly Line[];
  readonly withHours: boolean;
  /** What a moment has to say; undefined for nothing. */
  readonly of?: (moment: Moment) => unknown;
}) {
  const { t, count, language } = useWords();
  const rows = moments.flatMap((moment, at) => (of(moment) === undefined ? [] : [{ ...moment, at }]));
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
          {rows.map(({ atMs, at }) => (
            <tr key={atMs}>
              <td data-title={t('time')}>{dates.format(atMs)}</td>
              {lines.map(({ name, values }) => (
                <td key={name} data-title={name}>
                  {values[at] == null ? '–' : count(values[at])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
