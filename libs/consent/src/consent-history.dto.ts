import {
  ConsentVersion,
  LanguageTag,
  OneOf,
  PageQuery,
  Pagination,
  Snowflake,
  Texts,
  Timestamp,
  Uuid,
} from '@app/http';
import { ApiProperty } from '@nestjs/swagger';
import { CONSENT_ACTIONS, type ConsentAction } from './consent.entity';
import { ActSource, Digest } from './consent.fields';

export class ConsentHistoryQuery extends PageQuery {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
}

export class ShownTextView {
  @LanguageTag() language: string;
  @Digest({ description: 'SHA-256 of the text that was shown' }) digest: string;
}

export class ConsentHistoryEntryView {
  @Uuid() id: string;
  @Uuid({ description: 'The request, and the consent that it became' }) consent_id: string;
  @OneOf(CONSENT_ACTIONS, {
    description:
      '`requested`: shown to the user; `shown`: shown again with other texts; `accepted`, `declined`: decided; `revoked`, `categories_withdrawn`: withdrawn',
  })
  action: ConsentAction;
  @ConsentVersion() version: string;
  @Texts(100, 50, { nullable: true, description: 'Of this act; null means all' })
  categories: readonly string[] | null;
  @LanguageTag({ nullable: true, description: 'The language asked in, where one was named' })
  language: string | null;
  @ApiProperty({ type: [ShownTextView], description: 'The texts that were shown; none where none is known' })
  texts: readonly ShownTextView[];
  @ActSource({ nullable: true, description: 'null where none is known' }) source: string | null;
  @Timestamp() created_at: string;
}

export class ConsentHistoryView {
  @ApiProperty({ type: [ConsentHistoryEntryView] }) entries: ConsentHistoryEntryView[];
  @ApiProperty({ type: Pagination }) pagination: Pagination;
}
