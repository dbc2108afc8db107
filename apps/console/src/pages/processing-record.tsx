import type { ComponentChildren } from 'preact';
import { useWords } from '../language';
import type { lethe } from '../service';

type Recorded = Awaited<ReturnType<typeof lethe.bots.processingRecord>>;

/** The record of processing activities (GDPR Art. 30(1)), to read and to print. Its sentences are those of the service. */
export function ProcessingRecord({ record }: { readonly record: Recorded }) {
  const { t } = useWords();
  return (
    <div class="record">
      <Tasks of={record.gaps ?? []} />
      <h3>{t('controllerName')}</h3>
      <Controller of={record} />
      <h3>{t('recordActivities')}</h3>
      <Activities of={record.activities} />
      <h3>{t('recordSubjects')}</h3>
      <p>{record.data_subjects}</p>
      <Stated of={record} />
      <h3>{t('recordRecipients')}</h3>
      <Access of={record.recipients} />
      <ul>
        {(record.notice_settings?.recipients ?? []).map((one) => (
          <li key={one.name}>
            <Recipient of={one} />
          </li>
        ))}
      </ul>
      <h3>{t('recordTransfers')}</h3>
      <p class="lines-kept">
        <bdi>{record.transfers}</bdi>
      </p>
      <h3>{t('recordLimits')}</h3>
      <Limits of={record.time_limits} />
      <h3>{t('recordMeasures')}</h3>
      <ul>
        {record.security_measures.map((measure) => (
          <li key={measure}>{measure}</li>
        ))}
      </ul>
    </div>
  );
}

/** Who receives data, as far as the service knows. */
export function Access({ of }: { readonly of: Recorded['recipients'] }) {
  return (
    <ul>
      {of.map(({ recipient, host, receives }) => (
        <li key={recipient}>
          {recipient}
          {host !== null && ` (${host})`}: {receives}
        </li>
      ))}
    </ul>
  );
}

export function Limits({ of }: { readonly of: Recorded['time_limits'] }) {
  const { t, ofDays } = useWords();
  return (
    <ul>
      {of.map(({ applies_to: what, days }) => (
        <li key={what}>
          {what}: {days === null ? t('recordNoLimit') : ofDays(days)}
        </li>
      ))}
    </ul>
  );
}

export function Tasks({ of }: { readonly of: NonNullable<Recorded['gaps']> }) {
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

export function Controller({
  of: { controller, notice_settings: settings = {} },
}: {
  readonly of: Pick<Recorded, 'controller' | 'notice_settings'>;
}) {
  const { t } = useWords();
  const officer = [settings.officer_name, settings.officer_email].filter((one) => one != null).join(', ');
  return (
    <dl class="facts">
      <Fact name={t('recordName')}>{settings.controller_name}</Fact>
      <Fact name={t('controllerAddress')}>{settings.controller_address}</Fact>
      <Fact name={t('controllerContact')}>{settings.controller_email ?? controller.privacy_contact}</Fact>
      <Fact name={t('controllerOfficer')}>{officer === '' ? null : officer}</Fact>
      <Fact name={t('supervisoryAuthority')}>{settings.authority_name ?? settings.authority_url}</Fact>
      {settings.notice_url != null && (
        <Fact name={t('recordPolicy')}>
          <a href={settings.notice_url} rel="noopener noreferrer">
            {settings.notice_url}
          </a>
        </Fact>
      )}
      <Fact name={t('recordedBot')}>{`${controller.name} (${controller.platform_bot_id})`}</Fact>
    </dl>
  );
}

type Named = NonNullable<NonNullable<Recorded['notice_settings']>['recipients']>[number];

export function Recipient({ of: { name, country, ...said } }: { readonly of: Named }) {
  const { t, language } = useWords();
  const either = useEither();
  const place = country == null ? '' : ` (${countryIn(language, country)})`;
  const purpose = either(said.purpose_de, said.purpose_en);
  const safeguards = either(said.safeguards_de, said.safeguards_en);
  return (
    <bdi>
      {`${name}${place}`}
      {purpose !== undefined && `: ${purpose}`}
      {safeguards !== undefined && `. ${t('recordSafeguards')}: ${safeguards}`}
    </bdi>
  );
}

/** What the bot has said of interests, source and automated decisions. */
function Stated({ of: { notice_settings: settings = {} } }: { readonly of: Recorded }) {
  const { t } = useWords();
  const either = useEither();
  const automated = either(settings.automated_decisions_de, settings.automated_decisions_en);
  const stated = {
    recordInterests: either(settings.interests_de, settings.interests_en),
    recordSource: either(settings.source_de, settings.source_en),
    recordDecisions: settings.automated_decisions === 'none' ? t('recordNoDecisions') : automated,
  } as const;
  const given = Object.entries(stated).filter(([, text]) => text !== undefined);
  return (
    <>
      {(given as [keyof typeof stated, string][]).map(([name, text]) => (
        <div key={name}>
          <h3>{t(name)}</h3>
          <p class="lines-kept">
            <bdi>{text}</bdi>
          </p>
        </div>
      ))}
    </>
  );
}

type Text = string | null | undefined;

/** The text of the language, else the other one. */
function useEither(): (de: Text, en: Text) => string | undefined {
  const { language } = useWords();
  return (de, en) => (language === 'de' ? (de ?? en) : (en ?? de)) ?? undefined;
}

function countryIn(language: string, country: string): string {
  return new Intl.DisplayNames([language], { type: 'region', fallback: 'code' }).of(country) ?? country;
}

type Activity = Recorded['activities'][number];

export function Activities({ of }: { readonly of: readonly Activity[] }) {
  const { t, named, language, ofDays } = useWords();
  const either = useEither();
  if (of.length === 0) return <p>{t('recordNoActivity')}</p>;
  const label = ({ label_de: de, label_en: en }: Pick<Activity, 'label_de' | 'label_en'>): string =>
    language === 'de' ? de : en;
  const purposeOf = ({ purpose, purpose_de: de }: Activity): string =>
    (language === 'de' ? de : undefined) ?? purpose ?? '–';
  const basisOf = ({ legal_basis: basis, requires_consent: needs, ...why }: Activity): string =>
    needs === false
      ? `${named('basis', basis)}. ${t('withoutConsent')}: ${either(why.reason_de, why.reason_en) ?? '–'}`
      : named('basis', basis);
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
                basisOf(activity),
                activity.retention_days === null
                  ? t('recordNoPeriod')
                  : t('recordAfterUpdate', { days: ofDays(activity.retention_days) }),
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

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
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
