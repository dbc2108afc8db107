import { BelongsToBot, PrimaryIdColumn, PrimarySnowflakeColumn, TextColumn, TimeColumn } from '@app/database';
import { Entity } from 'typeorm';

/** What a user wants to be reminded of. */
@Entity('reminders')
export class Reminder {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimarySnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @PrimarySnowflakeColumn({ name: 'user_id' }) userId: string;
  @PrimaryIdColumn() id: string;
  @TextColumn() text: string;
  @TimeColumn({ name: 'due_at' }) dueAt: string;
  @BelongsToBot('reminders') bot?: object;
}
