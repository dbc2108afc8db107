import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { lethe } from '../service';
import { When } from '../parts';
import { Loaded, Tile } from '../ui';
import { Advised } from './advised';
import { StorageSection } from './storage';
import { useOperatorWords } from './words';

const REFRESH_MS = 30_000;

type Status = Awaited<ReturnType<typeof lethe.operator.status>>;

const KEY_FROM = {
  environment: 'keyFromEnvironment',
  file: 'keyFromFile',
  secret_file: 'keyFromSecretFile',
  command: 'keyFromCommand',
} as const;

/** The installation at a glance: health in words, versions, what waits, storage. */
export function OperatorOverview() {
  const status = useQuery({
    queryKey: ['operator', 'status'],
    queryFn: () => lethe.operator.status(),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <Loaded from={status}>
        {(found) => (
          <>
            <Health of={found} />
            <Findings />
            <Numbers of={found} />
            <Versions of={found} />
            <Backups of={found} />
          </>
        )}
      </Loaded>
      <StorageSection />
    </>
  );
}

interface Part {
  readonly of: Status;
}

function Health({ of: { health } }: Part) {
  const { t } = useOperatorWords();
  return health.status === 'ok' ? (
    <p class="notice good" role="status">
      {t('working')}
    </p>
  ) : (
    <div class="notice warn" role="status">
      <h2>{t('degraded')}</h2>
      <p class="note">{t('healthNote')}</p>
      {health.conditions.map(({ name, ...said }) => (
        <Advised key={name} id={name} said={said} />
      ))}
    </div>
  );
}

/** How much `doctor` finds, with the way to it. */
function Findings() {
  const { t, count } = useOperatorWords();
  const { data } = useQuery({
    queryKey: ['operator', 'findings'],
    queryFn: () => lethe.operator.findings(),
  });
  if (data === undefined || data.findings.length === 0) return null;
  const faults = data.findings.filter(({ level }) => level === 'fault').length;
  const warnings = data.findings.length - faults;
  return (
    <p class={`notice ${faults > 0 ? 'bad' : 'warn'}`}>
      {faults > 0 && `${t('faultsFound')} ${count(faults)}. `}
      {warnings > 0 && `${t('warningsFound')} ${count(warnings)}. `}
      <Link href="/health">{t('see')}</Link>
    </p>
  );
}

function Numbers({ of: { bots, subjects, webhooks, erasures, sealing } }: Part) {
  const { t, count } = useOperatorWords();
  return (
    <>
      <dl class="tiles">
        <Tile name={t('botCount')} value={count(bots.total)} />
        <Tile name={t('suspendedCount')} value={count(bots.suspended)} />
        <Tile name={t('subjects')} value={count(subjects)} />
      </dl>
      <h2>{t('backlog')}</h2>
      <dl class="tiles">
        <Waiting
          name={t('webhooksWaiting')}
          number={webhooks.waiting}
          words={t('webhooksOldest')}
          at={webhooks.oldest_due}
        />
        <Tile name={t('webhooksExhausted')} value={count(webhooks.exhausted)} />
        <Waiting
          name={t('erasuresRunning')}
          number={erasures.processing}
          words={t('oldestSince')}
          at={erasures.oldest}
        />
        <Waiting
          name={t('unsealedLogs')}
          number={sealing.unsealed_logs}
          words={t('oldestSince')}
          at={sealing.oldest}
        />
      </dl>
    </>
  );
}

function Waiting({
  name,
  number,
  words,
  at,
}: {
  readonly name: string;
  readonly number: number;
  readonly words: string;
  readonly at: string | null;
}) {
  const { count } = useOperatorWords();
  return (
    <Tile
      name={name}
      value={
        <>
          {count(number)}
          {at !== null && (
            <span class="since">
              {words} <When at={at} />
            </span>
          )}
        </>
      }
    />
  );
}

function Versions({
  of: { version, node, started_at: startedAt, database, migrations, master_key: key, read_at: readAt },
}: Part) {
  const { t, count } = useOperatorWords();
  const engine = database.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const more = [
    ...(migrations.pending.length > 0 ? [`${t('pendingMigrations')}: ${migrations.pending.join(', ')}`] : []),
    ...(migrations.unknown.length > 0 ? [`${t('unknownMigrations')}: ${migrations.unknown.join(', ')}`] : []),
  ];
  return (
    <>
      <h2>{t('versions')}</h2>
      <dl class="facts">
        <dt>Lethe</dt>
        <dd>{version}</dd>
        <dt>Node.js</dt>
        <dd>{node}</dd>
        <dt>{t('database')}</dt>
        <dd>
          {engine} {database.version}
        </dd>
        <dt>{t('migrations')}</dt>
        <dd>
          {count(migrations.applied)} {t('applied')}
          {more.map((line) => (
            <p key={line} class="notice warn">
              {line}
            </p>
          ))}
        </dd>
        <dt>{t('masterKey')}</dt>
        <dd>{t(KEY_FROM[key])}</dd>
        <dt>{t('started')}</dt>
        <dd>
          <When at={startedAt} />
        </dd>
        <dt>{t('readAt')}</dt>
        <dd>
          <When at={readAt} />
        </dd>
      </dl>
    </>
  );
}

function Backups({ of: { backups } }: Part) {
  const { t, bytes } = useOperatorWords();
  const made = (at: string | null, size: number | null = null) =>
    at === null ? (
      t('noneOnRecord')
    ) : (
      <>
        <When at={at} />
        {size !== null && ` · ${bytes(size)}`}
      </>
    );
  return (
    <>
      <h2>{t('backups')}</h2>
      {backups === null ? (
        <p>{t('backupsUnknown')}</p>
      ) : (
        <dl class="facts">
          <dt>{t('backupData')}</dt>
          <dd>{made(backups.data, backups.data_bytes)}</dd>
          <dt>{t('backupKeys')}</dt>
          <dd>{made(backups.keys, backups.keys_bytes)}</dd>
          <dt>{t('backupLedger')}</dt>
          <dd>{made(backups.ledger)}</dd>
          <dt>{t('drill')}</dt>
          <dd>
            {made(backups.drill?.at ?? null, backups.drill?.bytes)}
            {backups.drill !== null && ` · ${t(backups.drill.ok ? 'drillOk' : 'drillFailed')}`}
          </dd>
        </dl>
      )}
    </>
  );
}
