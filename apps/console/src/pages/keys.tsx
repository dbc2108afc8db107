import { useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { Schemas } from '@lethe/sdk';
import { useTries } from '../idempotency';
import { useWords } from '../language';
import { When } from '../parts';
import { useBot } from '../queries';
import { Secret } from '../secret';
import { lethe } from '../service';
import { useAllowed, useScopeName } from '../session';
import { Confirm } from '../confirm';
import { PagedTable } from '../ui';
import { NewKey } from './keys-new';
import { Lacks } from './lacks';
import { Refusal } from './settings-form';

interface Asked {
  readonly id: string;
  readonly isOwn: boolean;
}

/** The API keys of the bot, and its webhook secret. */
export function KeysPage() {
  const { t } = useWords();
  const scopeName = useScopeName();
  const queries = useQueryClient();
  const canChange = useAllowed('admin');
  const [asked, setAsked] = useState<Asked | undefined>();
  const { data: bot } = useBot();
  const remove = useMutation({
    mutationFn: (id: string) => lethe.keys.delete(id),
    onSettled: () => {
      setAsked(undefined);
      void queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  const own = bot?.api_key_prefix;
  return (
    <>
      <Lacks scopes={['admin']} />
      <p class="small">{t('keysLead')}</p>
      {canChange && <NewKey />}
      <Refusal error={remove.error} />
      <PagedTable
        queryKey={['keys']}
        load={(page) => lethe.keys.list().page(page)}
        caption={t('keys')}
        columns={[
          {
            title: t('keyName'),
            cell: ({ name, api_key_prefix: prefix }) => (
              <>
                {name === undefined ? <span class="small">{t('keyUnnamed')}</span> : <bdi>{name}</bdi>}{' '}
                {prefix === own && <span class="badge good">{t('thisSession')}</span>}
              </>
            ),
          },
          {
            title: t('prefix'),
            cell: ({ api_key_prefix: prefix }) => <code class="line">{prefix}…</code>,
          },
          {
            title: t('scopes'),
            cell: ({ scopes }) =>
              scopes.map((scope, at) => (
                <span key={scope} title={scope}>
                  {at > 0 && ', '}
                  {scopeName(scope)}
                </span>
              )),
          },
          { title: t('created'), cell: ({ created_at: at }) => <When at={at} /> },
          {
            title: t('lastUsed'),
            cell: ({ last_used_at: at }) => (at === null ? t('never') : <When at={at} />),
          },
          {
            title: t('expires'),
            cell: ({ expires_at: at }) => (at === null ? t('never') : <When at={at} />),
          },
          ...(canChange
            ? [
                {
                  title: t('deleteKey'),
                  cell: ({ id, api_key_prefix: prefix }: { id: string; api_key_prefix: string }) => (
                    <button type="button" onClick={() => setAsked({ id, isOwn: prefix === own })}>
                      {t('deleteKey')}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {canChange && (
        <>
          <section class="setting">
            <h2>{t('replaceTitle')}</h2>
            <ol>
              {([1, 2, 3, 4] as const).map((step) => (
                <li key={step}>{t(`replaceStep${step}`)}</li>
              ))}
            </ol>
          </section>
          <WebhookSecret />
        </>
      )}
      {asked !== undefined && (
        <Confirm
          title={t(asked.isOwn ? 'deleteOwnKey' : 'deleteKeyConfirm')}
          act={t('deleteKey')}
          isRunning={remove.isPending}
          onConfirm={() => remove.mutate(asked.id)}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

/** The webhook secret is replaced in steps, in which both are valid. */
function WebhookSecret() {
  const { t, time } = useWords();
  const [isAsked, setAsked] = useState(false);
  // Kept when a further one is refused: it is shown only once.
  const [made, setMade] = useState<Schemas['WebhookSecretView'] | undefined>();
  const tries = useTries();
  const rotate = useMutation({
    mutationFn: () => tries.run('rotate', (tried) => lethe.webhooks.rotateSecret({}, tried)),
    onSuccess: setMade,
    onSettled: () => setAsked(false),
  });
  return (
    <section class="setting">
      <h2>{t('secretTitle')}</h2>
      <ol>
        {([1, 2, 3, 4] as const).map((step) => (
          <li key={step}>{t(`secretStep${step}`)}</li>
        ))}
      </ol>
      <Refusal error={rotate.error} />
      {made !== undefined && (
        <>
          <Secret key={made.webhook_secret} text={made.webhook_secret} />
          <p class="notice">{t('secretUntil', { time: time(made.overlap_until) })}</p>
        </>
      )}
      <div class="actions">
        <button type="button" onClick={() => setAsked(true)}>
          {t('rotateSecret')}
        </button>
      </div>
      {isAsked && (
        <Confirm
          title={t('rotateSecretConfirm')}
          act={t('rotateSecret')}
          isRunning={rotate.isPending}
          onConfirm={() => rotate.mutate()}
          onCancel={() => setAsked(false)}
        />
      )}
    </section>
  );
}
