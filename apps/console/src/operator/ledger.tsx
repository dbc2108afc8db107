import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { download } from '../download';
import { lethe } from '../service';
import { useSingle } from '../confirm';
import { Fault } from '../ui';
import { useOperatorWords } from './words';

/** Its head and its last line are no erasures. */
const OTHER_LINES = 2;
/** The characters that wait to become a part of the file. The browser keeps parts outside the memory of the page. */
const PART = 1_048_576;

/** The export of the ledger of all erasures. */
export function OperatorLedger() {
  const { t, count } = useOperatorWords();
  const queries = useQueryClient();
  const take = useMutation({
    mutationFn: async (): Promise<number> => {
      const parts: Blob[] = [];
      let [lines, rest] = [0, ''];
      for await (const line of lethe.operator.ledger({ timeoutMs: 600_000 })) {
        lines++;
        rest += `${line}\n`;
        if (rest.length < PART) continue;
        parts.push(new Blob([rest]));
        rest = '';
      }
      download(`lethe-ledger-${new Date().toISOString().slice(0, 10)}.jsonl`, ...parts, rest);
      return lines - OTHER_LINES;
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['operator'] }),
  });
  const begin = useSingle(take.isPending, take.error, () => take.mutate());
  return (
    <>
      <p>{t('ledgerLead')}</p>
      <p>{t('ledgerKeep')}</p>
      <p class="note">
        {t('ledgerLarge')} <code>lethe-server admin ledger:export --out ledger-$(date +%F).ndjson</code>
      </p>
      <div class="actions">
        <button class="primary" type="button" disabled={take.isPending} onClick={begin}>
          {t('ledgerDownload')}
        </button>
      </div>
      <Fault error={take.error} />
      {take.data !== undefined && (
        <p class="notice good" role="status">
          {t('ledgerDone')} {count(take.data)}
        </p>
      )}
    </>
  );
}
