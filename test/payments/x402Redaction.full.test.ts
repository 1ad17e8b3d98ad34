// Goal: no authorization, receipt or key of x402 is in a line of the log at any level, in an answer to
// another, or in a row (PAY-12).
// Method: at the level `trace`, over nodes that are up, gone, or repeat what they were sent; each text
// and row is searched for each secret.
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { http } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sends } from '#payments/methods/Sends.ts'
import { LocalFacilitator } from '#payments/methods/x402/LocalFacilitator.ts'
import { pendingSettlements } from '#payments/methods/x402/pendingSettlements.ts'
import { TokenChain } from '#payments/methods/x402/TokenChain.ts'
import { X402ExactMethod } from '#payments/methods/x402/X402ExactMethod.ts'
import { X402Offer } from '#payments/methods/x402/X402Offer.ts'
import { feesLeft, inTurnOf } from '#rows/payments/fees.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { createLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'
import {
  DOLLAR,
  lower,
  SECOND_CHAIN,
  type SecondChain,
  startSecondChain,
  x402Payer,
} from './support/secondChain.ts'
import { assertKept, startOddNode } from './support/secrecy.ts'
import { accountOf, openShop, type Shop } from './support/shop.ts'

const { app } = await openAppStore()
const { clock } = systemRuntime()
const lines: string[] = []
const log = createLogger('trace', { write: (line) => lines.push(line) })
let chain: SecondChain
let node: Awaited<ReturnType<typeof startOddNode>>
let key: `0x${string}`
let shop: Shop
beforeAll(async () => {
  chain = await startSecondChain()
  node = await startOddNode(chain.rpcUrl)
  key = await chain.feePayer()
  const recipient = lower(accountOf(60).address)
  const transport = http(node.rpcUrl, { retryCount: 0 })
  const asset = DOLLAR
  const account = { chainId: SECOND_CHAIN, address: lower(privateKeyToAddress(key)), perDay: 10n ** 17n }
  const facilitator = new LocalFacilitator({
    ...{ chainId: SECOND_CHAIN, key, transport, pending: pendingSettlements(app) },
    fees: { inTurn: (work) => inTurnOf(app, account, work), left: () => feesLeft(app, account) },
  })
  const tokens = new TokenChain({ chainId: SECOND_CHAIN, asset, transport })
  const sends = new Sends(clock)
  const offer = new X402Offer({
    ...{ chainId: SECOND_CHAIN, recipient, chain: tokens, facilitator, sends, clock },
  })
  await offer.check()
  const x402 = new X402ExactMethod({
    ...{ origin: 'https://shop.example', chainId: SECOND_CHAIN, asset, recipient, clock },
    ...{ token: offer.token, known: offer.known, chain: tokens, facilitator },
    pending: pendingSettlements(app),
  })
  shop = await openShop({
    ...{ app, rpcUrl: node.rpcUrl, chainId: SECOND_CHAIN, recipient, log },
    methods: () => [x402],
  })
})
afterAll(async () => {
  await shop?.close()
  node?.close()
  await chain?.stop()
})

const send = async (path: string, credential: string) => {
  const answer = await fetch(`${shop.origin}${path}`, { headers: { 'payment-signature': credential } })
  return { status: answer.status, text: await answer.text() }
}

test.each(['up', 'gone', 'loud'] as const)('at a node that is %s', async (state) => {
  lines.length = 0
  const payer = x402Payer(await chain.payer())
  const credential = await payer.credentialFor(`${shop.origin}/read`)
  const { payload } = decodePaymentSignatureHeader(credential)
  node.wire.state = state
  const answers = [
    await send('/read', `${credential}AAAA`),
    await send('/read', credential),
    await send('/read', credential),
    await send('/other', credential),
    await send('/nowhere', credential),
  ]
  node.wire.state = 'up'
  await shop.payments.reconcile()
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(state === 'up' ? 1 : 0)
  const secrets = [credential, String(payload['signature']), key]
  const texts = answers.map(({ text }) => text)
  await assertKept(app, secrets, [...lines, ...texts])
})
