import { splitAligned } from './range.ts'
import type { Source } from './source.ts'

/**
 * The same source, which never answers a range across a multiple of `width`: no batch straddles two
 * store partitions.
 */
export function alignedSource(source: Source, width: number): Source {
  return changedSource(source, {
    fetch: (range, options) => source.fetch(splitAligned(range, width)[0] ?? range, options),
  })
}

/** The same source, which answers some questions in another way. */
export const changedSource = (
  source: Source,
  changes: Partial<Pick<Source, 'head' | 'blockRef' | 'fetch'>>,
): Source => ({
  ...source,
  chainId: source.chainId,
  get batchBlocks() {
    return source.batchBlocks
  },
  get answering() {
    return source.answering ?? 1
  },
  get tellsEncoded() {
    return source.tellsEncoded ?? false
  },
  get certifiedBlocks() {
    return source.certifiedBlocks
  },
  reportEncodedInVain: (endpoint) => source.reportEncodedInVain?.(endpoint),
  reportLacking: (endpoint, block) => source.reportLacking?.(endpoint, block),
  head: (signal) => source.head(signal),
  blockRef: (number, signal, held) => source.blockRef(number, signal, held),
  fetch: (range, options) => source.fetch(range, options),
  grants: (told) => source.grants?.(told) ?? true,
  certified: async (hash, signal) => (await source.certified?.(hash, signal)) ?? null,
  leaveOutOthers: async (certified, signal) => source.leaveOutOthers?.(certified, signal),
  waitForHead: (after, timeoutMs, signal) => source.waitForHead(after, timeoutMs, signal),
  reportRefuted: (endpoint) => source.reportRefuted(endpoint),
  close: () => source.close(),
  ...changes,
})
