import { useState } from 'preact/hooks';
import { useMutation, useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { download, lethe } from '../service';
import { Fault, Loaded, Table } from '../ui';
import { Value } from '../value';
import { Acts } from './user-acts';

const ID = /^\d{17,20}$/;

export interface Ids {
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
  const { t, time, named } = useWords();
  const [acts, setActs] = useState(0);
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
                <span class={`badge ${consent.status}`}>{named('consent', consent.status)}</span>
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
                    {key} <span class={`badge ${state}`}>{named('consent', state)}</span>
                  </li>
                ))}
              </ul>
            )}
          </section>
          {/* After an act nothing that was shown before it stays. */}
          <Values key={acts} ids={ids} />
          <Acts
            ids={ids}
            isAccepted={consent.status === 'accepted'}
            onActed={() => setActs((before) => before + 1)}
          />
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

function History({ ids }: { readonly ids: Ids }) {
  const { t, time, named } = useWords();
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
              { title: t('event'), cell: ({ action }) => named('action', action) },
              { title: t('version'), cell: ({ version }) => version },
              { title: t('category'), cell: ({ categories }) => categories?.join(', ') ?? t('all') },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
