export { DamagedBackup, newestBackups, restoreAside } from './backup-drill';
export { MOVE_PARTS, moveEngine } from './engine-move';
export { findingsOf, NODE_END_OF_LIFE } from './findings';
export {
  backupTimes,
  type Circumstances,
  circumstancesOf,
  type Finding,
  type Installation,
  InstallationReading,
} from './installation';
export type { MovePlace } from './moved-tables';
export { askService, type OperatorActs, operatorActs, socketPath } from './operator-acts';
export { OperatedBots } from './operated-bots.service';
export { OperatorModule } from './operator.module';
export { OperatorSocket } from './operator-socket';
export { folderAside, sweepAside } from './sqlite.aside';
export {
  backupRecordPath,
  type BackupRecord,
  lastBackups,
  madeOf,
  recordBackup,
} from './sqlite.backup-record';
export { BACKUP_PARTS, type BackupPart, backUpSqlite, syncDirectory } from './sqlite.backup';
export { type Restored, restoreSqlite } from './sqlite.restore';
export { type MasterKeys } from './sqlite.restore.keys';
export { StorageSampling } from './storage.service';
