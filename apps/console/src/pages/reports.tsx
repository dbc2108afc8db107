import { useMutation, useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { When } from '../parts';
import { lethe } from '../service';
import { Fault, Loaded } from '../ui';
import { download } from '../download';
import { ProcessingRecord, type Recorded } from './processing-record';
import './reports.css';

/** The record of processing activities, to read, to print and to keep. */
export function ReportsPage() {
  const { t, language } = useWords();
  const record = useQuery({
    queryKey: ['record', language],
    queryFn: () => lethe.bots.processingRecord({ language }),
  });
  return (
    <Loaded from={record}>
      {(found) => (
        <section>
          <h2>{t('processingRecord')}</h2>
          <p class="small">
            {t('recordMade')} <When at={found.generated_at} />
          </p>
          <Files of={found} />
          <ProcessingRecord record={found} />
        </section>
      )}
    </Loaded>
  );
}

/** The forms of a record, with the end of their names. */
const FORMS = { html: 'HTML', markdown: 'Markdown', json: 'JSON' } as const;
const ENDS = { html: 'html', markdown: 'md', json: 'json' } as const;
const TYPES = { html: 'text/html', markdown: 'text/markdown', json: 'application/json' } as const;

/** Prints the record, or gives it as a file in the language of the page. */
function Files({ of }: { readonly of: Recorded }) {
  const { t, language } = useWords();
  const file = useMutation({
    mutationFn: async (format: keyof typeof FORMS) => {
      const text =
        format === 'json'
          ? JSON.stringify(of, undefined, 2)
          : await lethe.bots.processingRecordText({ format, language });
      download(`${t('recordFile')}.${ENDS[format]}`, new Blob([text], { type: TYPES[format] }));
    },
  });
  return (
    <div class="screen">
      <div class="actions">
        <button type="button" onClick={() => print()}>
          {t('print')}
        </button>
        {(Object.keys(FORMS) as (keyof typeof FORMS)[]).map((format) => (
          <button key={format} type="button" disabled={file.isPending} onClick={() => file.mutate(format)}>
            {t('recordDownload', { form: FORMS[format] })}
          </button>
        ))}
      </div>
      <Fault error={file.error} />
    </div>
  );
}
