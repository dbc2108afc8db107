import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { Loaded } from '../ui';
import { Value } from '../value';

/** The record of processing activities, to print. */
export function ReportsPage() {
  const { t } = useWords();
  const record = useQuery({ queryKey: ['record'], queryFn: () => lethe.bots.processingRecord() });
  return (
    <Loaded from={record}>
      {(found) => (
        <section>
          <h2>{t('processingRecord')}</h2>
          <button class="screen" type="button" onClick={() => print()}>
            {t('print')}
          </button>
          <Value of={found} />
        </section>
      )}
    </Loaded>
  );
}
