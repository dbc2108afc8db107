import { useContext } from 'preact/hooks';
import { useMutation } from '@tanstack/preact-query';
import { hasEd25519, type KeySet } from '@lethe/sdk/evidence/web';
import { useWords, type Words } from '../language';
import { download, lethe, publicKeys } from '../service';
import { SessionContext } from '../session';
import { Fault } from '../ui';
import { reasonIn } from '../verify/reasons';
import { VERIFY_TEXTS } from '../verify/texts';
import { checkEvent, checkPage, type EventFilter, type PageFinding, type ShownEvent } from './audit-check';

const TONES = { holds: 'good', fails: 'bad', unclear: 'warn' } as const;

/** This browser or this connection cannot check signatures. */
class NoEd25519 extends Error {}

async function keys(): Promise<KeySet> {
  if (!(await hasEd25519())) throw new NoEd25519();
  return publicKeys();
}

/** Checks the page that is shown, and says in a sentence what holds. */
export function PageCheck({
  filter,
  shown,
}: {
  readonly filter: EventFilter;
  /** What the page shows, read anew. */
  readonly shown: () => Promise<readonly ShownEvent[]>;
}) {
  const { t } = useWords();
  const { bot_id: botId } = useContext(SessionContext);
  const check = useMutation({
    mutationFn: async () =>
      checkPage(botId, await shown(), filter, {
        keys,
        proof: (id) => lethe.audit.proof(id),
        linesAfter: (batch) => lethe.audit.export({ after: batch }),
      }),
  });
  return (
    <>
      <div class="actions">
        <button type="button" disabled={check.isPending} onClick={() => check.mutate()}>
          {t('checkPage')}
        </button>
        <span class="small">{t('checkLead')}</span>
      </div>
      <div role="status" aria-live="polite" id="finding">
        {check.isPending && <p>{t('checking')}</p>}
        {check.data !== undefined && !check.isPending && <Finding of={check.data} />}
      </div>
      <CheckFault error={check.error} />
    </>
  );
}

/** Checks one event, and offers its proof to keep. */
export function EventCheck({ event }: { readonly event: ShownEvent }) {
  const words = useWords();
  const { t } = words;
  const { bot_id: botId } = useContext(SessionContext);
  const check = useMutation({
    mutationFn: async () => {
      const proof = await lethe.audit.proof(event.id);
      return { proof, finding: await checkEvent(botId, event, proof, await keys()) };
    },
  });
  const { data } = check;
  return (
    <>
      <div role="status">
        {data !== undefined && (
          <span class={`badge ${TONES[data.finding.result]}`} title={sentenceOf(words, data.finding, true)}>
            {t(data.finding.result === 'holds' ? 'holds' : 'fails')}
          </span>
        )}
      </div>
      {data?.finding.result === 'fails' && <p class="small">{sentenceOf(words, data.finding, true)}</p>}
      {data === undefined ? (
        <button type="button" disabled={check.isPending} onClick={() => check.mutate()}>
          {t('checkEvent')}
        </button>
      ) : (
        <button
          type="button"
          onClick={() => download(`proof-${event.id}.json`, JSON.stringify(data.proof, undefined, 2))}
        >
          {t('proof')}
        </button>
      )}
      <CheckFault error={check.error} />
    </>
  );
}

function CheckFault({ error }: { readonly error: Error | null }) {
  const { language } = useWords();
  if (!(error instanceof NoEd25519)) return <Fault error={error} />;
  return (
    <p class="notice warn" role="alert">
      {VERIFY_TEXTS[language].noCrypto}
    </p>
  );
}

function Finding({ of }: { readonly of: PageFinding }) {
  return <p class={`notice ${TONES[of.result]}`}>{sentenceOf(useWords(), of, false)}</p>;
}

function sentenceOf({ t, time, language }: Words, finding: PageFinding, isOne: boolean): string {
  if (finding.result === 'unclear') return t('checkUnclear');
  if (finding.result === 'holds')
    return t(isOne ? 'checkHoldsOne' : 'checkHolds', { count: finding.count, time: time(finding.sealedAt) });
  if (finding.why === 'signature') return `${t('checkSignature')} ${reasonIn(language, finding.reason)}`;
  const texts = { differs: 'checkDiffers', missing: 'checkMissing', unknown: 'checkUnknown' } as const;
  return t(texts[finding.why], { id: finding.eventId });
}
