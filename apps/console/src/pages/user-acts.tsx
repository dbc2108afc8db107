import { useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useWords } from '../language';
import { Leaving } from '../leaving';
import { lethe } from '../service';
import { useHas } from '../session';
import { Confirm } from '../confirm';
import { Fault } from '../ui';
import { useExport } from './user-export';
import { Erased, isBeingDone, onRecord, useErasure } from './user-erasure';
import { useGrace } from './user-categories';
import type { Ids } from './user-ids';
import { PrivacyLink } from './user-link';
import { Refusing } from './user-refusals';
import { isDirect, useServerToType, useWhere } from './user-typed';
import { type ListedUser, useServersOfUser } from './users-query';

/** What is asked about before it is done. */
export type Asked = 'revoke' | 'erase' | 'everywhere';

/** What the team does first about a user, each question before a change, and what became of it. */
export function UserActs({
  ids,
  user,
  asked,
  onAsk,
  onActed,
}: {
  readonly ids: Ids;
  /** Null where nothing is held: then nothing can be done. */
  readonly user: ListedUser | null;
  readonly asked: Asked | undefined;
  readonly onAsk: (asked: Asked | undefined) => void;
  readonly onActed: () => void;
}) {
  const { t, time } = useWords();
  const queries = useQueryClient();
  const [opened, setOpened] = useState<'link' | 'refusal' | undefined>();
  const canRevoke = useHas('write');
  const canErase = useHas('erase');
  const server = useServerToType(ids.guild_id);
  const place = useWhere(ids.guild_id);
  const eraseNote = isDirect(ids.guild_id) ? 'eraseDirectNote' : 'eraseNote';
  const eraseAct = isDirect(ids.guild_id) ? 'eraseDirect' : 'erase';
  const grace = useGrace();
  const held = useServersOfUser(ids.user_id).data?.items.length ?? 0;
  const done = (): void => {
    onAsk(undefined);
    setOpened(undefined);
    onActed();
  };
  const erase = useErasure(ids, done);
  const revoke = useMutation({
    mutationFn: () => lethe.consents.revoke(ids),
    onSuccess: () => {
      done();
      void queries.invalidateQueries();
    },
  });
  const file = useExport(ids);
  const id = asked === 'erase' ? onRecord(erase.error) : undefined;
  const where = asked === 'everywhere' ? t('userEveryServer') : server;
  const { user_id } = ids;
  return (
    <>
      {user !== null && (
        <div class="actions">
          {(canRevoke || canErase) && (
            <button
              class="primary"
              type="button"
              aria-expanded={opened === 'link'}
              onClick={() => setOpened(opened === 'link' ? undefined : 'link')}
            >
              {t('userLink')}
            </button>
          )}
          <button type="button" disabled={file.isPending} onClick={() => file.mutate()}>
            {t('downloadExport')}
          </button>
          {(canRevoke || canErase) && (
            <button
              type="button"
              aria-expanded={opened === 'refusal'}
              onClick={() => setOpened(opened === 'refusal' ? undefined : 'refusal')}
            >
              {t('refusalOpen')}
            </button>
          )}
        </div>
      )}
      <Leaving isAsked={erase.isPending} loses="erasure" />
      <Fault error={file.error} />
      {user !== null && opened === 'link' && <PrivacyLink ids={ids} isElsewhere={held > 1} />}
      {user !== null && opened === 'refusal' && <Refusing ids={ids} onActed={onActed} />}
      <div role="status" aria-live="polite">
        {(erase.isSuccess || erase.kept.length > 0) && <Erased of={erase.kept} isPart={!erase.isSuccess} />}
        {revoke.isSuccess && user !== null && (
          <p class="notice good">
            {t('userRevoked')}{' '}
            {revoke.data.data_erased_at !== undefined &&
              t('erasedOn', { time: time(revoke.data.data_erased_at) })}
          </p>
        )}
      </div>
      {asked === 'revoke' && (
        <Confirm
          title={t('revokeConfirm', { where: place })}
          note={`${t('revokeNote')} ${grace}`}
          act={t('revoke')}
          isRunning={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate()}
          onCancel={() => {
            if (revoke.isError) revoke.reset();
            onAsk(undefined);
          }}
        />
      )}
      {(asked === 'erase' || asked === 'everywhere') && (
        <Confirm
          title={t(asked === 'erase' ? 'eraseTitle' : 'eraseAllTitle', { id: user_id, where: place })}
          note={t(asked === 'erase' ? eraseNote : 'eraseAllNote')}
          typed={where}
          act={t(asked === 'erase' ? eraseAct : 'userEraseAll')}
          progress={t(erase.isAccepting ? 'eraseAsking' : 'erasing')}
          isRunning={erase.isPending}
          error={erase.error}
          errorOfAct={
            id === undefined
              ? isBeingDone(erase.error)
                ? t('stillBeingDone')
                : undefined
              : t('eraseOnRecord', { id })
          }
          onConfirm={() => erase.mutate(asked)}
          onCancel={() => {
            // An act that is under way says its end.
            if (erase.isError) erase.reset();
            onAsk(undefined);
          }}
        />
      )}
    </>
  );
}
