import { Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import type { DataField } from './entities';

const SNOWFLAKE = /^\d{17,20}$/;
const KEY = /^[a-z_][a-z0-9_]*$/;

export class RegisterBotDto {
  @Matches(SNOWFLAKE) platform_bot_id: string;
  @IsString() @MaxLength(100) name: string;
  @IsOptional() @IsUrl({ require_tld: false }) webhook_url?: string;
}

export class DataFieldDto implements DataField {
  @Matches(KEY) key: string;
  @IsIn(['string', 'number', 'boolean', 'date', 'json']) type: DataField['type'];
  @IsString() label_de: string;
  @IsString() label_en: string;
}

export class RegisterCategoryDto {
  @Matches(KEY) key: string;
  @IsString() label_de: string;
  @IsString() label_en: string;
  @IsArray() @ValidateNested({ each: true }) @Type(() => DataFieldDto) fields: DataFieldDto[];
}

export class SubjectDto {
  @Matches(SNOWFLAKE) user_id: string;
  @Matches(SNOWFLAKE) guild_id: string;
}

export class ConsentDto extends SubjectDto {
  @IsString() @MaxLength(100) consent_version: string;
}

export class SubmitDto extends SubjectDto {
  @IsString() @MaxLength(100) category: string;
  @IsObject() data: Record<string, unknown>;
}

export class GuildQuery {
  @Matches(SNOWFLAKE) guild_id: string;
}

export class AuditQuery {
  @IsOptional() @Matches(SNOWFLAKE) user_id?: string;
  @IsOptional() @Matches(SNOWFLAKE) guild_id?: string;
  @IsOptional() @IsString() event_type?: string;
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) page = 1;
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(100) page_size = 20;
}
