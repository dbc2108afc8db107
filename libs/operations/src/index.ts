export { type FoundBackup, newestBackups, restoreAside, sweepDrills } from './backup-drill';
export { moveEngine } from './engine-move';
export type { MovePlace } from './moved-tables';
export { askService, type OperatorActs, operatorActs, socketPath } from './operator-acts';
export { OperatorSocket } from './operator-socket';
export {
  BACKUP_PARTS,
  type BackupPart,
  backupRecordPath,
  type BackupRecord,
  backUpSqlite,
  lastBackups,
  madeOf,
  recordBackup,
  syncDirectory,
} from './sqlite.backup';
export { type Restored, restoreSqlite } from './sqlite.restore';
