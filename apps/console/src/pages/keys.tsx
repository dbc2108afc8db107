import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe, type Scope } from '../service';
import { Secret } from '../secret';
import { useAllowed } from '../session';
import { Confirm, Fault, Loaded, Table, useSingle } from '../ui';

const SCOPES: readonly Scope[] = ['read', 'write', 'erase', 'admin'];

/** The API keys of the bot, and its webhook secret. */
export function KeysPage() {
  const { t, time } = useWords();
  const queries = useQueryClient();
  const canChange = useAllowed('admin');
  const [page, setPage] = useState(1);
  const [asked, setAsked] = useState<{ readonly delete: string } | 'secret' | undefined>();
  const keys = useQuery({ queryKey: ['keys', page], queryFn: () => lethe.keys.list().page(page) });
  const done = (): void => {
    setAsked(undefined);
    void queries.invalidateQueries({ queryKey: ['keys'] });
  };
  const remove = useMutation({ mutationFn: (id: string) => lethe.keys.delete(id), onSuccess: done });
  const rotate = useMutation({ mutationFn: () => lethe.webhooks.rotateSecret({}), onSuccess: done });
  return (
    <>
      {canChange && <NewKey />}
      {rotate.data !== undefined && <Secret text={rotate.data.webhook_secret} />}
      <Loaded from={keys}>
        {(found) => (
          <Table
            caption={t('keys')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('prefix'), cell: ({ api_key_prefix: prefix }) => <code>{prefix}…</code> },
              { title: t('scopes'), cell: ({ scopes }) => scopes.join(', ') },
              { title: t('created'), cell: ({ created_at: at }) => time(at) },
              { title: t('lastUsed'), cell: ({ last_used_at: at }) => (at === null ? t('never') : time(at)) },
              { title: t('expires'), cell: ({ expires_at: at }) => (at === null ? t('never') : time(at)) },
              {
                title: t('deleteKey'),
                cell: ({ id }) =>
                  canChange ? (
                    <button type="button" onClick={() => setAsked({ delete: id })}>
                      {t('deleteKey')}
                    </button>
                  ) : (
                    '–'
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {canChange && (
        <div class="actions">
          <button type="button" onClick={() => setAsked('secret')}>
            {t('rotateSecret')}
          </button>
        </div>
      )}
      {asked === 'secret' && (
        <Confirm
          title={t('rotateSecretConfirm')}
          act={t('rotateSecret')}
          isRunning={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate()}
          onCancel={() => setAsked(undefined)}
        />
      )}
      {typeof asked === 'object' && (
        <Confirm
          title={t('deleteKeyConfirm')}
          act={t('deleteKey')}
          isRunning={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(asked.delete)}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function NewKey() {
  const { t } = useWords();
  const queries = useQueryClient();
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  const create = useMutation({
    mutationFn: () => lethe.keys.create({ scopes: [...scopes] }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const begin = useSingle(create.isPending, create.error, () => create.mutate());
  const toggle = (scope: Scope): void =>
    setScopes(SCOPES.filter((one) => (one === scope) !== scopes.includes(one)));
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        begin();
      }}
    >
      <fieldset>
        <legend>{t('newKey')}</legend>
        {SCOPES.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} /> {scope}
          </label>
        ))}
        <button type="submit" disabled={create.isPending || scopes.length === 0}>
          {t('createKey')}
        </button>
      </fieldset>
      <Fault error={create.error} />
      {create.data !== undefined && <Secret text={create.data.api_key} />}
    </form>
  );
}
