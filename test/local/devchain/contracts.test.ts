// Goal: the compiled contracts, of the dev chain's traffic and of the generated chain, belong to
// their sources.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Abi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import * as traffic from '#local/devchain/traffic/calls.ts'
import trafficContracts from '#local/devchain/traffic/contracts.json' with { type: 'json' }
import generatedContracts from '../../chain/contracts/contracts.json' with { type: 'json' }
import * as generated from '../../chain/generate/contracts.ts'

interface Compiled {
  readonly bytecode: string
}

interface Contracts {
  readonly source: string
  readonly sha256: string
  readonly called: readonly (readonly [name: string, contract: Compiled, abi: Abi])[]
}

const all: readonly Contracts[] = [
  {
    source: 'local/devchain/traffic/contracts.sol',
    sha256: trafficContracts.sourceSha256,
    called: [
      ['PlainToken', trafficContracts.PlainToken, traffic.plainTokenAbi],
      ['Collectible', trafficContracts.Collectible, traffic.collectibleAbi],
      ['EarnVault', trafficContracts.EarnVault, traffic.earnVaultAbi],
      ['Workshop', trafficContracts.Workshop, traffic.workshopAbi],
      ['Faulty', trafficContracts.Faulty, traffic.faultyAbi],
      ['OddLogs', trafficContracts.OddLogs, traffic.oddLogsAbi],
    ],
  },
  {
    source: 'test/chain/contracts/contracts.sol',
    sha256: generatedContracts.sourceSha256,
    called: [
      ['Coin', generatedContracts.Coin, generated.coinAbi],
      ['Nft', generatedContracts.Nft, generated.nftAbi],
      ['Vault', generatedContracts.Vault, generated.vaultAbi],
      ['Factory', generatedContracts.Factory, generated.factoryAbi],
      ['Failing', generatedContracts.Failing, generated.failingAbi],
      ['Zoo', generatedContracts.Zoo, generated.zooAbi],
    ],
  },
]

describe.each(all)('contracts compiled from $source', ({ source, sha256, called }) => {
  test('belong to it', async () => {
    const text = await readFile(new URL(`../../../${source}`, import.meta.url))
    expect(sha256).toBe(createHash('sha256').update(text).digest('hex'))
  })

  test.each(called)('every function of %s that is called exists', (_, { bytecode }, abi) => {
    const selectors = abi.flatMap((item) => (item.type === 'function' ? [toFunctionSelector(item)] : []))
    // The dispatcher compares each selector as a pushed constant.
    for (const selector of selectors) expect(bytecode).toContain(`63${selector.slice(2)}`)
  })
})
