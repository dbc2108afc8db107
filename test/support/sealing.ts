import { AuditVerifier, type LogFault, type LogSummary } from '@app/audit';
import { AuditSealer } from '../../libs/audit/src/audit-sealer';
import { AuditSealing } from '../../libs/audit/src/audit-sealing';
import type { Bot } from './bot';
import type { Service } from './service';
import { until } from './until';

/**
 * Seals what a log has now, without waiting for the job. On PostgreSQL events are sealed when every older transaction has
 * ended, those of other databases of the server too: of other suites some take longer than anybody is kept waiting.
 */
export async function seal(service: Service, bot: { readonly id: string }): Promise<void> {
  await until(() => service.app.get(AuditSealer).sealNow(bot.id));
}

/** What the verifier says of a log. */
export async function verified(
  service: Service,
  bot: { readonly id: string },
  kept: readonly string[] = [],
): Promise<LogSummary & { found: LogFault[] }> {
  const found: LogFault[] = [];
  const summary = await service.app.get(AuditVerifier).verify(bot.id, (fault) => found.push(fault), kept);
  return { ...summary, found };
}

/** The lines of the audit export. */
export async function exported(bot: Bot, query = ''): Promise<string[]> {
  const response = await fetch(`${bot.baseUrl}/api/v1/audit/export${query}`, {
    headers: { authorization: `Bearer ${bot.key}` },
  });
  if (response.status !== 200) throw new Error(`the export was answered ${response.status}`);
  return (await response.text()).trimEnd().split('\n');
}

/** From now on the log is sealed only where a test does it: for tests that count statements, or compare all rows. */
export async function withoutSealing(service: Service): Promise<void> {
  await service.app.get(AuditSealing).beforeApplicationShutdown();
}
