import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { Loaded } from '../ui';
import { ProcessingRecord } from './processing-record';

/** The record of processing activities, to print. */
export function ReportsPage() {
  const { t, time, language } = useWords();
  const record = useQuery({
    queryKey: ['record', language],
    queryFn: () => lethe.bots.processingRecord({ language }),
  });
  return (
    <Loaded from={record}>
      {(found) => (
        <section>
          <h2>{t('processingRecord')}</h2>
          <p class="small">{t('recordMade', { time: time(found.generated_at) })}</p>
          <button class="screen" type="button" onClick={() => print()}>
            {t('print')}
          </button>
          <ProcessingRecord record={found} />
        </section>
      )}
    </Loaded>
  );
}
