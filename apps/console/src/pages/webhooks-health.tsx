import { Fragment } from 'preact';
import { Link } from 'wouter-preact';
import type { Schemas } from '@lethe/sdk';
import { useWords } from '../language';
import { When } from '../parts';
import { Code } from '../ui';

type Health = Schemas['WebhookHealthView'];

/** The states of an undelivered call. The list shows one state at a time. */
const UNDELIVERED = ['exhausted', 'gone', 'cancelled'] as const;

const COUNTED_MAX = 10_000;

/** A number of calls, which the service counts up to a bound. */
export function CallCount({ of: number }: { readonly of: number }) {
  const { t, count } = useWords();
  return <>{number < COUNTED_MAX ? count(number) : t('callsOrMore', { number: count(number) })}</>;
}

/** Where calls go, whether they arrive, since when not and why. */
export function HealthFacts({ url, health }: { readonly url: string; readonly health: Health }) {
  const { t, count, named } = useWords();
  const { consecutive_failures: failures, last_outcome: outcome } = health;
  return (
    <dl class="facts health">
      <dt>{t('target')}</dt>
      <dd>
        <code>{url}</code>
      </dd>
      <dt>{t('webhookState')}</dt>
      <dd>
        <span class={`badge ${health.status}`}>{t(health.status)}</span>{' '}
        {health.status === 'unused' && t('noCallYet')}
        {health.status === 'failing' &&
          t(failures === 1 ? 'failureInARow' : 'failuresInARow', { number: count(failures) })}
      </dd>
      {health.status !== 'unused' && (
        <>
          <dt>{t('lastDelivery')}</dt>
          <dd>
            {health.last_delivered_at === null ? t('neverDelivered') : <When at={health.last_delivered_at} />}
          </dd>
        </>
      )}
      {health.last_failed_at !== null && (
        <>
          <dt>{t('lastFailure')}</dt>
          <dd>
            <When at={health.last_failed_at} />
            {health.status === 'failing' && outcome !== null && (
              <>
                {': '}
                <Code kind="outcome" of={outcome} />
              </>
            )}
          </dd>
        </>
      )}
      <dt>{t('pendingCalls')}</dt>
      <dd>
        <Link href="/webhooks?status=pending">
          <CallCount of={health.pending} />
        </Link>
      </dd>
      <dt>{t('undeliveredCalls')}</dt>
      <dd>
        <CallCount of={health.undelivered} />
        {health.undelivered > 0 && (
          <span class="small">
            {UNDELIVERED.map((status, at) => (
              <Fragment key={status}>
                {at === 0 ? ': ' : ' · '}
                <Link href={`/webhooks?status=${status}`}>{named('delivery', status)}</Link>
              </Fragment>
            ))}
          </span>
        )}
      </dd>
    </dl>
  );
}
