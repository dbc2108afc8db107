import { readFileSync } from 'node:fs';
import { findBot } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { many, StartError } from '@app/kernel';
import { RetentionPreview } from '@app/reports';
import { AuditVerifier, type LogSummary } from '@app/sealing';
import { listing } from './admin.context';
import type { Command } from './command-line';

const verify: Command = {
  name: 'audit:verify',
  rows: true,
  summary:
    'Verifies the sealed audit logs, and names events that were changed, removed, added or moved, and erasures that the ledger lacks',
  flags: {
    bot: { type: 'string', value: 'ID', description: 'Only the log of this bot' },
    kept: {
      type: 'string',
      value: 'FILE',
      description: 'A file with kept checkpoints of that bot, one on each line',
    },
  },
  run: (given, surroundings) => {
    const bot = given['bot'] as string | undefined;
    const kept = keptOf(given['kept'] as string | undefined, bot);
    return listing(async function* (nest) {
      let [faults, verified] = [0, 0];
      const found: object[] = [];
      const report = (fault: object): void => void (found.push(fault), (faults += 1));
      const verifier = nest.get(AuditVerifier);
      if (bot !== undefined && (await findBot(nest.get(UnitOfWork), bot)) === undefined)
        throw new StartError(`There is no bot ${bot}.`);
      const logs =
        bot === undefined ? verifier.verifyAll(report) : one(bot, verifier.verify(bot, report, kept));
      for await (const summary of logs) {
        yield* found.splice(0);
        yield summary;
        verified += 1;
        surroundings.progress.show(`${summary.bot_id}: ${many(summary.events, 'event')}`);
      }
      if (faults > 0)
        throw new StartError(
          `${many(faults, 'fault')}: the audit log is not what was sealed, or the ledger lacks its erasures.`,
        );
      const isLeftOut = bot !== undefined && verified === 0;
      if (isLeftOut && kept.length > 0)
        throw new StartError(
          `The bot ${bot} is being deleted: its log cannot be compared with the checkpoints that were kept.`,
        );
      surroundings.tell(
        isLeftOut ? `The bot ${bot} is being deleted, and its log with it.` : 'Every log is what was sealed.',
      );
    })(given, surroundings);
  },
};

const preview: Command = {
  name: 'retention:preview',
  rows: true,
  summary: 'Counts what retention would erase now, as a line of JSON for each bot; erases nothing',
  flags: {},
  run: listing(async function* (nest) {
    for await (const { botId, botName, due, guilds, evidence } of nest.get(RetentionPreview).ofAllBots())
      yield {
        bot_id: botId,
        bot_name: botName,
        due,
        guilds,
        evidence: {
          ledger_entries: evidence.ledgerEntries,
          deletion_requests: evidence.deletionRequests,
          consent_entries: evidence.consentEntries,
          audit_events: evidence.auditEvents,
        },
      };
  }),
};

export const REPORT_COMMANDS: readonly Command[] = [verify, preview];

async function* one(
  botId: string,
  summary: Promise<LogSummary | undefined>,
): AsyncGenerator<LogSummary & { bot_id: string }> {
  const found = await summary;
  if (found !== undefined) yield { bot_id: botId, ...found };
}

function keptOf(path: string | undefined, bot: string | undefined): readonly string[] {
  if (path === undefined) return [];
  if (bot === undefined) throw new StartError('--kept needs --bot, since checkpoints belong to one bot.');
  try {
    return readFileSync(path, 'utf8').split(/\s+/).filter(Boolean);
  } catch (error) {
    throw new StartError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
