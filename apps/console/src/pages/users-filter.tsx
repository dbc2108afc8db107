import { CONSENT_STATUSES } from '@lethe/sdk';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { submits } from '../confirm';
import { Choice } from '../choice';
import { useWords } from '../language';
import { userPath } from '../parts';
import { useCategories, useServers } from '../queries';
import { idsIn } from './user-ids';
import { ServerChoice } from './server-choice';
import { type Address, badIdsOf, hrefOf } from './users-address';

/** What the list is filtered by. A pair of ids leads to the page of the user at once. */
export function UsersFilterForm({ address }: { readonly address: Address }) {
  const { t, language, named } = useWords();
  const [, navigate] = useLocation();
  const bad = badIdsOf(useSearch());
  const { data: servers = [], isPending } = useServers();
  const categories = useCategories().data ?? [];
  const inAddress = address.user ?? bad.join(' ');
  const [text, setText] = useState(inAddress);
  const [isBad, setBad] = useState(false);
  const [isAsked, setAsked] = useState(false);
  useLayoutEffect(() => {
    setText(inAddress);
    setBad(bad.length > 0);
  }, [inAddress]);
  const filter = (change: Address): void => navigate(hrefOf({ ...address, ...change, after: undefined }));
  const search = (): void => {
    if (text.trim() === '') {
      setBad(false);
      return filter({ user: undefined });
    }
    const found = idsIn(text, (id) => servers.some(({ guild_id: known }) => known === id));
    setBad(found === undefined);
    if (found === undefined) return;
    // Which id of a pair is that of the server is known once the servers are.
    if (found.server !== undefined && isPending) return setAsked(true);
    if (found.server === undefined) filter({ user: found.user });
    else navigate(userPath(found.user, found.server));
  };
  useLayoutEffect(() => {
    if (!isAsked || isPending) return;
    setAsked(false);
    search();
  }, [isAsked, isPending]);
  const labels = categories.map((category) => [category.key, category[`label_${language}`]] as const);
  return (
    <>
      <form role="search" onSubmit={submits(search)}>
        <div class="row">
          <label>
            {t('usersFind')}
            <input
              type="search"
              autocomplete="off"
              spellcheck={false}
              value={text}
              placeholder={t('usersFindHint')}
              aria-invalid={isBad}
              aria-describedby={isBad ? 'users-bad-id' : undefined}
              onInput={(event) => {
                setAsked(false);
                setText(event.currentTarget.value);
              }}
            />
          </label>
          <button class="primary" type="submit">
            {t('findUser')}
          </button>
        </div>
        <div class="row filters">
          <ServerChoice
            id={address.server ?? ''}
            onChange={(id) => filter({ server: id === '' ? undefined : id })}
          />
          <Choice
            name={t('status')}
            all={t('anyState')}
            of={CONSENT_STATUSES.map((status) => [
              status,
              // The service counts who has said no among those without a consent.
              status === 'none' ? t('usersNotAsked') : named('consent', status),
            ])}
            chosen={address.status}
            onChoose={(status) => filter({ status })}
          />
          <Choice
            name={t('category')}
            all={t('usersAnyCategory')}
            of={labels}
            chosen={address.category}
            onChoose={(category) => filter({ category })}
          />
          <label>
            {t('usersOrder')}
            <select
              // One user is looked for among all.
              disabled={address.user !== undefined}
              value={address.user === undefined ? (address.order ?? '') : 'all'}
              onChange={(event) => filter({ order: event.currentTarget.value === 'all' ? 'all' : undefined })}
            >
              <option value="">{t('usersRecent')}</option>
              <option value="all">{t('usersAll')}</option>
            </select>
          </label>
        </div>
      </form>
      {isBad && (
        <p class="notice bad" role="alert" id="users-bad-id">
          {t('badId')}
        </p>
      )}
    </>
  );
}
