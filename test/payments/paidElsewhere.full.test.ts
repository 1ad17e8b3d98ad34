// Goal: a refund on a chain that this program sends nothing on is paid by the operator's own transfer,
// once, and by nothing less; books move with it.
// Method: queued refunds over Postgres, transfers of a token on a second chain.
import { http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askOf } from '#money/node.ts'
import { settleByHand } from '#payments/payouts/paidElsewhere.ts'
import { queuePayout } from '#rows/payments/debts.ts'
import { findUnbalanced, readBalances } from '#rows/payments/ledger.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { openAppStore } from '../support/appStore.ts'
import { DOLLAR, lower, SECOND_CHAIN, type SecondChain, startSecondChain } from './support/secondChain.ts'
import { accountOf } from './support/shop.ts'

const { app } = await openAppStore()
const AMOUNT = 500n
const to = lower(accountOf(7_000).address)
let chain: SecondChain
beforeAll(async () => {
  chain = await startSecondChain()
  await mint(accountOf(0).address, 1_000_000n)
})
afterAll(() => chain?.stop())

const abi = [
  {
    ...{ type: 'function', name: 'transfer', stateMutability: 'nonpayable', outputs: [{ type: 'bool' }] },
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
  {
    ...{ type: 'function', name: 'mint', stateMutability: 'nonpayable', outputs: [] },
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
] as const
const call = async (functionName: 'transfer' | 'mint', args: readonly [`0x${string}`, bigint]) => {
  const hash = await chain.client.writeContract({ address: DOLLAR, abi, functionName, args })
  await chain.mined(hash)
  return hash
}
const mint = (holder: `0x${string}`, units: bigint) => call('mint', [holder, units])
const queue = async (reference: string): Promise<string> => {
  const terms = {
    kind: 'refund',
    chainId: SECOND_CHAIN,
    currency: lower(DOLLAR),
    amount: AMOUNT,
    to,
  } as const
  await app.transaction().execute((own) => queuePayout(own, { ...terms, reference }, Date.now()))
  return (await findPayout(app, 'refund', reference))?.id ?? ''
}
const settle = (id: string, txHash: string) =>
  settleByHand(app, [askOf(http(chain.rpcUrl))], { id, txHash, chainId: SECOND_CHAIN })
const stateOf = async (reference: string) => (await findPayout(app, 'refund', reference))?.state

test('its own transfer pays it once it is final, and pays no other', async () => {
  const [first, second] = [await queue('one'), await queue('two')]
  const txHash = await call('transfer', [to, AMOUNT])
  expect(await settle(first, txHash)).toMatch(/not final yet/)
  await chain.rpc.call('anvil_mine', '0x80', '0x1')
  expect(await settle('out_none', txHash)).toMatch(/no payout/)
  // At once, and for both.
  const told = await Promise.all([settle(first, txHash), settle(first, txHash)])
  expect(told.filter((problem) => problem === null)).toHaveLength(1)
  expect(await stateOf('one')).toBe('paid')
  expect(await settle(second, txHash)).toMatch(/another payout/)
  expect(await settle(first, txHash)).toMatch(/is paid/)
  expect(await stateOf('two')).toBe('queued')
  expect(await findPayout(app, 'refund', 'one')).toMatchObject({ transaction: { txHash } })
  const balances = await readBalances(app)
  expect(balances.find(({ account }) => account === `payer:${to}`)?.amount).toBe(AMOUNT)
  expect(await findUnbalanced(app)).toEqual([])
})

test('less, more, another receiver and what was never mined pay nothing', async () => {
  const id = await queue('three')
  const wrong = [
    await call('transfer', [to, AMOUNT - 1n]),
    await call('transfer', [to, AMOUNT + 1n]),
    await call('transfer', [accountOf(7_001).address, AMOUNT]),
  ]
  await chain.rpc.call('anvil_mine', '0x80', '0x1')
  for (const txHash of wrong) expect(await settle(id, txHash)).toMatch(/moves no 500 units/)
  expect(await settle(id, `0x${'ab'.repeat(32)}`)).toMatch(/no block/)
  expect(await stateOf('three')).toBe('queued')
})
