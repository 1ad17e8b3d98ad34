// Goal: the compiled contracts of the dev chain belong to their source.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Abi, toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import {
  collectibleAbi,
  earnVaultAbi,
  faultyAbi,
  oddLogsAbi,
  plainTokenAbi,
  workshopAbi,
} from '#local/devchain/traffic/calls.ts'
import contracts from '#local/devchain/traffic/contracts.json' with { type: 'json' }

const called: readonly (readonly [name: keyof typeof contracts, abi: Abi])[] = [
  ['PlainToken', plainTokenAbi],
  ['Collectible', collectibleAbi],
  ['EarnVault', earnVaultAbi],
  ['Workshop', workshopAbi],
  ['Faulty', faultyAbi],
  ['OddLogs', oddLogsAbi],
]

test('the compiled contracts belong to their source', async () => {
  const source = await readFile(new URL('../../../local/devchain/traffic/contracts.sol', import.meta.url))
  expect(contracts.sourceSha256).toBe(createHash('sha256').update(source).digest('hex'))
})

test.each(called)('every function of %s that is called exists', (name, abi) => {
  const compiled = contracts[name]
  if (typeof compiled === 'string') throw new TypeError(`${name} is no contract`)
  const selectors = abi.flatMap((item) => (item.type === 'function' ? [toFunctionSelector(item)] : []))
  // The dispatcher compares each selector as a pushed constant.
  for (const selector of selectors) expect(compiled.bytecode).toContain(`63${selector.slice(2)}`)
})
