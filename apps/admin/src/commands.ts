import { AUDIT_COMMANDS } from './audit.commands';
import { BACKUP_COMMANDS } from './backup.commands';
import { BOT_COMMANDS } from './bots.commands';
import type { Command } from './command';
import { DOCTOR_COMMAND } from './doctor.command';
import { DRILL_COMMAND } from './drill.command';
import { STATUS_COMMAND } from './status.command';
import { DATABASE_COMMANDS } from './database.commands';
import { KEY_COMMANDS } from './keys.commands';
import { LEDGER_COMMANDS } from './ledger.commands';
import { MOVE_COMMAND } from './move.command';
import { RETENTION_COMMANDS } from './retention.commands';

/** Every command, in the order of docs/reference.md. */
export const COMMANDS: readonly Command[] = [
  STATUS_COMMAND,
  DOCTOR_COMMAND,
  ...DATABASE_COMMANDS,
  MOVE_COMMAND,
  ...BACKUP_COMMANDS,
  DRILL_COMMAND,
  ...LEDGER_COMMANDS,
  ...BOT_COMMANDS,
  ...KEY_COMMANDS,
  ...AUDIT_COMMANDS,
  ...RETENTION_COMMANDS,
];
