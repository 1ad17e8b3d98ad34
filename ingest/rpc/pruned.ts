import type { BlockRange } from '../range.ts'
import type { Admission } from './admission.ts'
import type { Endpoint } from './endpoint.ts'
import { quantity } from './parse.ts'

/**
 * Whether any endpoint still answers a block with its receipts. @throws the last failure when one
 * could not say and none said yes.
 */
export async function holdsBlock(
  endpoints: readonly Endpoint[],
  admission: Admission,
  number: number,
  signal?: AbortSignal,
): Promise<boolean> {
  let unclear: unknown
  for (const endpoint of endpoints) {
    try {
      if (await holdsAt(endpoint, admission, number, signal)) return true
    } catch (error) {
      signal?.throwIfAborted()
      unclear = error
    }
  }
  if (unclear) throw unclear
  return false
}

async function holdsAt(endpoint: Endpoint, admission: Admission, number: number, signal?: AbortSignal) {
  const params = [quantity(number)]
  const calls = [{ method: 'eth_getBlockByNumber', params: [...params, false] }]
  if (endpoint.blockReceipts) calls.push({ method: 'eth_getBlockReceipts', params })
  const answers = await admission.ask(endpoint, (client) => client.callAll(calls, endpoint.batches, signal))
  for (const answer of answers) {
    if (answer.ok && answer.result === null) return false
    if (answer.ok) continue
    if (answer.error.failure === 'pruned' || answer.error.failure === 'block_missing') return false
    throw answer.error
  }
  return true
}

/**
 * Where a range is not held: at its start or, as on nodes that prune everything but block 0, right
 * behind it.
 */
export async function firstMissing(
  { from, to }: BlockRange,
  holds: (number: number) => Promise<boolean>,
): Promise<number | null> {
  if (!(await holds(from))) return from
  return to > from && !(await holds(from + 1)) ? from + 1 : null
}

/**
 * Lowest height above `missing` that is held, or null when `head` is not: pruning removes from
 * below.
 */
export async function earliestHeld(
  missing: number,
  head: number,
  holds: (number: number) => Promise<boolean>,
): Promise<number | null> {
  if (!(await holds(head))) return null
  let absent = missing
  let present = head
  while (present > absent + 1) {
    const middle = Math.floor((absent + present) / 2)
    if (await holds(middle)) present = middle
    else absent = middle
  }
  return present
}
