import type { ComponentChildren } from 'preact';
import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { Loaded } from '../ui';

/** The record of processing activities (GDPR Art. 30(1)), to print. Its sentences are those of the service. */
export function ProcessingRecord() {
  const { t, time, language } = useWords();
  const record = useQuery({
    queryKey: ['record', language],
    queryFn: () => lethe.bots.processingRecord({ language }),
  });
  return (
    <Loaded from={record}>
      {({ controller, generated_at: at, ...found }) => (
        <section class="record">
          <h2>{t('processingRecord')}</h2>
          <p class="small">{t('madeAt', { time: time(at) })}</p>
          <button class="screen" type="button" onClick={() => print()}>
            {t('print')}
          </button>
          <h3>{t('controller')}</h3>
          <dl class="facts">
            <Fact name={t('botName')}>{controller.name}</Fact>
            <Fact name={t('privacyContact')}>{controller.privacy_contact ?? '–'}</Fact>
            <Fact name={t('platformId')}>{controller.platform_bot_id}</Fact>
            <Fact name={t('botNumber')}>{controller.bot_id}</Fact>
          </dl>
          <h3>{t('activities')}</h3>
          <Activities of={found.activities} />
          <h3>{t('dataSubjects')}</h3>
          <p>{found.data_subjects}</p>
          <h3>{t('recipients')}</h3>
          <ul>
            {found.recipients.map(({ recipient, host, receives }) => (
              <li key={recipient}>
                {recipient}
                {host !== null && ` (${host})`}: {receives}
              </li>
            ))}
          </ul>
          <h3>{t('transfers')}</h3>
          <p>{found.transfers}</p>
          <h3>{t('timeLimits')}</h3>
          <ul>
            {found.time_limits.map(({ applies_to: what, days }) => (
              <li key={what}>
                {what}: {days === null ? t('noTimeLimit') : `${days} ${t('days')}`}
              </li>
            ))}
          </ul>
          <h3>{t('measures')}</h3>
          <ul>
            {found.security_measures.map((measure) => (
              <li key={measure}>{measure}</li>
            ))}
          </ul>
        </section>
      )}
    </Loaded>
  );
}

type Activity = Awaited<ReturnType<typeof lethe.bots.processingRecord>>['activities'][number];

function Activities({ of }: { readonly of: readonly Activity[] }) {
  const { t, named, language } = useWords();
  const label = ({ label_de: de, label_en: en }: Pick<Activity, 'label_de' | 'label_en'>): string =>
    language === 'de' ? de : en;
  if (of.length === 0) return <p>{t('noActivity')}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={t('activities')}>
      <table>
        <thead>
          <tr>
            {[t('category'), t('purpose'), t('legalBasis'), t('retention'), t('fields')].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((activity) => (
            <tr key={activity.category}>
              <td data-title={t('category')}>
                <bdi>{label(activity)}</bdi>
              </td>
              <td data-title={t('purpose')}>
                <bdi>{activity.purpose ?? '–'}</bdi>
              </td>
              <td data-title={t('legalBasis')}>{named('basis', activity.legal_basis)}</td>
              <td data-title={t('retention')}>
                {activity.retention_days === null
                  ? t('unlimited')
                  : `${activity.retention_days} ${t('days')}`}
              </td>
              <td data-title={t('fields')}>
                <bdi>{activity.fields.map(label).join(', ') || '–'}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </>
  );
}
