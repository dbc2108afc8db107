import { ApiProperty } from '@nestjs/swagger';
import { OneOf, Snowflake, Text, Timestamp, Uuid } from '@app/http';
import { SCOPES } from '@app/subjects';

export class ExportPath {
  @Snowflake() user_id: string;
}

export class ExportQuery {
  @Snowflake({ unless: 'scope', description: 'Required without scope, to be left out with it' })
  guild_id?: string;
  @OneOf(SCOPES, { optional: true, description: 'all_guilds: one user in every guild of the bot' })
  scope?: 'all_guilds';
  @OneOf(['full'], { optional: true, description: 'full: history, audit events and purposes too' })
  format?: 'full';
}

class ExportedBot {
  @Uuid() id: string;
  @Text(100) name: string;
}

class ExportedConsent {
  @ApiProperty() status: string;
  @ApiProperty() version: string;
  @Timestamp({ nullable: true }) acceptedAt: string | null;
}

class ExportedGuild {
  @Snowflake() guildId: string;
  @ApiProperty({ type: ExportedConsent, nullable: true }) consent: ExportedConsent | null;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'object', additionalProperties: true } })
  data: object;
}

/** Documentation of an export of all guilds, streamed guild by guild. */
export class ExportAllGuildsView {
  @Snowflake() userId: string;
  @Timestamp() exportedAt: string;
  @ApiProperty({ type: ExportedBot }) bot: ExportedBot;
  @ApiProperty({ type: [ExportedGuild] }) guilds: ExportedGuild[];
}

/** Documentation of the export; the answer is assembled from stored JSON texts. */
export class ExportView {
  @Snowflake() userId: string;
  @Snowflake() guildId: string;
  @Timestamp() exportedAt: string;
  @ApiProperty({ type: ExportedBot }) bot: ExportedBot;
  @ApiProperty({ type: ExportedConsent, nullable: true }) consent: ExportedConsent | null;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'object', additionalProperties: true } })
  data: object;
}
