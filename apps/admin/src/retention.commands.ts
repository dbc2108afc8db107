import { RetentionPreview } from '@app/reports';
import { inContext } from './admin.context';
import type { Command } from './command';

const preview: Command = {
  name: 'retention:preview',
  rows: true,
  summary: 'Counts what retention would erase now, as a line of JSON for each bot; erases nothing',
  flags: {},
  run: (_, surroundings) =>
    inContext(
      surroundings,
      async (nest) => {
        for await (const { botId, botName, due, guilds, evidence } of nest
          .get(RetentionPreview)
          .ofAllBots()) {
          const line = {
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
          await surroundings.data(`${JSON.stringify(line)}\n`);
        }
      },
      'read',
    ),
};

export const RETENTION_COMMANDS: readonly Command[] = [preview];
