import { Column, DefaultNamingStrategy, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { snakeCase } from 'typeorm/util/StringUtils.js';

export const isPostgres = process.env.DATABASE_URL?.startsWith('postgres:') ?? false;
const timestamp = isPostgres ? 'timestamptz' : 'datetime';
const json = isPostgres ? 'jsonb' : 'simple-json';

export class SnakeNames extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? snakeCase(property);
  }
}

@Entity('bots')
export class Bot {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ unique: true }) platformBotId: string;
  @Column() name: string;
  @Column({ type: 'varchar', nullable: true }) webhookUrl: string | null;
  @Column() webhookSecret: string;
  @Column({ unique: true }) apiKeyHash: string;
}

export interface DataField {
  key: string;
  type: 'string' | 'number' | 'boolean' | 'date' | 'json';
  label_de: string;
  label_en: string;
}

@Entity('categories')
@Unique(['botId', 'key'])
export class Category {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column('uuid') botId: string;
  @Column() key: string;
  @Column() labelDe: string;
  @Column() labelEn: string;
  @Column({ type: json }) fields: DataField[];
  @Column({ type: timestamp }) createdAt: Date;
}

@Entity('consents')
@Unique(['botId', 'guildId', 'userId'])
export class Consent {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column('uuid') botId: string;
  @Column() guildId: string;
  @Column() userId: string;
  @Column() status: string;
  @Column() version: string;
  @Column({ type: timestamp }) requestedAt: Date;
  @Column({ type: timestamp, nullable: true }) acceptedAt: Date | null;
  @Column({ type: timestamp, nullable: true }) revokedAt: Date | null;
}

@Entity('user_data')
@Unique(['botId', 'guildId', 'userId', 'categoryKey'])
export class UserData {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column('uuid') botId: string;
  @Column() guildId: string;
  @Column() userId: string;
  @Column() categoryKey: string;
  @Column({ type: json }) value: Record<string, unknown>;
  @Column({ type: timestamp }) updatedAt: Date;
}

@Entity('audit_events')
@Index(['botId', 'createdAt', 'id'])
@Index(['botId', 'userId', 'createdAt'])
@Index(['botId', 'guildId', 'createdAt'])
@Index(['botId', 'eventType', 'createdAt'])
export class AuditEvent {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column('uuid') botId: string;
  @Column() guildId: string;
  @Column() userId: string;
  @Column() eventType: string;
  @Column() source: string;
  @Column({ type: json, nullable: true }) details: object | null;
  @Column({ type: timestamp }) createdAt: Date;
}

@Entity('deletion_requests')
@Index(['botId', 'userId'])
export class DeletionRequest {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column('uuid') botId: string;
  @Column() guildId: string;
  @Column() userId: string;
  @Column() status: string;
  @Column({ type: json, nullable: true }) deletedCategories: string[] | null;
  @Column() webhookSent: boolean;
  @Column({ type: timestamp }) createdAt: Date;
  @Column({ type: timestamp, nullable: true }) completedAt: Date | null;
}

@Entity('webhook_deliveries')
@Index(['status', 'createdAt'])
export class WebhookDelivery {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column('uuid') botId: string;
  @Column() event: string;
  @Column({ type: 'uuid', nullable: true }) requestId: string | null;
  @Column('text') payload: string;
  @Column() status: string;
  @Column() attempts: number;
  @Column({ type: timestamp }) createdAt: Date;
  @Column({ type: timestamp, nullable: true }) finishedAt: Date | null;
}

export const entities = [Bot, Category, Consent, UserData, AuditEvent, DeletionRequest, WebhookDelivery];
