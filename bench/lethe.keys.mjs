import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { Keyring } = require('../dist/libs/crypto/src/keyring.js');
export const { keysPath } = require('../dist/libs/database/src/key-tables.js');
const { encryptionReady } = require('../dist/libs/crypto/src/aead.js');
const { EncryptionKey } = require('../dist/libs/crypto/src/encryption-key.js');

await encryptionReady;

/** A text whose key is destroyed, as long as that of an event without details. */
export const ERASED_TEXT = `s2.${'A'.repeat(12)}.${'A'.repeat(43)}`;

/**
 * The installation keys of a measured Lethe, for rows that are inserted by SQL: they name users and guilds by digests, and
 * texts are encrypted. `rows` are those of `service_keys`.
 */
export class LetheKeys {
  constructor(rows, masterKey) {
    const keyring = new Keyring([Buffer.from(masterKey, 'base64')], {});
    const secretOf = (wanted) => {
      const { id, sealed } = rows.find(({ name }) => name === wanted);
      return Buffer.from(keyring.decrypt(sealed, `service_keys/${wanted}/${id}`), 'base64url');
    };
    this.digestKey = secretOf('digest');
    this.installation = EncryptionKey.of('evidence', secretOf('evidence'));
  }

  encrypt(text, context) {
    return this.installation.encrypt(text, context, randomBytes(12));
  }
}
