/** The way to be paid by x402 on the second chain. */
import { http, type Transport } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect } from 'vitest'
import { Sends } from '#payments/methods/Sends.ts'
import type { Facilitator } from '#payments/methods/x402/Facilitator.ts'
import { LocalFacilitator } from '#payments/methods/x402/LocalFacilitator.ts'
import { pendingSettlements } from '#payments/methods/x402/pendingSettlements.ts'
import { TokenChain } from '#payments/methods/x402/TokenChain.ts'
import { X402ExactMethod } from '#payments/methods/x402/X402ExactMethod.ts'
import { X402Offer } from '#payments/methods/x402/X402Offer.ts'
import type { AppDatabase } from '#rows/database.ts'
import { feesLeft, inTurnOf } from '#rows/payments/fees.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { DOLLAR as asset, SECOND_CHAIN as chainId, lower } from './secondChain.ts'

const { clock } = systemRuntime()

interface Place {
  readonly app: AppDatabase
  readonly rpcUrl: string
}

/** The account of a key, for its fees. @param perDay wei that it spends in a day */
export const feeAccount = (key: `0x${string}`, perDay: bigint) => ({
  ...{ chainId, address: lower(privateKeyToAddress(key)), perDay },
})

/** Settles by the key, in this process. */
export function localFacilitator({
  app,
  rpcUrl,
  key,
  perDay,
}: Place & { readonly key: `0x${string}`; readonly perDay: bigint }): LocalFacilitator {
  const account = feeAccount(key, perDay)
  return new LocalFacilitator({
    ...{ chainId, key, transport: http(rpcUrl) },
    fees: { inTurn: (work) => inTurnOf(app, account, work), left: () => feesLeft(app, account) },
    pending: pendingSettlements(app),
  })
}

interface Selling extends Place {
  readonly facilitator: Facilitator
  readonly recipient: `0x${string}`
  readonly transport?: Transport
}

export const x402Method = async (selling: Selling): Promise<X402ExactMethod> =>
  (await x402Parts(selling)).method

/** The method, and the offer that it goes by. */
export async function x402Parts({
  app,
  rpcUrl,
  facilitator,
  recipient,
  transport = http(rpcUrl),
}: Selling): Promise<{ readonly method: X402ExactMethod; readonly offer: X402Offer }> {
  const chain = new TokenChain({ chainId, asset, transport })
  const sends = new Sends(clock)
  const offer = new X402Offer({ chainId, recipient, chain, facilitator, sends, clock })
  await offer.check()
  expect(offer.problems).toEqual([])
  const method = new X402ExactMethod({
    ...{ origin: 'https://shop.example', chainId, asset, recipient },
    ...{ token: offer.token, known: offer.known, chain, facilitator, sends, clock },
    pending: pendingSettlements(app),
  })
  return { method, offer }
}
