/** The chains that the benches index. */

import type { ChainShape } from './cannedChain.ts'
import type { Chain } from './cannedFile.ts'

/**
 * The chain that peers were measured on: 100,000 transactions, 200,000 transfers, some 340 MB of
 * JSON.
 */
export const dense = (blocks: number): ChainShape => ({
  name: 'dense',
  blocks,
  txsPerBlock: 50,
  logsPerTx: 2,
  extraDataBytes: 0,
})

export const denseBlocks = 2_000

/** All of them, or those named; `small` runs in seconds, to try a change with. */
export function shapes(names: readonly string[]): readonly Chain[] {
  const known: Readonly<Record<string, Chain>> = {
    dense: dense(denseBlocks),
    sparse: { name: 'sparse', blocks: 12_000, txsPerBlock: 2, logsPerTx: 2, extraDataBytes: 0 },
    huge: { name: 'huge blocks', blocks: 40, txsPerBlock: 2_000, logsPerTx: 2, extraDataBytes: 0 },
    logs: { name: 'log-heavy', blocks: 200, txsPerBlock: 50, logsPerTx: 20, extraDataBytes: 128 },
    recording: 'recording',
  }
  if (names.length === 0) return Object.values(known)
  return names.map((name) => {
    const chain = name === 'small' ? { ...dense(denseBlocks / 10), name } : known[name]
    if (chain === undefined)
      throw new RangeError(`no shape ${name}; there are small, ${Object.keys(known).join(', ')}`)
    return chain
  })
}

export const nameOf = (chain: Chain): string => (chain === 'recording' ? chain : chain.name)
