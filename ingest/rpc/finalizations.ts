/**
 * Certificates of finality as endpoints of Tempo serve them. Anything may come from an endpoint: of
 * an answer the certificate's bytes alone are read. All else in it is unsigned, and nodes of
 * another version name it otherwise.
 */
import { type BlockRef, type Hash, membersOf } from '#primitives.ts'
import { CERTIFICATE_BYTES_MAX } from '../finality/certificate/certificate.ts'
import { type RecomputedHeader, recomputedHeader } from '../finality/certificate/recomputedHeader.ts'
import type { Admission } from './endpoints/Admission.ts'
import type { Endpoint } from './endpoints/Endpoint.ts'

/** The newest block that is final, or one that a height names. */
export type FinalizationOf = 'latest' | { readonly height: number }

interface Pool {
  readonly endpoints: readonly Endpoint[]
  readonly admission: Admission
}

export const finalizationMethod = 'consensus_getFinalization'

/** A header takes 3 KB, and the hashes of its transactions 70 bytes each. */
export const HEADER_BYTES_MAX = 4 * 1_024 * 1_024

/** Hex digits in lowercase without `0x`, as nodes write a certificate. */
const certificateText = /^(?:[0-9a-f]{2})+$/

/**
 * The header of the block that a certificate names, from one of the endpoints that gave it: it has
 * the hash that its fields give. Null where none of them has it.
 */
export async function askCertifiedHeader(
  { endpoints, admission }: Pool,
  digest: Hash,
  from: readonly string[],
  signal?: AbortSignal,
): Promise<RecomputedHeader | null> {
  const bounds = { bytesMax: HEADER_BYTES_MAX, ...(signal && { signal }) }
  const ask = async (endpoint: Endpoint) => {
    const told = await admission.askBeside(endpoint, 'eth_getBlockByHash', [digest, false], bounds)
    return recomputedHeader(told)
  }
  for (const endpoint of endpoints.filter(({ name }) => from.includes(name))) {
    const header = await ask(endpoint).catch(() => null)
    signal?.throwIfAborted()
    if (header?.hash === digest) return header
  }
  return null
}

/**
 * Leaves out the endpoints that tell another block at the height of one that is proved. Those that do
 * not answer, or have none there, say nothing.
 */
export async function leaveOutOthers(
  { endpoints, admission }: Pool,
  certified: BlockRef,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = { bytesMax: HEADER_BYTES_MAX, ...(signal && { signal }) }
  const parameters = [`0x${certified.number.toString(16)}`, false]
  const ask = async (endpoint: Endpoint) => {
    const told = await admission.askBeside(endpoint, 'eth_getBlockByNumber', parameters, bounds)
    const header = recomputedHeader(told)
    if (header?.number === certified.number && header.hash !== certified.hash) endpoint.disproved()
  }
  await Promise.allSettled(endpoints.map(ask))
  signal?.throwIfAborted()
}

/** The certificate's digits; null where the answer has none that can be one. Never throws. */
export function readFinalization(answer: unknown): string | null {
  const { certificate } = membersOf(answer)
  if (typeof certificate !== 'string' || certificate.length > 2 * CERTIFICATE_BYTES_MAX) return null
  return certificateText.test(certificate) ? certificate : null
}
