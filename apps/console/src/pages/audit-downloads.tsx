import { useContext } from 'preact/hooks';
import { download } from '../download';
import { useWords } from '../language';
import { lethe } from '../service';
import { SessionContext } from '../session';
import { Fault } from '../ui';
import { csvOf } from './audit-csv';
import { canStream, HELD_MAX_MB, saved, sinkFor, TooLargeToHold } from './audit-file';
import type { AuditFilter } from './audit-filter';
import { Progress, useLong } from './audit-long';
import { readBy } from './audit-source';
import { rowsOf } from './audit-walk';

/** Rows of a file of the list at most: a call reads 100, and all sessions of a bot share 120 calls a minute. */
const ROWS_MAX = 5_000;
const MB = 1_000_000;

/** The sealed log as a file, byte for byte as it is signed. */
export function LogDownload() {
  const { t } = useWords();
  const { bot_id: botId } = useContext(SessionContext);
  const save = useLong(async (signal, onDone) => {
    const sink = await sinkFor(`lethe-audit-${botId}.ndjson`);
    return sink && saved(sink, lethe.audit.export({}, { signal }), onDone);
  });
  const size = (bytes: number): string => (bytes / MB).toFixed(1);
  return (
    <>
      <button
        type="button"
        disabled={save.isRunning}
        title={canStream() ? undefined : t('heldNote', { mb: HELD_MAX_MB })}
        onClick={save.begin}
      >
        {t('logDownload')}
      </button>
      <div class="outcome">
        {save.isRunning && (
          <Progress text={t('logSaving', { mb: size(save.done) })} done={save.done} onCancel={save.cancel} />
        )}
        <div role="status">
          {save.isCancelled && <p class="notice warn">{t('saveCancelled')}</p>}
          {save.data !== undefined && (
            <p class="notice good">
              {t('logSaved')} <code>lethe-verify audit FILE --keys KEYS</code>
            </p>
          )}
        </div>
        {save.error instanceof TooLargeToHold ? (
          <p class="notice bad" role="alert">
            {t('heldTooLarge', { mb: HELD_MAX_MB })}
          </p>
        ) : (
          <Fault error={save.error} />
        )}
      </div>
    </>
  );
}

/** The list with its filter as a file for a spreadsheet or a program. */
export function ListDownload({
  filter,
  format,
}: {
  readonly filter: AuditFilter;
  readonly format: 'csv' | 'json';
}) {
  const { t, count } = useWords();
  const save = useLong(async (signal, onDone) => {
    const read = readBy(filter);
    const { rows, isWhole } = await rowsOf(
      async (given) => {
        signal.throwIfAborted();
        return read(given);
      },
      filter,
      ROWS_MAX,
      onDone,
    );
    signal.throwIfAborted();
    const text = format === 'csv' ? csvOf(rows) : JSON.stringify(rows, undefined, 2);
    download(`lethe-audit.${format}`, text);
    return { rows: rows.length, isWhole };
  });
  return (
    <>
      <button
        type="button"
        disabled={save.isRunning}
        title={t('listNote', { count: count(ROWS_MAX) })}
        onClick={save.begin}
      >
        {t(format === 'csv' ? 'listCsv' : 'listJson')}
      </button>
      <div class="outcome">
        {save.isRunning && (
          <Progress
            text={t('listReading', { count: count(save.done) })}
            done={save.done}
            of={ROWS_MAX}
            onCancel={save.cancel}
          />
        )}
        <div role="status">
          {save.isCancelled && <p class="notice warn">{t('saveCancelled')}</p>}
          {save.data !== undefined && (
            <p class={`notice ${save.data.isWhole ? 'good' : 'warn'}`}>
              {t(save.data.isWhole ? 'listSaved' : 'listCut', { count: count(save.data.rows) })}
            </p>
          )}
        </div>
        <Fault error={save.error} />
      </div>
    </>
  );
}
