import {
  BelongsToBot,
  IdColumn,
  IntegerColumn,
  JsonColumn,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ConsentAction, ConsentStatus } from './consent-states';
import type { ConsentNotice, ConsentTexts } from './consent-texts';

/** The state of each category that a consent names. */
export type CategoryStates = Readonly<Record<string, ConsentStatus>>;

/** What a request replaces, and its refusal restores. */
export type RevokedConsent = Pick<
  Consent,
  'id' | 'version' | 'categories' | 'requestedAt' | 'acceptedAt' | 'revokedAt'
>;

/**
 * The consent of one subject: the decision in force and, beside an accepted one, a newer request that waits. Without a
 * row the status is `none`.
 */
@Entity('consents')
@Index(['botId', 'id'], { unique: true })
@Index(['botId', 'pendingId'])
export class Consent {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @IdColumn() id: string;
  /** `none` only during the erasure of a subject without consent: the row closes the subject until it is removed. */
  @TextColumn() status: ConsentStatus;
  @TextColumn() version: string;
  /** null: the consent covers everything that the bot declares. */
  @JsonColumn({ nullable: true }) categories: CategoryStates | null;
  @TimeColumn({ name: 'requested_at' }) requestedAt: string;
  @TimeColumn({ name: 'accepted_at', nullable: true }) acceptedAt: string | null;
  @TimeColumn({ name: 'revoked_at', nullable: true }) revokedAt: string | null;
  /** 1 during an erasure: nothing can be stored under this consent. */
  @IntegerColumn() erasing: number;
  @IdColumn({ name: 'pending_id', nullable: true }) pendingId: string | null;
  @TextColumn({ name: 'pending_version', nullable: true }) pendingVersion: string | null;
  @JsonColumn({ name: 'pending_categories', nullable: true }) pendingCategories: readonly string[] | null;
  @TimeColumn({ name: 'pending_requested_at', nullable: true }) pendingRequestedAt: string | null;
  /** The revoked consent that a request with the status `pending` has replaced, if there was one. */
  @JsonColumn({ name: 'before_request', nullable: true }) beforeRequest: RevokedConsent | null;
  @BelongsToBot('consents') bot?: object;
}

/** A text in the history: its language and digest. */
export interface ShownText {
  readonly language: string;
  readonly digest: string;
}

/** One entry in the history of a consent: a text shown or a decision; never changed (GDPR Art. 7(1)). */
@Entity('consent_history')
@Index(['botId', 'createdAt'])
export class ConsentHistoryEntry {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @PrimaryIdColumn() id: string;
  @IdColumn({ name: 'consent_id' }) consentId: string;
  @TextColumn() action: ConsentAction;
  @TextColumn() version: string;
  @JsonColumn({ nullable: true }) categories: readonly string[] | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  /** The language of the request, if it named one. */
  @Column({ type: 'varchar', length: '35', nullable: true }) language: string | null;
  /** The texts that were shown; null when unknown. */
  @JsonColumn({ nullable: true }) texts: readonly ShownText[] | null;
  /** The place of the act, as named by the bot. */
  @TextColumn({ nullable: true }) source: string | null;
  @BelongsToBot('consent_history') bot?: object;
}

/** The text of a version in one language, as shown to users; holds no personal data and is never changed. */
@Entity('consent_texts')
export class ConsentText {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ name: 'consent_version', type: 'varchar', length: '64' }) consentVersion: string;
  @PrimaryColumn({ type: 'varchar', length: '35' }) language: string;
  /** SHA-256 over `content` and `notice`. */
  @TextColumn() digest: string;
  @JsonColumn() content: ConsentTexts;
  @JsonColumn({ nullable: true }) notice: ConsentNotice | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('consent_texts') bot?: object;
}

/**
 * A part of a text that the service has made of declarations, as shown to users; or, under the digest of such a text, the
 * digests of its parts. Each is stored once for a bot, and its content is never changed. `createdAt` follows its use.
 */
@Entity('consent_words')
export class ConsentWords {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'varchar', length: '71' }) digest: string;
  @JsonColumn() content: object;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('consent_words') bot?: object;
}
