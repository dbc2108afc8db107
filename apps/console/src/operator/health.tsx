import { useQuery } from '@tanstack/preact-query';
import { lethe } from '../service';
import { When } from '../parts';
import { Loaded } from '../ui';
import { Advised } from './advised';
import { useOperatorWords } from './words';

/** What readiness calls degraded, and what doctor finds; each with what to do. */
export function OperatorHealth() {
  const { t } = useOperatorWords();
  const status = useQuery({ queryKey: ['operator', 'status'], queryFn: () => lethe.operator.status() });
  const findings = useQuery({ queryKey: ['operator', 'findings'], queryFn: () => lethe.operator.findings() });
  return (
    <>
      <Loaded from={status}>
        {({ health }) => (
          <>
            <p class={`notice ${health.status === 'ok' ? 'good' : 'warn'}`} role="status">
              {t(health.status === 'ok' ? 'working' : 'degraded')}
            </p>
            {health.conditions.map(({ name, ...said }) => (
              <div key={name} class="notice warn">
                <Advised id={name} said={said} />
              </div>
            ))}
          </>
        )}
      </Loaded>
      <h2>{t('findings')}</h2>
      <p class="note">
        {t('findingsNote')} <code>lethe-server admin doctor</code>. {t('findingsAge')}
      </p>
      <Loaded from={findings}>
        {({ findings: found, read_at: readAt }) => (
          <>
            {found.length === 0 && <p class="notice good">{t('nothingFound')}</p>}
            {found.map(({ id, level, ...said }) => (
              <section key={id} class={`notice ${level === 'fault' ? 'bad' : 'warn'}`} aria-label={id}>
                <Advised id={id} level={level} said={said} />
              </section>
            ))}
            <p class="note">
              {t('readAt')} <When at={readAt} />
            </p>
            <p class="note">
              {t('commandLine')} <code>lethe-server admin --help</code>
            </p>
          </>
        )}
      </Loaded>
    </>
  );
}
