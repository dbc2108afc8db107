import { Controller, Get, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { BotPath } from '@app/bots';
import { Signer } from '@app/crypto';
import { Public, PublicDocument } from '@app/http';

/** The path of the key set (RFC 8615), outside the prefix. The set lists a key from its first use on. */
export const KEY_SET_PATH = '.well-known/lethe-keys.json';

/** The path of the keys that verify the calls to one bot. */
export const WEBHOOK_KEYS_PATH = '.well-known/lethe-webhook-keys/:bot_id';

/** The public keys of every signature of the service, as a JWK set (RFC 7517). */
@ApiExcludeController()
@Public()
@Controller()
export class KeysController {
  constructor(private readonly signer: Signer) {}

  @Get(KEY_SET_PATH)
  async keys(): Promise<PublicDocument> {
    return new PublicDocument(await this.signer.keySet());
  }

  @Get(WEBHOOK_KEYS_PATH)
  async webhookKeys(@Param() { bot_id }: BotPath): Promise<PublicDocument> {
    return new PublicDocument(await this.signer.webhookKeySet(bot_id.toLowerCase()));
  }
}
