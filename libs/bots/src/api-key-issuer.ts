import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { ALL_SCOPES } from '@app/http';
import { Clock, CONFIG, type Config, Random } from '@app/kernel';
import { keyDigest, newApiKey, visiblePrefix } from './api-key';
import { ApiKey } from './bot.entity';

/** A new key as it is stored, with its text, which is shown once. */
export interface IssuedKey {
  readonly id: string;
  readonly text: string;
  readonly prefix: string;
  readonly scopes: number;
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/** Makes keys and stores their digests. */
@Injectable()
export class ApiKeyIssuer {
  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
    @Inject(CONFIG) private readonly config: Pick<Config, 'apiKeyKind'>,
  ) {}

  /** A new key of the bot. By default it has all scopes and lasts. */
  async issue(
    tx: Tx,
    botId: string,
    { scopes, expiresAt }: Pick<IssuedKey, 'scopes' | 'expiresAt'> = { scopes: ALL_SCOPES, expiresAt: null },
  ): Promise<IssuedKey> {
    const text = newApiKey(this.random, this.config.apiKeyKind);
    const [id, prefix, createdAt] = [this.random.uuid(), visiblePrefix(text), this.clock.nowIso()];
    const stored = { id, prefix, scopes, expiresAt, createdAt };
    await tx.manager.insert(ApiKey, { ...stored, botId, digest: keyDigest(text) });
    return { ...stored, text };
  }
}
