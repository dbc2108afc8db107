import { Injectable } from '@nestjs/common';
import { HoldsSealedTexts, type SealedColumn, type SealedTextHolder } from '@app/crypto';
import { contextOf } from './webhook-secrets.service';

/** The webhook secrets of all bots, as they follow a new master key. */
@Injectable()
@HoldsSealedTexts()
export class WebhookSecretsHolder implements SealedTextHolder {
  readonly columns: readonly SealedColumn[] = ['webhook_secret', 'webhook_secret_next'].map((column) => ({
    table: 'bots',
    column,
    key: ['id'],
    contextOf: ({ id = '' }) => contextOf(id),
  }));
}
