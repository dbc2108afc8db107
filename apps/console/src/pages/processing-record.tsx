import type { ComponentChildren } from 'preact';
import { useWords } from '../language';
import { lethe } from '../service';

export type Recorded = Awaited<ReturnType<typeof lethe.bots.processingRecord>>;

/** The record of processing activities (GDPR Art. 30(1)), to read and to print. Its sentences are those of the service. */
export function ProcessingRecord({ record }: { readonly record: Recorded }) {
  const { t } = useWords();
  return (
    <div class="record">
      <Tasks of={record.gaps ?? []} />
      <Controller of={record} />
      <h3>{t('recordActivities')}</h3>
      <Activities of={record.activities} />
      <h3>{t('recordSubjects')}</h3>
      <p>{record.data_subjects}</p>
      <h3>{t('recordRecipients')}</h3>
      <ul>
        {record.recipients.map(({ recipient, host, receives }) => (
          <li key={recipient}>
            {recipient}
            {host !== null && ` (${host})`}: {receives}
          </li>
        ))}
        {(record.notice_settings?.recipients ?? []).map((one) => (
          <li key={one.name}>
            <Recipient of={one} />
          </li>
        ))}
      </ul>
      <h3>{t('recordTransfers')}</h3>
      <p>{record.transfers}</p>
      <h3>{t('recordLimits')}</h3>
      <ul>
        {record.time_limits.map(({ applies_to: what, days }) => (
          <li key={what}>
            {what}: {days === null ? t('recordNoLimit') : t('recordDays', { count: days })}
          </li>
        ))}
      </ul>
      <h3>{t('recordMeasures')}</h3>
      <ul>
        {record.security_measures.map((measure) => (
          <li key={measure}>{measure}</li>
        ))}
      </ul>
    </div>
  );
}

function Tasks({ of }: { readonly of: NonNullable<Recorded['gaps']> }) {
  const { t } = useWords();
  return (
    <>
      <h3>{t('openTasks')}</h3>
      {of.length === 0 && <p>{t('noOpenTasks')}</p>}
      <ul>
        {of.map(({ task }) => (
          <li key={task}>
            <bdi>{task}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

function Controller({ of: { controller, notice_settings: settings = {} } }: { readonly of: Recorded }) {
  const { t } = useWords();
  const officer = [settings.officer_name, settings.officer_email].filter((one) => one != null).join(', ');
  return (
    <dl class="facts">
      <Fact name={t('controllerName')}>{settings.controller_name}</Fact>
      <Fact name={t('controllerAddress')}>{settings.controller_address}</Fact>
      <Fact name={t('controllerContact')}>{settings.controller_email ?? controller.privacy_contact}</Fact>
      <Fact name={t('controllerOfficer')}>{officer === '' ? null : officer}</Fact>
      <Fact name={t('supervisoryAuthority')}>{settings.authority_name}</Fact>
      <Fact name={t('recordedBot')}>{`${controller.name} (${controller.platform_bot_id})`}</Fact>
    </dl>
  );
}

type Named = NonNullable<NonNullable<Recorded['notice_settings']>['recipients']>[number];

function Recipient({ of: { name, country, purpose_de: de, purpose_en: en } }: { readonly of: Named }) {
  const { language } = useWords();
  const place = country == null ? '' : ` (${country})`;
  const purpose = (language === 'de' ? (de ?? en) : (en ?? de)) ?? '';
  return <bdi>{`${name}${place}${purpose === '' ? '' : `: ${purpose}`}`}</bdi>;
}

type Activity = Recorded['activities'][number];

function Activities({ of }: { readonly of: readonly Activity[] }) {
  const { t, named, language } = useWords();
  if (of.length === 0) return <p>{t('recordNoActivity')}</p>;
  const label = ({ label_de: de, label_en: en }: Pick<Activity, 'label_de' | 'label_en'>): string =>
    language === 'de' ? de : en;
  const purposeOf = ({ purpose, purpose_de: de }: Activity): string =>
    (language === 'de' ? de : undefined) ?? purpose ?? '–';
  const columns = ['recordCategory', 'recordPurpose', 'recordBasis', 'recordErased', 'recordFields'] as const;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={t('recordActivities')}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((activity) => (
            <tr key={activity.category}>
              {[
                label(activity),
                purposeOf(activity),
                named('basis', activity.legal_basis),
                activity.retention_days === null
                  ? t('recordNoLimit')
                  : t('recordDays', { count: activity.retention_days }),
                activity.fields.map(label).join(', ') || '–',
              ].map((text, at) => (
                <td key={columns[at]} data-title={t(columns[at] ?? 'recordFields')}>
                  <bdi>{text}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  const { t } = useWords();
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <bdi>{children ?? t('notGiven')}</bdi>
      </dd>
    </>
  );
}
