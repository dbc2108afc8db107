import { BelongsToBot, IdColumn, indexName, PrimaryDigestColumn, PrimaryIdColumn } from '@app/database';
import type { Digest } from '@app/primitives';
import { Entity, Index } from 'typeorm';

/** A subject about whom anything is held, and the id of its key. */
@Entity('subjects')
@Index(indexName('subjects', ['bot_id', 'user_id', 'guild_id']), ['botId', 'userId', 'guildId'])
@Index(indexName('subjects', ['key_id']), ['keyId'])
export class HeldSubject {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @IdColumn({ name: 'key_id' }) keyId: string;
  @BelongsToBot('subjects') bot?: object;
}
