/**
 * Certificates of finality as endpoints of Tempo serve them. Anything may come from an endpoint: of
 * an answer the certificate's bytes alone are read. All else in it is unsigned, and nodes of
 * another version name it otherwise.
 */
import { type BlockRef, type Hash, membersOf } from '#primitives.ts'
import { bytesOf, CERTIFICATE_BYTES_MAX } from '../finality/certificate/certificate.ts'
import { type RecomputedHeader, recomputedHeader } from '../finality/certificate/recomputedHeader.ts'
import type { FinalityNetwork, GivenCertificates } from '../finality/watch/finalityNetwork.ts'
import { RpcError } from './client/errors.ts'
import type { Admission } from './endpoints/admission.ts'
import type { Endpoint } from './endpoints/endpoint.ts'

/** The newest block that is final, or one that a height names. */
export type FinalizationOf = 'latest' | { readonly height: number }

interface Pool {
  readonly endpoints: readonly Endpoint[]
  readonly admission: Admission
}

const finalizationMethod = 'consensus_getFinalization'

/** The answer may hold a whole block, of which none so far had more than 2 MB. */
const FINALIZATION_BYTES_MAX = 8 * 1_024 * 1_024
/** A header takes 3 KB, and the hashes of its transactions 70 bytes each. */
const HEADER_BYTES_MAX = 4 * 1_024 * 1_024

/** Hex digits in lowercase without `0x`, as nodes write a certificate. */
const certificateText = /^(?:[0-9a-f]{2})+$/

/** The endpoints of a chain, as a watch of its finality sees them. */
export const finalityNetwork = (pool: Pool): FinalityNetwork => ({
  certificates: (of, signal) => askCertificates(pool, of, signal),
  headerOf: (digest, endpoints, signal) => askCertifiedHeader(pool, digest, endpoints, signal),
})

/** Asks every endpoint, beside ingest. How it goes moves nothing. */
export async function askCertificates(
  { endpoints, admission }: Pool,
  of: FinalizationOf,
  signal?: AbortSignal,
): Promise<GivenCertificates> {
  const bounds = { bytesMax: FINALIZATION_BYTES_MAX, ...(signal && { signal }) }
  const answers = await Promise.allSettled(
    endpoints.map((endpoint) => admission.askBeside(endpoint, finalizationMethod, [of], bounds)),
  )
  signal?.throwIfAborted()
  const given = new Map<string, { readonly bytes: Uint8Array; readonly endpoints: string[] }>()
  const without: string[] = []
  for (const [index, answer] of answers.entries()) {
    const name = endpoints[index]?.name ?? ''
    if (answer.status === 'rejected') {
      if (answer.reason instanceof RpcError && answer.reason.failure === 'method_missing') without.push(name)
      continue
    }
    const text = readFinalization(answer.value)
    if (text === null) continue
    const same = given.get(text)
    if (same) same.endpoints.push(name)
    else given.set(text, { bytes: bytesOf(`0x${text}`), endpoints: [name] })
  }
  return { given: [...given.values()], without }
}

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
