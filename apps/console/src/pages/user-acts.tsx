import { useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useWords } from '../language';
import { download, lethe } from '../service';
import { useAllowed } from '../session';
import { Confirm, Fault } from '../ui';
import type { Ids } from './users';

/** What the team can do about a user, each after a question. */
export function Acts({
  ids,
  isAccepted,
  onActed,
}: {
  readonly ids: Ids;
  readonly isAccepted: boolean;
  readonly onActed: () => void;
}) {
  const { t } = useWords();
  const [isAccepting, setAccepting] = useState(false);
  const queries = useQueryClient();
  const [asked, setAsked] = useState<'revoke' | 'erase' | undefined>();
  const canRevoke = useAllowed('write');
  const canErase = useAllowed('erase');
  const done = (): void => {
    setAsked(undefined);
    onActed();
    void queries.invalidateQueries();
  };
  const revoke = useMutation({ mutationFn: () => lethe.consents.revoke(ids), onSuccess: done });
  const erase = useMutation({
    mutationFn: async () => {
      setAccepting(true);
      const { request_id: id, certificate_salt: salt } = await lethe.privacy.forget(ids);
      setAccepting(false);
      return { salt, ...(await lethe.privacy.waitFor(id)) };
    },
    onSuccess: done,
  });
  const certificate = useMutation({
    mutationFn: async ({ request_id: id, salt }: { request_id: string; salt: string }) => ({
      request_id: id,
      certificate_salt: salt,
      ...(await lethe.privacy.certificate(id)),
    }),
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
        {erase.data !== undefined && (
          <Erased of={erase.data} onCertificate={() => certificate.mutate(erase.data)} />
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
          progress={t(isAccepting ? 'eraseAsking' : 'erasing')}
          isRunning={erase.isPending}
          error={erase.error}
          onConfirm={() => erase.mutate()}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}

interface Erasure {
  readonly status: string;
  readonly request_id: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly deleted_categories: readonly string[] | null;
}

/** The end of an erasure. One that failed is repeated by the service, and is not called done. */
function Erased({ of, onCertificate }: { readonly of: Erasure; readonly onCertificate: () => void }) {
  const { t } = useWords();
  const { completed_at: to } = of;
  if (of.status !== 'completed' || to === null)
    return <p class="notice bad">{t('eraseFailed', { id: of.request_id })}</p>;
  const ms = Date.parse(to) - Date.parse(of.created_at);
  return (
    <div class="notice good">
      <p>{t('erased')}</p>
      <p>{t('eraseDone', { what: of.deleted_categories?.join(', ') || t('eraseNothing'), ms })}</p>
      <button type="button" onClick={onCertificate}>
        {t('certificate')}
      </button>
    </div>
  );
}
