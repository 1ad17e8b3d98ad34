// Goal: the code of the dev chain's payment channels is that of its source.
// Method: solc 0.8.30 compiles it anew.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import compiled from '#local/devchain/channels/channelEscrow.json' with { type: 'json' }

const source = new URL('../../../local/devchain/channels/ChannelEscrow.sol', import.meta.url)

test('channelEscrow.json is compiled from ChannelEscrow.sol', async () => {
  const content = await readFile(source, 'utf8')
  expect(compiled.sourceSha256).toBe(createHash('sha256').update(content).digest('hex'))
  expect(compile(content)).toBe(compiled.runtimeCode)
})

/** The code that runs, by solc 0.8.30 with the settings of the committed one. */
function compile(content: string): unknown {
  const solc: { compile: (input: string) => string } = createRequire(import.meta.url)('solc')
  const input = {
    language: 'Solidity',
    sources: { [compiled.source]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 1 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { ChannelEscrow: ['evm.deployedBytecode.object'] } },
    },
  }
  const { contracts, errors } = JSON.parse(solc.compile(JSON.stringify(input)))
  expect(errors ?? []).toEqual([])
  return `0x${contracts[compiled.source].ChannelEscrow.evm.deployedBytecode.object}`
}
