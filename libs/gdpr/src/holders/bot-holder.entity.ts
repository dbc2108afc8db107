import { BelongsToBot, JsonColumn, PrimaryIdColumn, TextColumn, TimeColumn } from '@app/database';
import { Entity, PrimaryColumn } from 'typeorm';

/** How a holder learns of its tasks: `pull` asks for them; for `webhook` the webhook of the bot is called too. */
export const HOLDER_KINDS = ['pull', 'webhook'] as const;
export type HolderKind = (typeof HOLDER_KINDS)[number];

/** A store of a bot in which it keeps data about users: a database, a cache, files. */
@Entity('bot_holders')
export class BotHolder {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'varchar', length: '100' }) key: string;
  @TextColumn() kind: HolderKind;
  /** Names of the data in the store, as the bot calls it. */
  @JsonColumn() covers: readonly string[];
  @TextColumn({ name: 'label_de' }) labelDe: string;
  @TextColumn({ name: 'label_en' }) labelEn: string;
  /** Ed25519, base64url of 32 bytes: with it the holder signs its answers. */
  @TextColumn({ name: 'public_key', nullable: true }) publicKey: string | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  @BelongsToBot('bot_holders') bot?: object;
}
