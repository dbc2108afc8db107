import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { LetheError, type Schemas } from '@lethe/sdk';
import { Link } from 'wouter-preact';
import { type Outcome, outcomeOf } from '../delivery-outcome';
import { useWords } from '../language';
import { lethe } from '../service';
import { useAllowed } from '../session';
import type { TextName } from '../texts';
import { submits, useSingle } from '../confirm';
import { useDraft } from './draft';
import { faultsOf, Field, Refusal, SaveBar } from './settings-form';

type Bot = Schemas['BotView'];

/** What mends a call that failed so. */
const HINTS: Readonly<Record<string, TextName>> = {
  refused: 'hintRefused',
  gone: 'hintRefused',
  redirected: 'hintRedirected',
  timed_out: 'hintTimeout',
  not_connected_in_time: 'hintConnection',
  connection_failed: 'hintConnection',
  tls_failed: 'hintTls',
  name_not_found: 'hintName',
  blocked_address: 'hintBlocked',
};

/** What became of a test call to an address; without a call none was made, or it was refused. */
interface Tested {
  readonly url: string | null;
  readonly outcome?: Outcome;
  readonly refusal?: Error;
}

/** The address of the webhook calls; a change of it is tested at once. */
export function Webhook({ bot }: { readonly bot: Bot }) {
  const { t } = useWords();
  const mayChange = useAllowed('admin');
  return mayChange ? <WebhookForm bot={bot} /> : <code>{bot.webhook_url ?? t('noWebhook')}</code>;
}

function WebhookForm({ bot }: { readonly bot: Bot }) {
  const words = useWords();
  const { t } = words;
  const queries = useQueryClient();
  const draft = useDraft({ webhook_url: bot.webhook_url ?? '' });
  const test = useMutation({
    mutationFn: async (url: string | null): Promise<Tested> => {
      if (url === null) return { url };
      try {
        const { id } = await lethe.webhooks.test();
        return { url, outcome: await outcomeOf(() => lethe.webhooks.delivery(id), 0) };
      } catch (error) {
        return { url, refusal: error as Error };
      }
    },
    onSettled: () =>
      Promise.all(['bot', 'deliveries'].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
  const save = useMutation({
    mutationFn: (sent: typeof draft.values) => {
      const url = sent.webhook_url.trim();
      return lethe.bots.change({ webhook_url: url === '' ? null : url });
    },
    onSuccess: (changed, sent) => {
      queries.setQueryData(['bot'], changed);
      draft.settle(sent);
      test.mutate(changed.webhook_url);
    },
  });
  const isBusy = save.isPending || test.isPending;
  const begin = useSingle(isBusy, save.error, () => {
    test.reset();
    save.mutate(draft.values);
  });
  const again = useSingle(isBusy, test.error, () => test.mutate(bot.webhook_url));
  return (
    <form noValidate onSubmit={submits(begin)}>
      <Field
        label={t('webhookUrl')}
        hint={t('webhookUrlHint')}
        inputMode="url"
        fault={faultsOf(save.error, words).get('webhook_url')}
        value={draft.values.webhook_url}
        onInput={(url) => draft.set({ webhook_url: url })}
      />
      <Refusal error={save.error} beside={(name) => name === 'webhook_url'} />
      <div role="status" aria-live="polite" class="tested">
        {test.isPending && <p class="notice">{t('testing')}</p>}
        {test.data !== undefined && !isBusy && <Shown of={test.data} />}
      </div>
      <p class="small">
        <Link href="/webhooks">{t('toDeliveries')}</Link> · <Link href="/keys">{t('toSecret')}</Link>
      </p>
      <SaveBar act={t('saveAndTest')} draft={draft} save={save} isSaved={false}>
        {!draft.isChanged && bot.webhook_url !== null && (
          <button type="button" disabled={isBusy} onClick={again}>
            {t('testNow')}
          </button>
        )}
      </SaveBar>
    </form>
  );
}

function Shown({ of: { url, outcome, refusal } }: { readonly of: Tested }) {
  const { t, named, count } = useWords();
  if (refusal !== undefined)
    return (
      <>
        <p class="notice warn">{t('testNotSent')}</p>
        {refusal instanceof LetheError && <Refusal error={refusal} />}
      </>
    );
  if (url === null || outcome === undefined) return <p class="notice good">{t('testRemoved')}</p>;
  const { attempt, delivery } = outcome;
  if (attempt === undefined)
    return (
      <p class="notice warn">
        {delivery.status === 'pending'
          ? t('testWaiting')
          : t('testFailed', { outcome: named('delivery', delivery.status) })}
      </p>
    );
  const isDelivered = attempt.outcome === 'confirmed';
  const hint = HINTS[attempt.outcome];
  const facts = [
    new URL(url).host,
    attempt.status_code === null ? undefined : `HTTP ${attempt.status_code}`,
    attempt.duration_ms === null ? undefined : `${count(attempt.duration_ms)} ms`,
  ];
  return (
    <div class={isDelivered ? 'notice good' : 'notice bad'}>
      <p>
        {isDelivered ? t('testDelivered') : t('testFailed', { outcome: named('outcome', attempt.outcome) })}{' '}
        {!isDelivered && hint !== undefined && t(hint)}
      </p>
      <p class="note">{facts.filter((fact) => fact !== undefined).join(' · ')}</p>
    </div>
  );
}
