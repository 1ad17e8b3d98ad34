/**
 * Sealing (AES-256-GCM): what is stored and must be readable again by the program alone, such as
 * the secret of a webhook. A sealed value opens only with the context it was sealed under, so that
 * one row's value means nothing in another.
 *
 * Bytes: `format (1) | key id (8) | nonce (12) | tag (16) | ciphertext`.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { failure } from '#errors.ts'

/** Bytes of every key of ours. */
export const KEY_BYTES = 32

const FORMAT = 1
const KEY_ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

export interface Sealer {
  /**
   * `context` names the row and column, for example `webhook:wh_1:secret`; it is checked, not
   * stored.
   */
  seal(plain: Uint8Array, context: string): Uint8Array
  /**
   * @throws SealBrokenError when it was changed, moved to another row, or sealed with a key that is
   * gone
   */
  open(sealed: Uint8Array, context: string): Uint8Array
}

/** Seals with the first key, opens with any. @throws TypeError without a key of the right length */
export function sealerOf(keys: readonly Uint8Array[]): Sealer {
  const [first] = keys
  if (!first || keys.some((key) => key.length !== KEY_BYTES))
    throw new TypeError(`a sealing key of ${KEY_BYTES} bytes is needed`)
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]))
  return {
    seal: (plain, context) => seal(first, plain, context),
    open: (sealed, context) => {
      const key = byId.get(Buffer.from(sealed.subarray(1, 1 + KEY_ID_BYTES)).toString('hex'))
      if (!key || sealed[0] !== FORMAT || sealed.length < HEAD_BYTES) throw new SealBrokenError()
      return open(key, sealed, context)
    },
  }
}

/** Names a key without telling it. */
export const keyIdOf = (key: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from('millrace key id'), key]), 'hex').slice(0, 2 * KEY_ID_BYTES)

function seal(key: Uint8Array, plain: Uint8Array, context: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([
    Buffer.of(FORMAT),
    Buffer.from(keyIdOf(key), 'hex'),
    nonce,
    cipher.getAuthTag(),
    sealed,
  ])
}

function open(key: Uint8Array, sealed: Uint8Array, context: string): Uint8Array {
  const nonceAt = 1 + KEY_ID_BYTES
  const tagAt = nonceAt + NONCE_BYTES
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(nonceAt, tagAt), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt, HEAD_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()])
  } catch (cause) {
    throw new SealBrokenError({ cause })
  }
}

/** A sealed value does not open: it was changed or moved, or its key is gone. */
export class SealBrokenError extends failure('SealBrokenError', 'seal_broken', 'stop') {
  constructor(options?: ErrorOptions) {
    super('a sealed value does not open with the keys held', options)
  }
}
