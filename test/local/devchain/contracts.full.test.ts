// Goal: the code of the dev chain's own contracts, payment channels and the dollar of x402, is that
// of its source.
// Method: solc 0.8.30 compiles it anew.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import escrow from '#local/devchain/channels/channelEscrow.json' with { type: 'json' }
import dollar from '#local/devchain/dollar/dollar.json' with { type: 'json' }

const folder = new URL('../../../local/devchain/', import.meta.url)

test.each([
  ['channels/ChannelEscrow.sol', 'ChannelEscrow', escrow],
  ['dollar/Dollar.sol', 'Dollar', dollar],
] as const)('%s is what the committed code was compiled from', async (path, contract, committed) => {
  const content = await readFile(new URL(path, folder), 'utf8')
  expect(committed.sourceSha256).toBe(createHash('sha256').update(content).digest('hex'))
  expect(compile(content, committed.source, contract)).toBe(committed.runtimeCode)
})

/** The code that runs, by solc 0.8.30 with the settings of the committed one. */
function compile(content: string, source: string, contract: string): unknown {
  const solc: { compile: (input: string) => string } = createRequire(import.meta.url)('solc')
  const input = {
    language: 'Solidity',
    sources: { [source]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 1 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { [contract]: ['evm.deployedBytecode.object'] } },
    },
  }
  const { contracts, errors } = JSON.parse(solc.compile(JSON.stringify(input)))
  expect(errors ?? []).toEqual([])
  return `0x${contracts[source][contract].evm.deployedBytecode.object}`
}
