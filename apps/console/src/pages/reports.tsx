import { useState } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { Loaded } from '../ui';
import { ProcessingRecord } from './processing-record';

const DAYS = [0, 7, 30, 90, 365] as const;

/** What the controller owes: the record of processing activities, to print, and what retention will erase. */
export function ReportsPage() {
  return (
    <>
      <ProcessingRecord />
      <RetentionPreview />
    </>
  );
}

function RetentionPreview() {
  const { t, time, count, named } = useWords();
  const [days, setDays] = useState<number>(30);
  const preview = useQuery({
    queryKey: ['retention', days],
    queryFn: () => lethe.bots.retentionPreview({ in_days: days }),
  });
  return (
    <section class="screen">
      <h2>{t('retentionPreview')}</h2>
      <label class="period">
        {t('inDays')}
        <select value={String(days)} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
          {DAYS.map((n) => (
            <option key={n} value={String(n)}>
              {n === 0 ? t('now') : t('nDays', { n })}
            </option>
          ))}
        </select>
      </label>
      <Loaded from={preview}>
        {({ at, due, guilds, evidence }) => (
          <>
            <p>{t('retentionLead', { time: time(at) })}</p>
            {due.length === 0 ? (
              <p>{t('nothingDue')}</p>
            ) : (
              <div class="scroll" tabIndex={0} role="region" aria-label={t('retentionPreview')}>
                <table>
                  <thead>
                    <tr>
                      {[t('category'), t('reason'), t('values')].map((name) => (
                        <th key={name} scope="col">
                          {name}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {due.map(({ category, reason, values }) => (
                      <tr key={`${category} ${reason}`}>
                        <td data-title={t('category')}>
                          <code>{category}</code>
                        </td>
                        <td data-title={t('reason')}>{named('reason', reason)}</td>
                        <td data-title={t('values')}>{count(values)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            <dl class="facts">
              <dt>{t('dueGuilds', { scheduled: count(guilds.scheduled) })}</dt>
              <dd>{count(guilds.due)}</dd>
              <dt>{t('dueConsents')}</dt>
              <dd>{count(evidence.consent_entries)}</dd>
              <dt>{t('dueRequests')}</dt>
              <dd>{count(evidence.deletion_requests)}</dd>
              <dt>{t('dueEvents')}</dt>
              <dd>{count(evidence.audit_events)}</dd>
            </dl>
          </>
        )}
      </Loaded>
    </section>
  );
}
