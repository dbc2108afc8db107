import { Controller, Get, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { BotPath } from '@app/bots';
import { Signer } from '@app/crypto';
import { Public, WebPage } from '@app/http';

/** The path of the key set (RFC 8615), outside the prefix. The set lists a key from its first use on. */
export const KEY_SET_PATH = '.well-known/lethe-keys.json';

/** The path of the keys that verify the calls to one bot. */
export const WEBHOOK_KEYS_PATH = '.well-known/lethe-webhook-keys/:bot_id';

/** Any cache may keep it for five minutes. */
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'public, max-age=300',
};

/** In its standard format, without the envelope. */
const keySetOf = (keys: object): WebPage => new WebPage(JSON.stringify(keys), HEADERS);

/** The public keys of every signature of the service, as a JWK set (RFC 7517). */
@ApiExcludeController()
@Public()
@Controller()
export class KeysController {
  constructor(private readonly signer: Signer) {}

  @Get(KEY_SET_PATH)
  async keys(): Promise<WebPage> {
    return keySetOf(await this.signer.keySet());
  }

  @Get(WEBHOOK_KEYS_PATH)
  async webhookKeys(@Param() { bot_id }: BotPath): Promise<WebPage> {
    return keySetOf(await this.signer.webhookKeySet(bot_id.toLowerCase()));
  }
}
