/** Payouts over Postgres and a dev chain, each test with a receiver of its own. */
import { http } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { type Ask, askOf } from '#money/node.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import { queuePayout } from '#rows/payments/debts.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../../support/appStore.ts'
import { startMiningDevChain } from '../../support/devchain.ts'
import { dueNow } from './dueNow.ts'
import { accountOf, balanceOf, keyOf, PATH_USD } from './shop.ts'

export const chainId = 1337
/** More than a transfer costs. */
export const AMOUNT = 20_000n
/** Debts are paid out of it. */
export const account = privateKeyToAccount(keyOf(accountOf(3)))

interface Opened {
  readonly nodes?: readonly Ask[]
  readonly budget?: bigint
  readonly from?: PrivateKeyAccount
}

type Terms = Omit<Parameters<typeof queuePayout>[1], 'chainId' | 'currency' | 'to'>

/** For the file that asks, whose hooks begin and end it. */
export async function payoutBench() {
  const { app } = await openAppStore()
  let chain: Awaited<ReturnType<typeof startMiningDevChain>>
  let rpc: DevRpc
  let receivers = 60
  let to: `0x${string}`
  beforeAll(async () => {
    chain = await startMiningDevChain(chainId)
    rpc = new DevRpc(chain.rpcUrl)
  })
  afterAll(() => chain?.remove())
  beforeEach(() => {
    const { address } = accountOf(receivers++)
    to = `0x${address.slice(2).toLowerCase()}`
  })
  const node = (): Ask => askOf(http(chain.rpcUrl))
  const open = ({ nodes = [node()], budget = 1_000_000n, from = account }: Opened = {}): Payouts =>
    new Payouts({
      app,
      chain: new PayoutChain({
        ...{ chainId, account: from, nodes, feeTokens: [PATH_USD] },
        clock: systemRuntime().clock,
      }),
      budgetOf: (currency) => (currency === PATH_USD ? budget : null),
      mayPay: () => true,
      runtime: systemRuntime(),
      log: silentLogger,
    })
  const queueTerms = (terms: Terms) =>
    app
      .transaction()
      .execute((transaction) =>
        queuePayout(transaction, { ...terms, chainId, currency: PATH_USD, to }, Date.now()),
      )
  const stateOf = async (reference: string) => (await findPayout(app, 'refund', reference))?.state
  /** A debt that waits for its next try is due at once. */
  const turn = async (payouts: Payouts) => {
    await dueNow(app)
    await payouts.turn()
  }
  return {
    ...{ app, node, open, stateOf, turn },
    get to() {
      return to
    },
    get rpcUrl() {
      return chain.rpcUrl
    },
    queue: (reference: string, amount = AMOUNT) => queueTerms({ kind: 'refund', reference, amount }),
    reward: (reference: string, amount: bigint, feePart: bigint) =>
      queueTerms({ kind: 'reward', reference, amount, feePart }),
    problemOf: async (reference: string) => (await findPayout(app, 'refund', reference))?.problem,
    received: () => balanceOf(chain.rpcUrl, PATH_USD, to),
    untilPaid: (payouts: Payouts, reference: string) =>
      expect
        .poll(async () => {
          await turn(payouts)
          return stateOf(reference)
        })
        .toBe('paid'),
    /** Past the validity of what was signed, and final. */
    passTime: () => rpc.call('anvil_mine', '0x80', '0x1'),
  }
}
