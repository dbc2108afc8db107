import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { attemptsOf, outcomeOf } from '../delivery-outcome';
import { useWords } from '../language';
import { useBot } from '../queries';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { Fault, Loaded } from '../ui';
import { Lacks } from './lacks';
import { HealthFacts } from './webhooks-health';
import { Deliveries } from './webhooks-list';
import { Replay } from './webhooks-replay';
import { Sent, type SentTo } from './webhooks-sent';
import './webhooks.css';

/** Where calls go and whether they arrive, the calls with their attempts, and what can be sent again. */
export function WebhooksPage() {
  const { t } = useWords();
  const queries = useQueryClient();
  const canSend = useAllowed('admin');
  const bot = useBot();
  const url = bot.data?.webhook_url ?? null;
  const refresh = async (): Promise<void> => {
    await Promise.all(
      ['bot', 'deliveries', 'delivery'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
    );
  };
  const sent = async (id: string, before: number): Promise<SentTo> => {
    void refresh();
    const { webhook_url: at } = await lethe.bots.me();
    return { ...(await outcomeOf(() => lethe.webhooks.delivery(id), before)), url: at };
  };
  const test = useMutation({
    mutationFn: async () => sent((await lethe.webhooks.test()).id, 0),
    onSettled: refresh,
  });
  const again = useMutation({
    mutationFn: async (id: string) => {
      const before = attemptsOf(await lethe.webhooks.delivery(id));
      await lethe.webhooks.redeliver(id);
      return sent(id, before);
    },
    onSettled: refresh,
  });
  return (
    <>
      <Lacks scopes={['admin']} />
      <Loaded from={bot}>
        {({ webhook_url: at, webhook_health: health }) =>
          at === null || health === null ? (
            <p class="notice warn">
              {t('noTarget')} <Link href="/settings">{t('toTarget')}</Link>
            </p>
          ) : (
            <HealthFacts url={at} health={health} />
          )
        }
      </Loaded>
      {canSend && url !== null && (
        <div class="actions">
          <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
            {t('sendTest')}
          </button>
        </div>
      )}
      <div role="status" aria-live="polite">
        <Sent of={test} />
      </div>
      <Fault error={test.error} />
      {canSend && url !== null && <Replay url={url} onSent={refresh} />}
      <Deliveries again={canSend && url !== null ? again : undefined} />
    </>
  );
}
