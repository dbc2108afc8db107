import { Injectable } from '@nestjs/common';
import { HoldsEncryptedTexts, type EncryptedColumn, type EncryptedTextHolder } from '@app/crypto';
import { contextOf } from './webhook-secrets.service';

/** Re-encrypts the webhook secrets of all bots with a new master key. */
@Injectable()
@HoldsEncryptedTexts()
export class WebhookSecretsHolder implements EncryptedTextHolder {
  readonly columns: readonly EncryptedColumn[] = ['webhook_secret', 'webhook_secret_next'].map((column) => ({
    table: 'bots',
    column,
    key: ['id'],
    contextOf: ({ id = '' }) => contextOf(id),
  }));
}
