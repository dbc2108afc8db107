import { Signer } from '@app/crypto';
import { chainOf } from '@lethe/sdk/evidence';
import { BatchSealer, SealLoop, AuditVerifier, type LogFault, type LogSummary } from '@app/sealing';
import type { Bot } from './bot';
import type { Service } from './service';
import { until } from './until';

/**
 * Seals all events of a log without the job. Waits for other units that write events, for longer than a request would
 * wait.
 */
export async function seal(service: Service, bot: { readonly id: string }): Promise<void> {
  await until(() => service.app.get(BatchSealer).sealNow(bot.id));
}

/** The report of the verifier about a log. */
export async function verified(
  service: Service,
  bot: { readonly id: string },
  kept: readonly string[] = [],
): Promise<LogSummary & { found: LogFault[] }> {
  const found: LogFault[] = [];
  const summary = await service.app.get(AuditVerifier).verify(bot.id, (fault) => found.push(fault), kept);
  if (summary === undefined) throw new Error('the bot is being deleted');
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

export function payloadOf(jws: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

/** A checkpoint for the same number with other contents, signed by the service: as for a log that was rewritten. */
export function contradicting(service: Service, jws: string): Promise<string> {
  const payload = { ...payloadOf(jws), sealed_at: '2020-01-01T00:00:00.000Z' };
  const type = 'lethe-audit-checkpoint+jwt';
  return service.app.get(Signer).sign({ ...payload, chain: chainOf(payload) }, type);
}

/** Stops the job, so that only the test seals: for tests that count statements or compare all rows. */
export async function withoutSealing(service: Service): Promise<void> {
  await service.app.get(SealLoop).beforeApplicationShutdown();
}
