import { BelongsToBot, PrimaryIdColumn, TextColumn, TimeColumn } from '@app/database';
import { Entity } from 'typeorm';

/** What a bot says about itself in its privacy notice, apart from the row of the bot, which every call reads. */
@Entity('bot_notices')
export class BotNotice {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** The JSON text of the settings and of their latest changes. It is meant for the public, so it is not encrypted. */
  @TextColumn() text: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  @BelongsToBot('bot_notices') bot?: object;
}
