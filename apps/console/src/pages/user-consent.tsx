import { useWords } from '../language';
import { CategoryName, Version, When } from '../parts';
import { lethe } from '../service';
import { useHas } from '../session';
import { Code, PagedTable } from '../ui';
import { Categories } from './user-categories';
import type { Ids } from './user-ids';
import { ConsentState } from './users';
import type { ListedUser } from './users-query';

/** The consent of a user as it is now, as a whole and by category. */
export function Consent({
  of: user,
  onRevoke,
  onActed,
}: {
  readonly of: ListedUser;
  readonly onRevoke: () => void;
  readonly onActed: () => void;
}) {
  const { t, time } = useWords();
  const canRevoke = useHas('write') && user.status === 'accepted';
  const times = [
    ['accepted', user.accepted_at],
    ['revoked', user.revoked_at],
    ['declined', user.declined_at],
    ['userErasedAt', user.data_erased_at],
  ] as const;
  return (
    <section>
      <div class="head">
        <h2>{t('consent')}</h2>
        {canRevoke && (
          <button type="button" onClick={onRevoke}>
            {t('revoke')}
          </button>
        )}
      </div>
      <dl class="facts">
        <dt>{t('status')}</dt>
        <dd>
          <ConsentState of={user} />
        </dd>
        {user.version !== null && (
          <>
            <dt>{t('version')}</dt>
            <dd>
              <Version of={user.version} />
            </dd>
          </>
        )}
        {user.pending_version !== undefined && (
          <>
            <dt>{t('pending')}</dt>
            <dd>
              <Version of={user.pending_version} />
            </dd>
          </>
        )}
        {times.map(
          ([name, at]) =>
            at != null && (
              <>
                <dt>{t(name)}</dt>
                <dd>{time(at)}</dd>
              </>
            ),
        )}
        <dt class="hidden">{t('usersCategories')}</dt>
        <dd class="whole">
          <Categories of={user} onActed={onActed} />
        </dd>
      </dl>
    </section>
  );
}

/** What the user was shown and has decided. */
export function History({ ids }: { readonly ids: Ids }) {
  const { t } = useWords();
  return (
    <section class="history">
      <h2>{t('history')}</h2>
      <PagedTable
        queryKey={['history', ids]}
        load={(page) => lethe.consents.history(ids).page(page)}
        caption={t('history')}
        columns={[
          { title: t('time'), cell: ({ created_at: at }) => <When at={at} /> },
          { title: t('event'), cell: ({ action }) => <Code kind="action" of={action} /> },
          { title: t('version'), cell: ({ version }) => <Version of={version} /> },
          {
            title: t('usersCategories'),
            cell: ({ categories }) =>
              categories?.map((key, at) => (
                <span key={key}>
                  {at > 0 && ', '}
                  <CategoryName of={key} />
                </span>
              )) ?? t('all'),
          },
        ]}
      />
    </section>
  );
}
