import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { Clock, conflict, EgressPolicy, invalidRequest, Random } from '@app/kernel';
import { ApiKeyIssuer } from './api-key-issuer';
import type { BotRegisteredView, RegisterBot } from './bots.dto';
import { WebhookSecrets } from './webhook-secrets.service';

const NOTICE =
  'Store api_key and webhook_secret now: neither is shown again. Only data stored through this service is covered by its exports and erasures.';

/** Registers bots. Only this service shows an API key and a webhook secret. */
@Injectable()
export class RegistrationService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly egress: EgressPolicy,
    private readonly secrets: WebhookSecrets,
    private readonly issuer: ApiKeyIssuer,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** @throws ApiError 409 `bot_exists` for a platform id that is registered already. */
  async register(input: RegisterBot): Promise<BotRegisteredView> {
    requireAllowed(this.egress, input.webhook_url);
    const id = this.random.uuid();
    const { secret, encrypted } = this.secrets.issue(id);
    const now = this.clock.nowIso();
    const key = await this.unitOfWork.write(async (tx) => {
      const inserted = await tx.run(
        `INSERT INTO bots (id, platform_bot_id, name, privacy_contact, webhook_url, webhook_secret, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (platform_bot_id) DO NOTHING`,
        ...[
          id,
          input.platform_bot_id,
          input.name,
          input.privacy_contact ?? null,
          input.webhook_url ?? null,
          encrypted,
          now,
          now,
        ],
      );
      if (inserted === 0)
        throw conflict('bot_exists', 'A bot with this platform_bot_id is registered already');
      return this.issuer.issue(tx, id);
    });
    return {
      id,
      platform_bot_id: input.platform_bot_id,
      name: input.name,
      api_key: key.text,
      api_key_prefix: key.prefix,
      webhook_secret: secret,
      notice: NOTICE,
    };
  }
}

/** @throws ApiError 400 for a target that could never be called. */
export function requireAllowed(egress: EgressPolicy, webhookUrl: string | null | undefined): void {
  const refusal = webhookUrl == null ? undefined : egress.refusalOf(webhookUrl);
  if (refusal !== undefined) throw invalidRequest([{ field: 'webhook_url', message: refusal }]);
}
