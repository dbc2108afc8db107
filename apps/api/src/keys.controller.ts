import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Signer } from '@app/crypto';
import { Public, PublicDocument } from '@app/http';

/** For so long a key set may be kept; a key is told from its first use on. */
const MAX_AGE_SECONDS = 300;

/** Where the key set stands (RFC 8615), outside the prefix. */
export const KEY_SET_PATH = '.well-known/lethe-keys.json';

/** The public keys by which everything that the service has ever signed is verified, as a JWK set (RFC 7517). */
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
