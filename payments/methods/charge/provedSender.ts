/** Whether a transaction itself, without any node, proves that its sender has signed it. */
import { SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo'

/** Kinds of signatures by the key that the account's address is made of. */
const OWN_KEYS: ReadonlySet<string> = new Set(['secp256k1', 'p256', 'webAuthn'])

/**
 * False for any other kind too: that an access key is the account's own, and may spend so much, is
 * known to the chain alone.
 */
export function isSenderProved(serialized: `0x76${string}` | `0x78${string}`, sender: string): boolean {
  try {
    const { signature, ...unsigned } = TxEnvelopeTempo.deserialize(`0x76${serialized.slice(4)}`)
    if (!signature || !OWN_KEYS.has(signature.type)) return false
    if (unsigned.from?.toLowerCase() !== sender.toLowerCase()) return false
    const payload = TxEnvelopeTempo.getSignPayload(TxEnvelopeTempo.from(unsigned))
    return SignatureEnvelope.verify(signature, { address: unsigned.from, payload })
  } catch {
    return false
  }
}
