import { useState } from 'preact/hooks';
import { useMutation, useQuery } from '@tanstack/preact-query';
import { LetheError } from '@lethe/sdk';
import { useWords } from '../language';
import { download, lethe } from '../service';
import { Fault, Loaded, Table } from '../ui';
import { Value } from '../value';

const ID = /^\d{17,20}$/;

const TYPES = [
  'consent_requested',
  'consent_accepted',
  'consent_revoked',
  'data_submitted',
  'data_exported',
  'data_deleted',
  'deletion_requested',
  'deletion_completed',
  'deletion_failed',
] as const;

/** The audit log with filters, and the proof of each event. */
export function AuditPage() {
  const { t, time } = useWords();
  const [page, setPage] = useState(1);
  const [type, setType] = useState<(typeof TYPES)[number] | ''>('');
  const [user, setUser] = useState('');
  const isUser = ID.test(user);
  const filter = {
    ...(type !== '' && { event_type: type }),
    ...(isUser && { user_id: user }),
  };
  const events = useQuery({
    queryKey: ['audit', filter, page],
    queryFn: () => lethe.audit.events(filter).page(page),
  });
  const proof = useMutation({
    mutationFn: (id: string) => lethe.audit.proof(id),
    onSuccess: (found, id) => download(`proof-${id}.json`, JSON.stringify(found, undefined, 2)),
  });
  const isUnsealed = proof.error instanceof LetheError && proof.error.status === 409;
  return (
    <>
      <form class="row" onSubmit={(event) => event.preventDefault()}>
        <label>
          {t('event')}
          <select
            value={type}
            onChange={(event) => {
              setPage(1);
              setType(event.currentTarget.value as typeof type);
            }}
          >
            <option value="">{t('all')}</option>
            {TYPES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          {t('userId')}
          <input
            inputMode="numeric"
            autocomplete="off"
            value={user}
            aria-invalid={user !== '' && !isUser}
            onInput={(event) => {
              setPage(1);
              setUser(event.currentTarget.value.trim());
            }}
          />
        </label>
      </form>
      {isUnsealed ? (
        <p class="notice warn" role="alert">
          {t('proofMissing')}
        </p>
      ) : (
        <Fault error={proof.error} />
      )}
      <Loaded from={events}>
        {(found) => (
          <Table
            caption={t('audit')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('time'), cell: ({ created_at: at }) => time(at) },
              { title: t('event'), cell: ({ event_type: name }) => <code>{name}</code> },
              { title: t('source'), cell: ({ source }) => source },
              {
                title: t('user'),
                cell: (event) => (event.erased === true ? <em>{t('eraseMark')}</em> : event.user_id),
              },
              {
                title: t('server'),
                cell: (event) => (event.erased === true ? <em>{t('eraseMark')}</em> : event.guild_id),
              },
              { title: t('details'), cell: ({ details }) => <Value of={details} /> },
              {
                title: t('proof'),
                cell: ({ id }) => (
                  <button type="button" disabled={proof.isPending} onClick={() => proof.mutate(id)}>
                    {t('proof')}
                  </button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
