import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Signer } from '@app/crypto';
import { Public, PublicDocument } from '@app/http';

/** The cache time of a key set, in seconds. The set lists a key from its first use on. */
const MAX_AGE_SECONDS = 300;

/** The path of the key set (RFC 8615), outside the prefix. */
export const KEY_SET_PATH = '.well-known/lethe-keys.json';

/** The public keys of every signature of the service, as a JWK set (RFC 7517). */
@ApiExcludeController()
@Public()
@Controller()
export class KeysController {
  constructor(private readonly signer: Signer) {}

  @Get(KEY_SET_PATH)
  async keys(): Promise<PublicDocument> {
    return new PublicDocument(await this.signer.keySet(), MAX_AGE_SECONDS);
  }
}
