import { useContext, useState } from 'preact/hooks';
import { useMutation } from '@tanstack/preact-query';
import { download } from '../download';
import { useWords, type Words } from '../language';
import { lethe } from '../service';
import { SessionContext } from '../session';
import { Fault } from '../ui';
import { reasonIn } from '../verify/reasons';
import { checkEvent, checkLog, type EventHolds, type Found, type LogHolds, type Shown } from './audit-check';
import { Progress, useLong } from './audit-long';
import { NoEd25519, publicKeys } from './audit-source';
import type { ShownEvent } from './audit-walk';

/**
 * Checks the whole log in the browser, and says in a sentence what holds. `shown` is what the page shows, read anew; `page` is its
 * address, since what was said of one page says nothing of the next.
 */
export function LogCheck({ page, shown }: { readonly page: string; readonly shown: () => Promise<Shown> }) {
  const words = useWords();
  const { t, count } = words;
  const { bot_id: botId } = useContext(SessionContext);
  const [total, setTotal] = useState<number | undefined>();
  const check = useLong(async (signal, onDone) => {
    const keys = await publicKeys();
    setTotal((await lethe.audit.events().page(1, 1)).total_count);
    const lines = lethe.audit.export({}, { signal });
    return { found: await checkLog(botId, lines, keys, await shown(), onDone), page };
  });
  const found = check.data?.found;
  const text = t('logChecking', {
    count: count(check.done),
    total: count(Math.max(check.done, total ?? 0)),
  });
  return (
    <>
      <button type="button" disabled={check.isRunning} onClick={check.begin}>
        {t('logCheck')}
      </button>
      <div class="outcome">
        {check.isRunning && (
          <Progress
            text={text}
            done={check.done}
            {...(total !== undefined && { of: total })}
            onCancel={check.cancel}
          />
        )}
        <div role="status" id="log-finding">
          {check.isCancelled && <p class="notice warn">{t('logCancelled')}</p>}
          {found !== undefined && (
            <p class={`notice ${found.result === 'holds' ? 'good' : 'bad'}`}>
              {found.result === 'holds'
                ? heldLog(words, found, check.data?.page === page)
                : faultIn(words, found)}
            </p>
          )}
        </div>
        <CheckFault error={check.error} />
      </div>
    </>
  );
}

/** Checks one event, and offers its proof to keep. */
export function EventCheck({ event }: { readonly event: ShownEvent }) {
  const words = useWords();
  const { t, time } = words;
  const { bot_id: botId } = useContext(SessionContext);
  const check = useMutation({
    mutationFn: async () => {
      const keys = await publicKeys();
      const proof = await lethe.audit.proof(event.id);
      return { proof, finding: await checkEvent(botId, event, proof, keys) };
    },
  });
  const proof = useMutation({
    mutationFn: async () => check.data?.proof ?? (await lethe.audit.proof(event.id)),
    onSuccess: (found) => download(`proof-${event.id}.json`, JSON.stringify(found, undefined, 2)),
  });
  const found: EventHolds | Found | undefined = check.data?.finding;
  return (
    <>
      <div class="actions">
        <button type="button" disabled={check.isPending} onClick={() => check.mutate()}>
          {t('eventCheck')}
        </button>
        <button type="button" disabled={proof.isPending} onClick={() => proof.mutate()}>
          {t('proof')}
        </button>
      </div>
      <div role="status" aria-live="polite">
        {check.isPending && <p>{t('eventChecking')}</p>}
        {found !== undefined && (
          <p class={`notice ${found.result === 'holds' ? 'good' : 'bad'}`}>
            {found.result === 'holds'
              ? t('eventHolds', { time: time(found.sealedAt) })
              : faultIn(words, found)}
          </p>
        )}
      </div>
      <CheckFault error={check.error ?? proof.error} />
    </>
  );
}

function CheckFault({ error }: { readonly error: Error | null }) {
  const { t } = useWords();
  if (!(error instanceof NoEd25519)) return <Fault error={error} />;
  return (
    <p class="notice warn" role="alert">
      {t('noEd25519')}
    </p>
  );
}

function heldLog({ t, time, count }: Words, log: LogHolds, isOfPage: boolean): string {
  if (log.sealedAt === undefined) return t('logEmpty');
  const held = t('logHolds', { count: count(log.events), time: time(log.sealedAt) });
  if (!isOfPage) return held;
  const shown = log.shown > 0 && t(log.shown === 1 ? 'logShownOne' : 'logShown', { count: count(log.shown) });
  const since = log.erasedSince > 0 && t('logErasedSince', { count: count(log.erasedSince) });
  return [held, shown, since].filter((text) => text !== false).join(' ');
}

function faultIn({ t, language }: Words, fault: Found): string {
  if (fault.why === 'signature') return `${t('checkSignature')} ${reasonIn(language, fault.reason)}`;
  if (fault.why === 'foreign') return t('checkForeign');
  const texts = { differs: 'checkDiffers', missing: 'checkMissing', unknown: 'checkUnknown' } as const;
  return t(texts[fault.why], { id: fault.eventId });
}
