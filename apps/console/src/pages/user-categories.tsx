import { useContext, useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { Confirm } from '../confirm';
import { useWords } from '../language';
import { CategoryName, When } from '../parts';
import { useCategories, useNamesOfCategories } from '../queries';
import { lethe } from '../service';
import { SessionContext, useHas } from '../session';
import { Code } from '../ui';
import { useWhere } from './user-typed';
import type { ListedUser } from './users-query';

type State = NonNullable<ListedUser['categories']>[number];

/** The categories of a consent, with what can be done about each: its withdrawal, and the erasure of its values. */
export function Categories({ of: user, onActed }: { readonly of: ListedUser; readonly onActed: () => void }) {
  const { t, time, language } = useWords();
  const queries = useQueryClient();
  const declared = useCategories().data ?? [];
  const labels = useNamesOfCategories(language);
  const where = useWhere(user.guild_id);
  const [canRevoke, canErase] = [useHas('write'), useHas('erase')];
  const [asked, setAsked] = useState<
    { readonly act: 'revoke' | 'erase'; readonly key: string } | undefined
  >();
  const [done, setDone] = useState('');
  const grace = useGrace(asked?.key ?? '');
  const { user_id, guild_id, status } = user;
  const isAsked = status !== 'none';
  // A consent that names no categories is to all of them.
  const ofConsent = declared.filter(({ requires_consent: r }) => r !== false);
  const states: readonly State[] =
    user.categories ?? (isAsked ? ofConsent.map(({ key }) => ({ key, status })) : []);
  const isFree = (key: string): boolean =>
    declared.some((each) => each.key === key && each.requires_consent === false);
  const free = declared.filter(({ key }) => isFree(key) && !states.some((each) => each.key === key));
  const accepted = states.filter((each) => each.status === 'accepted');
  const category = labels.get(asked?.key ?? '') ?? asked?.key ?? '';
  const end = (what: string): void => {
    setAsked(undefined);
    setDone(what);
    onActed();
    void queries.invalidateQueries();
  };
  const revoke = useMutation({
    mutationFn: (key: string) => lethe.consents.revoke({ user_id, guild_id, categories: [key] }),
    onSuccess: ({ categories, data_erased_at: whole }, key) => {
      const at = categories?.find((each) => each.key === key)?.data_erased_at ?? whole;
      end(
        `${t('categoryRevoked', { category })} ${at === undefined ? '' : t('erasedOn', { time: time(at) })}`,
      );
    },
  });
  const erase = useMutation({
    mutationFn: (key: string) => lethe.data.eraseValues({ user_id, guild_id, category: key }),
    onSuccess: ({ deleted }) => end(t(deleted ? 'valuesErased' : 'valuesNone', { category })),
  });
  const ask = (act: 'revoke' | 'erase', key: string): void => {
    for (const { reset } of [revoke, erase]) reset();
    setAsked({ act, key });
  };
  const close = (): void => setAsked(undefined);
  return (
    <>
      {isAsked && states.length + free.length === 0 && t('all')}
      <ul class="plain of-consent">
        {states.map(({ key, status: state, data_erased_at: at }) => (
          <li key={key}>
            <span>
              <CategoryName of={key} /> <Code kind="consent" of={state} class={`badge ${state}`} />
              {/* A consent of before the category needed none: its end is no end of what is stored. */}
              {isFree(key) && <span class="badge plain-badge">{t('ofNoConsent')}</span>}
              {at !== undefined && (
                <span class="small">
                  {' '}
                  {t('userErasedAt')} <When at={at} />
                </span>
              )}
            </span>
            <span class="acts">
              {canRevoke && state === 'accepted' && states.length > 1 && (
                <button type="button" onClick={() => ask('revoke', key)}>
                  {t('revokeCategory')}
                </button>
              )}
              {canErase && (state === 'accepted' || state === 'revoked' || isFree(key)) && (
                <button type="button" onClick={() => ask('erase', key)}>
                  {t('eraseValues')}
                </button>
              )}
            </span>
          </li>
        ))}
        {/* A consent is never about these; what is stored in them can be erased. */}
        {free.map(({ key }) => (
          <li key={key}>
            <span>
              <CategoryName of={key} /> <span class="badge plain-badge">{t('ofNoConsent')}</span>
            </span>
            <span class="acts">
              {canErase && (
                <button type="button" onClick={() => ask('erase', key)}>
                  {t('eraseValues')}
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <div role="status">{done !== '' && <p class="notice good">{done}</p>}</div>
      {asked?.act === 'revoke' && (
        <Confirm
          title={t('revokeCategoryTitle', { category, where })}
          note={`${t(accepted.length > 1 ? 'revokeCategoryNote' : 'revokeLastNote')} ${grace}`}
          act={t('revokeCategory')}
          isRunning={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate(asked.key)}
          onCancel={close}
        />
      )}
      {asked?.act === 'erase' && (
        <Confirm
          title={t('eraseValuesTitle', { category, id: user_id, where })}
          note={t('eraseValuesNote')}
          typed={asked.key}
          act={t('eraseValues')}
          isRunning={erase.isPending}
          error={erase.error}
          onConfirm={() => erase.mutate(asked.key)}
          onCancel={close}
        />
      )}
    </>
  );
}

/** What a withdrawal, of one category or of all, means for the values that are stored. */
export function useGrace(key?: string): string {
  const { t, named } = useWords();
  const days = useContext(SessionContext).revoked_data_grace_days;
  const others = (useCategories().data ?? []).filter(({ legal_basis: basis }) => basis !== 'consent');
  const other = others.find((category) => category.key === key);
  if (other !== undefined) return t('graceOther', { basis: named('basis', other.legal_basis) });
  if (days === null) return t('graceNever');
  const after = days === 0 ? t('graceNone') : t(days === 1 ? 'graceDay' : 'graceDays', { days });
  return key === undefined && others.length > 0 ? `${after} ${t('graceOthers')}` : after;
}
