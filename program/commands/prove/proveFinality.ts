/** `millrace prove finality`. */
import { createReadStream } from 'node:fs'
import { readBounded } from '#egress/body.ts'
import { EgressRefusedError } from '#egress/errors.ts'
import { messageOf, SettingError } from '#errors.ts'
import { keyAt } from '#ingest/finality/keys/epochKeys.ts'
import { type ConfiguredKey, initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import { type VerifiedFinality, verifyFinality } from './verifyFinality.ts'

/** An epoch of headers as hex, and the block. */
const ANSWER_BYTES_MAX = 64 * 1_024 * 1_024
const TIMEOUT_MS = 60_000

export interface ProveFinalityOptions {
  /** A file, or an `http` or `https` URL. */
  readonly location: string
  /** The chain that the answer has to be of. */
  readonly chain: string | null
  readonly identity: string | null
  readonly fromEpoch: string | null
  readonly json: boolean
}

/** False where any of it does not hold. @throws SettingError for an option, and for what cannot be read */
export async function proveFinality(options: ProveFinalityOptions, stop: AbortSignal): Promise<boolean> {
  const chainId = wholeOf('chain', options.chain)
  const key = await keyOf(options)
  if (key && chainId === null)
    throw new SettingError('chain', 'is needed beside `identity`: a key signs blocks, and no chain id')
  const text = await textOf(options.location, stop)
  const verified = verifyFinality(text, { chainId, keysOf: (id) => initialKeys(id, key) })
  const told = options.json ? [JSON.stringify(reportOf(verified))] : linesOf(verified, key)
  process.stdout.write(`${told.join('\n')}\n`)
  return verified.problem === null
}

const reportOf = ({ block, problem }: VerifiedFinality) => ({
  holds: problem === null,
  chainId: block?.finality?.proof?.chainId ?? null,
  number: block?.number ?? null,
  hash: block?.hash ?? null,
  problem,
})

function linesOf({ block, problem }: VerifiedFinality, configured: ConfiguredKey | null): readonly string[] {
  if (problem) return [`WRONG  ${problem.path || 'the text'}: ${problem.problem}`]
  const proof = block?.finality?.proof
  if (!block || !proof) return []
  const keys = initialKeys(proof.chainId, configured)
  const key = keys && keyAt(keys, proof.epoch)
  const origins = {
    pinned: 'compiled in',
    stated: 'compiled in as it was stated, not seen signing when this version was made',
    configured: 'the one you named',
    followed: 'followed',
  } as const
  return [
    `block        ${block.number} of chain ${proof.chainId}, ${block.hash}`,
    `certificate  of block ${proof.blockNumber}, epoch ${proof.epoch}, view ${proof.view}`,
    `headers      ${proof.headers.length}, each with the hash of the one before`,
    ...(key ? [`key          ${key.key}, from epoch ${key.fromEpoch}: ${origins[key.origin]}`] : []),
    'The block is final. Not in a header, and not looked at: size, transactionCount, hashes of transactions.',
  ]
}

async function keyOf({ identity, fromEpoch }: ProveFinalityOptions): Promise<ConfiguredKey | null> {
  const epoch = wholeOf('from-epoch', fromEpoch)
  if ((identity === null) !== (epoch === null))
    throw new SettingError(identity === null ? 'identity' : 'from-epoch', 'goes with the other of the two')
  if (identity === null || epoch === null) return null
  const hex = identity.toLowerCase()
  const { isKey } = await import('#ingest/finality/certificate/groupSignatures.ts')
  if (!/^0x[0-9a-f]{192}$/.test(hex) || !isKey(`0x${hex.slice(2)}`))
    throw new SettingError('identity', 'is no key: 0x and the 192 hex digits of a compressed point')
  return { identity: `0x${hex.slice(2)}`, fromEpoch: epoch }
}

function wholeOf(name: string, text: string | null): number | null {
  if (text === null) return null
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw new SettingError(name, 'is no whole number')
  return value
}

/** @throws SettingError */
async function textOf(location: string, stop: AbortSignal): Promise<string> {
  try {
    const isUrl = /^https?:\/\//i.test(location)
    const body = isUrl ? await bodyOf(location, stop) : createReadStream(location)
    return (await readBounded(body, ANSWER_BYTES_MAX, false)).toString('utf8')
  } catch (cause) {
    if (cause instanceof EgressRefusedError)
      throw new SettingError('file', 'is larger than any such answer', { cause })
    // fetch says no more than that it failed; what happened is in its cause.
    const reason = messageOf(cause instanceof Error && cause.cause ? cause.cause : cause)
    throw new SettingError('file', `it cannot be read (${reason})`, { cause })
  }
}

async function bodyOf(url: string, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const answer = await fetch(url, { signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]) })
  if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`)
  return answer.body
}
