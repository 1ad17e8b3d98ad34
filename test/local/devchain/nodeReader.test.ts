// Goal: what only a node knows is read from it as it is: balances of tokens, and none where there
// is no token.
// Method: a fresh dev chain, whose genesis gives every account the same of each genesis token.
import { expect, onTestFinished, test } from 'vitest'
import { nodeReader } from '#api/node/nodeReader.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { address } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { pathUsdAddress } from '#transform/addresses.ts'
import { endlessCalls } from '../../api/support/silentNode.ts'
import { startTestDevChain } from '../../support/devchain.ts'

test('balances are those of the newest block, and null where there is no token', async () => {
  const chain = await startTestDevChain()
  onTestFinished(() => chain.remove())
  const source = createSource({
    chainId: chain.chainId,
    urls: [chain.rpcUrl],
    finalityDepth: 3,
    runtime: systemRuntime(),
    log: silentLogger,
  })
  onTestFinished(() => source.close())
  const funded = address('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
  const stranger = address(`0x${'12'.repeat(20)}`)
  const { signal } = new AbortController()
  const reader = nodeReader(source, systemRuntime().clock, endlessCalls)
  const balancesOf = (holder: typeof funded) =>
    reader.balances(holder, [pathUsdAddress, stranger], 'party', signal)
  expect(await balancesOf(funded)).toEqual([expect.any(BigInt), null])
  expect((await balancesOf(funded))[0]).toBeGreaterThan(0n)
  expect(await balancesOf(stranger)).toEqual([0n, null])
})
