import { Link } from 'wouter-preact';
import { useWords } from '../language';
import type { TextName } from '../texts';
import { type Bucket, type Compared, type Moment, type Period, sumOf } from './overview-periods';

interface Card {
  readonly name: TextName;
  readonly of: (bucket: Bucket) => number;
  /** The page with what was counted. */
  readonly path: string;
}

const CARDS: readonly Card[] = [
  {
    name: 'consentsAccepted',
    of: ({ counts }) => counts.consent_accepted,
    path: '/audit?type=consent_accepted',
  },
  {
    name: 'consentsRevoked',
    of: ({ counts }) => counts.consent_revoked,
    path: '/audit?type=consent_revoked',
  },
  { name: 'submits', of: ({ counts }) => counts.data_submitted, path: '/audit?type=data_submitted' },
  { name: 'exports', of: ({ counts }) => counts.data_exported, path: '/audit?type=data_exported' },
  {
    name: 'erasures',
    of: ({ counts }) => counts.deletion_completed,
    path: '/audit?type=deletion_completed',
  },
  {
    name: 'webhooksDelivered',
    of: ({ webhooks }) => webhooks.delivered,
    path: '/webhooks?status=delivered',
  },
  { name: 'webhookFailures', of: ({ webhooks }) => webhooks.failed, path: '/webhooks' },
  {
    name: 'webhooksExhausted',
    of: ({ webhooks }) => webhooks.exhausted,
    path: '/webhooks?status=exhausted',
  },
];

/** The numbers of a period, each against the period before, and each a way to what was counted. */
export function Cards({ period, moments }: { readonly period: Period; readonly moments: Compared }) {
  const { t, count, language } = useWords();
  const shares = new Intl.NumberFormat(language, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  return (
    <ul class="cards">
      {CARDS.map(({ name, of, path }) => {
        const now = sumOf(moments.shown, of);
        const before = sumOf(moments.before, of);
        return (
          <li key={name}>
            <Link class="card" href={path}>
              <span class="name">{t(name)}</span>
              <span class="number">{count(now)}</span>
              <span
                class="change"
                title={t('beforeTitle', { number: count(before), period: t(period.name) })}
              >
                {before > 0 && `${shares.format((now - before) / before)} · `}
                {t('before', { number: count(before) })}
              </span>
              <Sparkline of={of} moments={moments.shown} />
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

const BAR = 4;
const HIGH = 24;

/** The course of a number, without axes: the plots below have them. */
function Sparkline({
  of,
  moments,
}: {
  readonly of: (bucket: Bucket) => number;
  readonly moments: readonly Moment[];
}) {
  const values = moments.map(({ bucket }) => (bucket === undefined ? 0 : of(bucket)));
  const most = Math.max(1, ...values);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${values.length * BAR} ${HIGH}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.map((value, at) => {
        // A moment without any has a line at the bottom, so that the time between two bars is seen.
        const height = value === 0 ? 1 : Math.max(2, (value / most) * HIGH);
        return (
          <rect
            key={at}
            class={value === 0 ? 'none' : undefined}
            x={at * BAR}
            y={HIGH - height}
            width={BAR - 1}
            height={height}
          />
        );
      })}
    </svg>
  );
}
