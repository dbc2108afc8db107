import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { useWords } from '../language';
import { When } from '../parts';
import { useBot } from '../queries';
import { lethe } from '../service';
import { Code, Loaded } from '../ui';
import { CallCount } from './webhooks-health';

/** The state of the webhook at the moment, and the answer to the last test call. Nothing for a bot without a webhook. */
export function WebhookState() {
  const { t, count } = useWords();
  return (
    <Loaded from={useBot()}>
      {({ webhook_health: health }) =>
        health && (
          <ul class="cards now">
            <li>
              <Link class="card" href="/webhooks">
                <span class="name">{t('webhookState')}</span>
                <span class="number">
                  <span class={`badge ${health.status}`}>{t(health.status)}</span>
                </span>
                <span class="change">
                  {health.status === 'failing' ? (
                    <>
                      {health.last_outcome !== null && <Code kind="outcome" of={health.last_outcome} />}
                      {' · '}
                      {t(health.consecutive_failures === 1 ? 'failureInARow' : 'failuresInARow', {
                        number: count(health.consecutive_failures),
                      })}
                      {' · '}
                      {t('lastDelivery')}:{' '}
                      {health.last_delivered_at === null ? (
                        t('neverDelivered')
                      ) : (
                        <When at={health.last_delivered_at} />
                      )}
                    </>
                  ) : health.last_delivered_at === null ? (
                    t('noCallYet')
                  ) : (
                    <>
                      {t('lastDelivery')}: <When at={health.last_delivered_at} />
                    </>
                  )}
                </span>
              </Link>
            </li>
            <li>
              <Link class="card" href="/webhooks?status=pending">
                <span class="name">{t('pendingCalls')}</span>
                <span class="number">
                  <CallCount of={health.pending} />
                </span>
                <span class="change">
                  {t('undeliveredCalls')}: <CallCount of={health.undelivered} />
                </span>
              </Link>
            </li>
            <LastTest />
          </ul>
        )
      }
    </Loaded>
  );
}

function LastTest() {
  const { t, count } = useWords();
  const { data } = useQuery({
    queryKey: ['deliveries', 'last-test'],
    queryFn: async () => {
      const [call] = (await lethe.webhooks.deliveries({ event: 'ping' }).page(1, 1)).items;
      return call === undefined ? null : lethe.webhooks.delivery(call.id);
    },
  });
  const tookMs = data?.attempts.at(-1)?.duration_ms;
  return (
    <li>
      <Link class="card" href="/webhooks?event=ping">
        <span class="name">{t('lastTest')}</span>
        <span class="number">
          {data == null ? '–' : <Code kind="delivery" of={data.status} class={`badge ${data.status}`} />}
        </span>
        <span class="change">
          {data === null && t('noTest')}
          {data != null && (
            <>
              {data.last_outcome !== null && data.status !== 'delivered' && (
                <>
                  <Code kind="outcome" of={data.last_outcome} />
                  {' · '}
                </>
              )}
              {data.last_status_code !== null && `${t('statusCode')} ${data.last_status_code} · `}
              {tookMs != null && `${count(tookMs)} ms · `}
              <When at={data.finished_at ?? data.created_at} />
            </>
          )}
        </span>
      </Link>
    </li>
  );
}
