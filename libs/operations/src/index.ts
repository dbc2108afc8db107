export { BACKUP_PARTS, type BackupPart } from './backup-manifest';
export { type Drilled, type FoundBackup, newestBackups, restoreAside, sweepDrills } from './backup-drill';
export { backupRecordPath, type BackupRecord, lastBackups, madeOf, recordBackup } from './backup-record';
export { moveEngine } from './engine-move';
export type { MovePlace } from './move-places';
export { backUpSqlite } from './sqlite.backup';
export { type Restored, restoreSqlite } from './sqlite.restore';
