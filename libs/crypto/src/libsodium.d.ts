/** The functions of libsodium as compiled to WebAssembly. Numbers are places and lengths in its memory. */
declare module 'libsodium' {
  interface Sodium {
    /** Resolves when the functions can be called. */
    readonly ready: Promise<void>;
    /** Another array once the memory has grown. */
    readonly HEAPU8: Uint8Array<ArrayBuffer>;
    _malloc(bytes: number): number;
    _free(at: number): void;
    /** A length of 64 bits is two arguments, the low part first. Returns 0. */
    _crypto_aead_chacha20poly1305_ietf_encrypt(
      ...all: [
        encrypted: number,
        encryptedLength: number,
        ...plain: [at: number, length: number, lengthHigh: 0],
        ...context: [at: number, length: number, lengthHigh: 0],
        secretNonce: 0,
        nonce: number,
        key: number,
      ]
    ): number;
    /** Returns another number than 0 for a text that was changed. */
    _crypto_aead_chacha20poly1305_ietf_decrypt(
      ...all: [
        plain: number,
        plainLength: number,
        secretNonce: 0,
        ...encrypted: [at: number, length: number, lengthHigh: 0],
        ...context: [at: number, length: number, lengthHigh: 0],
        nonce: number,
        key: number,
      ]
    ): number;
    /** HKDF-Expand with a key of 64 bytes. Returns 0. */
    _crypto_kdf_hkdf_sha512_expand(
      ...all: [derived: number, length: number, info: number, infoLength: number, key: number]
    ): number;
  }
  const sodium: Sodium;
  export default sodium;
}
