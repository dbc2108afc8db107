import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { When } from '../parts';
import { lethe } from '../service';
import { Loaded } from '../ui';
import { PaperChoice, PaperFiles } from './paper-files';
import { ProcessingRecord } from './processing-record';
import { ReviewDossier } from './review-dossier';

/** The record of processing activities, to read, to print and to keep. */
export function ReportsPage() {
  const { t, language } = useWords();
  const record = useQuery({
    queryKey: ['record', language],
    queryFn: () => lethe.bots.processingRecord({ language }),
  });
  return (
    <>
      <PaperChoice />
      <Loaded from={record}>
        {(found) => (
          <section>
            <h2>{t('processingRecord')}</h2>
            <p class="small">
              {t('recordMade')} <When at={found.generated_at} />
            </p>
            <PaperFiles of={found} name={t('recordFile')} text={lethe.bots.processingRecordText} />
            <ProcessingRecord record={found} />
          </section>
        )}
      </Loaded>
    </>
  );
}

/** The dossier for the review of the bot by its platform, to read, to print and to keep. */
export function DossierPage() {
  const { t, language } = useWords();
  const dossier = useQuery({
    queryKey: ['dossier', language],
    queryFn: () => lethe.bots.reviewDossier({ language }),
  });
  return (
    <>
      <PaperChoice />
      <Loaded from={dossier}>
        {(found) => (
          <section>
            <h2>{t('dossierTitle')}</h2>
            <p class="small">
              {t('recordMade')} <When at={found.generated_at} />
            </p>
            <p>{t('dossierLead')}</p>
            <PaperFiles of={found} name={t('dossierFile')} text={lethe.bots.reviewDossierText} />
            <ReviewDossier dossier={found} />
          </section>
        )}
      </Loaded>
    </>
  );
}
