import { useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Chart, type Line, type Plot } from '../chart';
import { useWords } from '../language';
import { When } from '../parts';
import { consentsCompared, type ConsentCount, type Moment, type Period } from './overview-periods';
import { NumbersOf } from './overview-plots';

/** How many users are under consent: now, against the period before, and at the end of each day. Nothing before a first count. */
export function UnderConsent({
  period,
  moments,
  counts,
}: {
  readonly period: Period;
  readonly moments: readonly Moment[];
  readonly counts: readonly ConsentCount[];
}) {
  const { t, count, language } = useWords();
  const times = useMemo(() => moments.map(({ atMs }) => atMs / 1000), [moments]);
  const lines = useMemo(
    (): Line[] => [
      {
        name: t('underConsent'),
        colour: 'a',
        values: moments.map(({ underConsent }) => underConsent ?? null),
      },
    ],
    [moments, language],
  );
  const plot = useMemo((): Plot => ({ kind: 'lines', lines }), [lines]);
  const { now, before } = consentsCompared(period, counts);
  if (now === undefined) return null;
  const shares = new Intl.NumberFormat(language, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  const title = t('underConsent');
  return (
    <section class="plot consents">
      <div class="head">
        <h2>{title}</h2>
        <Link href="/users?status=accepted">{t('underConsentList')}</Link>
      </div>
      <p class="level">
        <span class="number">{count(now.subjects)}</span>
        <span class="change">
          {before !== undefined && (
            <span title={t('beforeConsents', { period: t(period.name) })}>
              {before.subjects > 0 &&
                `${shares.format((now.subjects - before.subjects) / before.subjects)} · `}
              {t('before', { number: count(before.subjects) })}
              {' · '}
            </span>
          )}
          {t('countedAt')} <When at={now.counted_at} />
        </span>
      </p>
      {period.bucket === 'day' && (
        <>
          <Chart title={title} withHours={false} {...{ times, plot }} />
          <details>
            <summary>{t('asTable')}</summary>
            <NumbersOf
              title={t('underConsentDays')}
              withHours={false}
              of={({ underConsent }) => underConsent}
              {...{ moments, lines }}
            />
          </details>
        </>
      )}
    </section>
  );
}
