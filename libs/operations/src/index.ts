export { BACKUP_PARTS, type BackupPart } from './backup-manifest';
export { moveEngine, type MovePlace } from './engine-move';
export { backUpSqlite } from './sqlite.backup';
export { type Restored, restoreSqlite } from './sqlite.restore';
