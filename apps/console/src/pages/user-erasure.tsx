import { useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useWords } from '../language';
import { Leaving } from '../leaving';
import { LetheError } from '@lethe/sdk';
import { CategoryName, Copy } from '../parts';
import { download } from '../download';
import { useTries } from '../idempotency';
import { ERASURE_MAX_MS, lethe } from '../service';
import { Fault } from '../ui';
import type { Ids } from './user-ids';
import { UserServer } from './users';
import { userKey } from './users-query';

/** The erasure of a user in one server. */
export interface Erasure {
  readonly guild_id: string;
  readonly request_id: string;
  /** Answered this once. Without it the certificate names no user. */
  readonly certificate_salt: string;
  readonly status: string;
  readonly completed_at: string | null;
  readonly deleted_categories: readonly string[] | null;
}

/** In one server, or in every server. */
type Extent = 'erase' | 'everywhere';

/** Erases a user in one server, or in every server. */
export function useErasure(ids: Ids, onErased: () => void) {
  const queries = useQueryClient();
  /** Each until its act has succeeded: a repeat is answered the salts of what the tries before have begun. */
  const tries = useTries();
  const [isAccepting, setAccepting] = useState(false);
  const [kept, setKept] = useState<readonly Erasure[]>([]);
  /** Those before stay: no other call answers their salts. A repeat of a call answers them again. */
  const keep = (more: readonly Erasure[]): void =>
    setKept((before) => [...new Map([...before, ...more].map((each) => [each.request_id, each])).values()]);
  const run = async (extent: Extent): Promise<readonly Erasure[]> => {
    setAccepting(true);
    const begun = await accepted(ids, extent, tries.of(extent).idempotencyKey)
      .catch((error: unknown) => {
        keep(completedBefore(error));
        throw error;
      })
      .finally(() => setAccepting(false));
    const ended: Erasure[] = [];
    for (const each of begun) ended.push(await end(each));
    keep(ended);
    return ended;
  };
  const erase = useMutation({
    mutationFn: async (extent: Extent): Promise<readonly Erasure[]> => {
      const isRepeat = tries.has(extent);
      const ended = await run(extent);
      if (!isRepeat || ended.some(({ status }) => status !== 'completed')) return ended;
      // A repeat is answered what was erased then. What was stored since needs an erasure of its own.
      tries.end(extent);
      return (await isHeld(ids, extent)) ? [...ended, ...(await run(extent))] : ended;
    },
    onSuccess: (_, extent) => {
      tries.end(extent);
      // What was held is not shown a moment longer.
      queries.setQueryData(userKey(ids), null);
      onErased();
      void queries.invalidateQueries();
    },
  });
  return { ...erase, isAccepting, kept };
}

/** The id of an erasure in one server that is on record and has not ended. */
export function onRecord(error: Error | null): string | undefined {
  const { status, request_id: id, requests } = error instanceof LetheError ? error.details : {};
  return status === 'processing' && requests === undefined && typeof id === 'string' ? id : undefined;
}

/** Whether the call that an act repeats is still under way in the service. */
export function isBeingDone(error: Error | null): boolean {
  return error instanceof LetheError && error.reason === 'idempotency_in_progress';
}

/** Whether anything is held about the user, in the server or in any. */
async function isHeld(ids: Ids, extent: Extent): Promise<boolean> {
  const { items } = await lethe.users.list(extent === 'erase' ? ids : { user_id: ids.user_id }).page();
  return items.length > 0;
}

/** The servers in which an erasure of all was completed before it failed. */
function completedBefore(error: unknown): readonly Erasure[] {
  const { requests } = error instanceof LetheError ? error.details : {};
  return Array.isArray(requests) ? (requests as Erasure[]) : [];
}

async function accepted(ids: Ids, extent: Extent, idempotencyKey: string): Promise<readonly Erasure[]> {
  const options = { idempotencyKey, timeoutMs: ERASURE_MAX_MS };
  if (extent === 'erase') return [{ ...(await lethe.privacy.forget(ids, options)), guild_id: ids.guild_id }];
  const { requests } = await lethe.privacy.forgetEverywhere({ user_id: ids.user_id }, options);
  return requests;
}

/** An erasure with its end. Where the service does not tell it, the salt is kept all the same. */
async function end(begun: Erasure): Promise<Erasure> {
  if (begun.status !== 'processing') return begun;
  return { ...begun, ...(await lethe.privacy.waitFor(begun.request_id).catch(() => undefined)) };
}

/** What became of an erasure, with the certificate and its salt for each server. */
export function Erased({ of, isPart }: { readonly of: readonly Erasure[]; readonly isPart: boolean }) {
  const { t } = useWords();
  const [saved, setSaved] = useState<ReadonlySet<string>>(new Set());
  const isDone = !isPart && of.every(({ status }) => status === 'completed');
  return (
    <div class={`notice ${isDone ? 'good' : 'warn'} erased`}>
      <Leaving isAsked={of.some(({ request_id: id }) => !saved.has(id))} loses="salt" />
      <p>
        <strong>{t(of.length === 0 ? 'eraseNone' : isDone ? 'erased' : 'eraseUnderWay')}</strong>
      </p>
      {of.length > 0 && <p>{t('eraseKeep')}</p>}
      <ul class="plain">
        {of.map((each) => (
          <One
            key={each.request_id}
            of={each}
            onSaved={() => setSaved((before) => new Set(before).add(each.request_id))}
          />
        ))}
      </ul>
    </div>
  );
}

/** One erasure. One that failed is repeated by the service, and is not called done. */
function One({ of, onSaved }: { readonly of: Erasure; readonly onSaved: () => void }) {
  const { t, time } = useWords();
  const { request_id: id, certificate_salt: salt, guild_id: server } = of;
  const certificate = useMutation({
    mutationFn: () => lethe.privacy.certificate(id),
    onSuccess: (found) => {
      const file = { request_id: id, certificate_salt: salt, guild_id: server, ...found };
      download(`certificate-${id}.json`, JSON.stringify(file, undefined, 2));
      onSaved();
    },
  });
  const isDone = of.status === 'completed';
  const erased = of.deleted_categories ?? [];
  return (
    <li>
      <p>
        <strong>
          <UserServer id={server} />
        </strong>
        {': '}
        {isDone ? (
          <>
            {erased.length === 0
              ? t('eraseNothing')
              : erased.map((key, at) => (
                  <span key={key}>
                    {at > 0 && ', '}
                    <CategoryName of={key} />
                  </span>
                ))}
            {' · '}
            {time(of.completed_at)}
          </>
        ) : (
          t('eraseFailed', { id })
        )}
      </p>
      <p>
        {t('eraseSalt')} <code onCopy={onSaved}>{salt}</code> <Copy of={salt} onCopied={onSaved} />
      </p>
      {isDone && (
        <button type="button" disabled={certificate.isPending} onClick={() => certificate.mutate()}>
          {t('certificate')}
        </button>
      )}
      <Fault error={certificate.error} />
    </li>
  );
}
