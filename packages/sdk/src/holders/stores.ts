export type { ExportedFields } from './exported-fields';
export { files, type FilesOptions, type NameOf } from './files.store';
export {
  mongo,
  type MongoCollection,
  type ObjectFields,
  prisma,
  type PrismaDelegate,
  typeorm,
  type TypeormRepository,
} from './object.stores';
export { type IoRedis, type NodeRedis, redis, type RedisKeys } from './redis.store';
export type { MysqlDatabase, PgDatabase, SqlDatabase, SqliteDatabase } from './sql-database';
export { sql, type SqlTable } from './sql.store';
