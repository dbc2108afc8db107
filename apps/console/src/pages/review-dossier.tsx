import type { ComponentChildren } from 'preact';
import { useWords } from '../language';
import type { lethe } from '../service';
import type { TextName } from '../texts';
import { localeOf } from '../times';
import { Access, Activities, Controller, Fact, Limits, Recipient, Tasks } from './processing-record';

type Dossier = Awaited<ReturnType<typeof lethe.bots.reviewDossier>>;

const KEY_IN = {
  environment: 'dossierKeyEnvironment',
  file: 'dossierKeyFile',
  secret_file: 'dossierKeySecretFile',
  command: 'dossierKeyCommand',
} as const;

/** What a platform asks before it grants privileged intents. Its sentences are those of the service. */
export function ReviewDossier({ dossier }: { readonly dossier: Dossier }) {
  const { t } = useWords();
  const { bot, notice_settings: settings, privacy_policy: policy, encryption, deletion, consent } = dossier;
  const named = settings.recipients ?? [];
  const parts: readonly (readonly [TextName, ComponentChildren])[] = [
    ['controllerName', <Controller of={{ controller: bot, notice_settings: settings }} />],
    ['dossierPolicy', <p>{policy === null ? t('notGiven') : <Address to={policy} />}</p>],
    ['recordActivities', <Activities of={dossier.activities} />],
    ['recordSubjects', <p>{dossier.data_subjects}</p>],
    ['recordLimits', <Limits of={dossier.time_limits} />],
    ['dossierBackups', <Sentences of={dossier.backups.statements} />],
    [
      'dossierEncryption',
      <>
        <dl class="facts">
          <Fact name={t('dossierAlgorithm')}>{encryption.algorithm}</Fact>
          <Fact name={t('dossierMasterKey')}>{t(KEY_IN[encryption.master_key])}</Fact>
        </dl>
        <Sentences of={encryption.statements} />
      </>,
    ],
    ['dossierAccess', <Access of={dossier.access} />],
    ['dossierDeletion', <Deletion of={deletion} />],
    [
      'dossierConsent',
      <>
        <Sentences of={consent.statements} />
        <dl class="facts">
          <Fact name={t('dossierPeriod')}>{usePeriod(consent)}</Fact>
          <Fact name={t('dossierAsked')}>{consent.requested}</Fact>
          <Fact name={t('dossierAccepted')}>{consent.accepted}</Fact>
          <Fact name={t('dossierRevoked')}>{consent.revoked}</Fact>
        </dl>
      </>,
    ],
    ['recordMeasures', <Sentences of={dossier.security_measures} />],
    ['dossierRecipients', named.length === 0 ? <p>{t('notGiven')}</p> : <Recipients of={named} />],
    [
      'recordTransfers',
      <p class="lines-kept">
        <bdi>{dossier.transfers}</bdi>
      </p>,
    ],
    ['dossierToAdd', <Sentences of={dossier.to_add} />],
  ];
  return (
    <div class="record">
      <Tasks of={dossier.gaps} />
      {parts.map(([name, content]) => (
        <div key={name}>
          <h3>{t(name)}</h3>
          {content}
        </div>
      ))}
    </div>
  );
}

function Deletion({ of }: { readonly of: Dossier['deletion'] }) {
  const { t } = useWords();
  return (
    <>
      <Sentences of={of.statements} />
      <dl class="facts">
        <Fact name={t('dossierPeriod')}>{usePeriod(of)}</Fact>
        <Fact name={t('dossierRequested')}>{of.requested}</Fact>
        <Fact name={t('dossierCompleted')}>{of.completed}</Fact>
        <Fact name={t('dossierFailed')}>{of.failed}</Fact>
        <Fact name={t('dossierMedian')}>{useDuration(of.median_ms)}</Fact>
        <Fact name={t('dossierLongest')}>{useDuration(of.longest_ms)}</Fact>
      </dl>
    </>
  );
}

function Recipients({ of }: { readonly of: NonNullable<Dossier['notice_settings']['recipients']> }) {
  return (
    <ul>
      {of.map((one) => (
        <li key={one.name}>
          <Recipient of={one} />
        </li>
      ))}
    </ul>
  );
}

function Sentences({ of }: { readonly of: readonly string[] }) {
  return (
    <ul>
      {of.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

function Address({ to }: { readonly to: string }) {
  return (
    <a href={to} rel="noopener noreferrer">
      <bdi>{to}</bdi>
    </a>
  );
}

/** The days of the numbers, in UTC. */
function usePeriod({ from, to }: { readonly from: string; readonly to: string }): string {
  const { language } = useWords();
  const days = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeZone: 'UTC' });
  return days.formatRange(new Date(from), new Date(to));
}

/** A duration in the largest unit of which there is one. */
function useDuration(ms: number | null): string {
  const { t, language } = useWords();
  if (ms === null) return t('dossierNoErasure');
  const [unit, length] = UNITS.find(([, from]) => ms >= from) ?? (['millisecond', 1] as const);
  const form = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(localeOf(language), form).format(ms / length);
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;
