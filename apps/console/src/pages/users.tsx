import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useWords } from '../language';
import { download, lethe } from '../service';
import { useAllowed } from '../session';
import { Confirm, Fault, Loaded, Table } from '../ui';
import { Value } from '../value';

const ID = /^\d{17,20}$/;

interface Ids {
  readonly user_id: string;
  readonly guild_id: string;
}

/** Finds a user by the ids of the platform. The ids stay in the memory of the page: an address would be kept. */
export function UsersPage() {
  const { t } = useWords();
  const [ids, setIds] = useState<Ids>({ user_id: '', guild_id: '' });
  const [found, setFound] = useState<Ids | undefined>();
  const [isBad, setBad] = useState(false);
  const field = (name: keyof Ids, title: string) => (
    <label>
      {title}
      <input
        inputMode="numeric"
        autocomplete="off"
        value={ids[name]}
        aria-invalid={isBad && !ID.test(ids[name])}
        onInput={(event) => setIds({ ...ids, [name]: event.currentTarget.value.trim() })}
      />
    </label>
  );
  return (
    <>
      <p>{t('findUserLead')}</p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const isGood = ID.test(ids.user_id) && ID.test(ids.guild_id);
          setBad(!isGood);
          if (isGood) setFound(ids);
        }}
      >
        {field('user_id', t('userId'))}
        {field('guild_id', t('guildId'))}
        <button class="primary" type="submit">
          {t('findUser')}
        </button>
      </form>
      {isBad && (
        <p class="notice bad" role="alert">
          {t('badId')}
        </p>
      )}
      {found !== undefined && <User key={`${found.user_id}/${found.guild_id}`} ids={found} />}
    </>
  );
}

function User({ ids }: { readonly ids: Ids }) {
  const { t, time } = useWords();
  const status = useQuery({ queryKey: ['status', ids], queryFn: () => lethe.consents.status(ids) });
  return (
    <Loaded from={status}>
      {(consent) => (
        <>
          <section>
            <h2>{t('consent')}</h2>
            <dl class="facts">
              <dt>{t('status')}</dt>
              <dd>
                <span class={`badge ${consent.status}`}>{consent.status}</span>
              </dd>
              <dt>{t('version')}</dt>
              <dd>{consent.version ?? '–'}</dd>
              <dt>{t('accepted')}</dt>
              <dd>{time(consent.accepted_at)}</dd>
              <dt>{t('revoked')}</dt>
              <dd>{time(consent.revoked_at)}</dd>
              <dt>{t('declined')}</dt>
              <dd>{time(consent.declined_at)}</dd>
              {consent.pending_version !== undefined && (
                <>
                  <dt>{t('pending')}</dt>
                  <dd>{consent.pending_version}</dd>
                </>
              )}
            </dl>
            {consent.categories !== undefined && (
              <ul class="plain">
                {consent.categories.map(({ key, status: state }) => (
                  <li key={key}>
                    {key} <span class={`badge ${state}`}>{state}</span>
                  </li>
                ))}
              </ul>
            )}
          </section>
          <Values ids={ids} />
          <Acts ids={ids} isAccepted={consent.status === 'accepted'} />
          <History ids={ids} />
        </>
      )}
    </Loaded>
  );
}

/** The stored values, hidden until they are asked for: showing them is an export, with its event in the audit log. */
function Values({ ids }: { readonly ids: Ids }) {
  const { t } = useWords();
  const reveal = useMutation({ mutationFn: () => lethe.data.export(ids) });
  const full = useMutation({
    mutationFn: async () => new Response(await lethe.data.exportStream({ ...ids, format: 'full' })).text(),
    onSuccess: (text) => download(`export-${ids.user_id}.json`, text),
  });
  return (
    <section>
      <h2>{t('storedValues')}</h2>
      {reveal.data === undefined ? <p>{t('masked')}</p> : <Value of={reveal.data.data} />}
      <Fault error={reveal.error ?? full.error} />
      <div class="actions">
        {reveal.data === undefined && (
          <button type="button" disabled={reveal.isPending} onClick={() => reveal.mutate()}>
            {t('reveal')}
          </button>
        )}
        <button type="button" disabled={full.isPending} onClick={() => full.mutate()}>
          {t('downloadExport')}
        </button>
      </div>
    </section>
  );
}

function Acts({ ids, isAccepted }: { readonly ids: Ids; readonly isAccepted: boolean }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<'revoke' | 'erase' | undefined>();
  const canRevoke = useAllowed('write');
  const canErase = useAllowed('erase');
  const done = (): void => {
    setAsked(undefined);
    void queries.invalidateQueries();
  };
  const revoke = useMutation({ mutationFn: () => lethe.consents.revoke(ids), onSuccess: done });
  const erase = useMutation({
    mutationFn: async () => {
      const { request_id: id } = await lethe.privacy.forget(ids);
      return lethe.privacy.waitFor(id);
    },
    onSuccess: done,
  });
  const certificate = useMutation({
    mutationFn: (id: string) => lethe.privacy.certificate(id),
    onSuccess: (found) => download('certificate.json', JSON.stringify(found, undefined, 2)),
  });
  return (
    <section>
      <div class="actions">
        {canRevoke && isAccepted && (
          <button type="button" onClick={() => setAsked('revoke')}>
            {t('revoke')}
          </button>
        )}
        {canErase && (
          <button class="danger" type="button" onClick={() => setAsked('erase')}>
            {t('erase')}
          </button>
        )}
      </div>
      <div role="status" aria-live="polite">
        {erase.isPending && <p>{t('erasing')}</p>}
        {erase.data !== undefined && (
          <div class="notice good">
            <p>{t('erased')}</p>
            <button type="button" onClick={() => certificate.mutate(erase.data.request_id)}>
              {t('certificate')}
            </button>
          </div>
        )}
      </div>
      <Fault error={certificate.error} />
      {asked === 'revoke' && (
        <Confirm
          title={t('revokeConfirm')}
          note={t('revokeNote')}
          act={t('revoke')}
          isRunning={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsked(undefined)}
        />
      )}
      {asked === 'erase' && (
        <Confirm
          title={t('eraseTitle')}
          note={t('eraseNote')}
          typed={ids.user_id}
          act={t('erase')}
          isRunning={erase.isPending}
          error={erase.error}
          onConfirm={() => erase.mutate()}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}

function History({ ids }: { readonly ids: Ids }) {
  const { t, time } = useWords();
  const [page, setPage] = useState(1);
  const history = useQuery({
    queryKey: ['history', ids, page],
    queryFn: () => lethe.consents.history(ids).page(page),
  });
  return (
    <section>
      <h2>{t('history')}</h2>
      <Loaded from={history}>
        {(found) => (
          <Table
            caption={t('history')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('time'), cell: ({ created_at: at }) => time(at) },
              { title: t('event'), cell: ({ action }) => action },
              { title: t('version'), cell: ({ version }) => version },
              { title: t('category'), cell: ({ categories }) => categories?.join(', ') ?? t('all') },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
