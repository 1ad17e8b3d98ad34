// Goal: a charge, or an opening of a channel, that no node took costs its payer no wait: it is challenged
// anew at once, and told why. Whatever may have arrived is no failure (PAY-05). What cannot settle is
// not offered, and so many refusals a minute of one caller are looked at.
// Method: a server over Postgres and a dev chain, before whose node stand nodes that refuse what is
// sent, or say so.
import { randomBytes, randomUUID } from 'node:crypto'
import { createClient, fallback, http, type Transport } from 'viem'
import { tempo } from 'viem/chains'
import { Actions } from 'viem/tempo'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { channelTransport } from '#local/devchain/channels/channelTransport.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { countingRefusals } from '#payments/chain/sendCounted.ts'
import { Offers } from '#payments/methods/charge/Offers.ts'
import { recheck } from '#payments/methods/recheck.ts'
import { Sends } from '#payments/methods/Sends.ts'
import { lowercased } from '#primitives.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { answeringSends, poor, SENDS, slow, type Told, told } from './support/answeringSends.ts'
import { hasty } from './support/hasty.ts'
import { countedOf, countingNode, withinAMinute } from './support/refused.ts'
import { type Order, startOddNode } from './support/secrecy.ts'
import { openSession, sessionsOf } from './support/sessions.ts'
import { accountOf, balanceOf, chargesOf, openShop, PATH_USD, PRICE, payer } from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let payees = 80
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(() => {
  recipient = `0x${accountOf(payees++).address.slice(2).toLowerCase()}`
})

const answering = (answer: Told, takes = false, inner: Transport = http(chain.rpcUrl)) =>
  answeringSends(answer, takes, inner)

/** The answer to a payer by a server before these nodes, and all that was paid by then. */
async function paidAt(nodes: readonly Transport[]) {
  const options = { app, rpcUrl: chain.rpcUrl, chainId, recipient, key }
  const transport = fallback(nodes.map(countingRefusals), { retryCount: 0 })
  const shop = await openShop({ ...options, methods: () => [chargesOf(options, key, transport)] })
  const client = payer(accountOf(1), options)
  const authorization = await client.createCredential(await client.rawFetch(`${shop.origin}/read`))
  const caller = randomUUID()
  const answer = await fetch(`${shop.origin}/read`, { headers: { authorization, 'x-caller': caller } })
  const kept = await keptFor()
  await shop.close()
  return {
    ...{ status: answer.status, isChallenged: answer.headers.has('www-authenticate') },
    states: kept.map(({ state }) => state),
    received: await balanceOf(chain.rpcUrl, PATH_USD, recipient),
    counted: await countedOf(app, caller),
  }
}

const keptFor = async () =>
  (await listPayments(app, 100)).filter((payment) => payment.recipient === recipient)

const anew = { status: 402, isChallenged: true, states: [], received: 0n, counted: 1 }
const pending = { status: 503, isChallenged: false, states: ['sending'], received: 0n, counted: 0 }

test.each([
  ['the payer has too little', poor],
  ['a nonce was used', told(-32_000, 'nonce too low: next nonce 5, tx nonce 3')],
  ['it is rejected', told(-32_003, 'transaction underpriced')],
  ['there is no such method', told(-32_601, 'the method eth_sendRawTransactionSync does not exist')],
])('where %s, the payer is challenged anew and nothing is kept', async (_, answer) => {
  expect(await paidAt([answering(answer)])).toEqual(anew)
  expect(await paidAt([answering(answer), answering(poor)])).toEqual(anew)
})

test.each([
  ['was too slow', slow],
  ['says nothing of it', told(-32_603, 'internal error')],
])('a charge to a node that %s may have arrived', async (_, answer) => {
  expect(await paidAt([answering(answer)])).toEqual(pending)
})

test('a refusal says nothing of the node before it, which was too slow', async () => {
  expect(await paidAt([answering(slow), answering(poor)])).toEqual(pending)
})

test('a charge that was refused in words and taken is settled', async () => {
  expect(await paidAt([answering(poor, true)])).toEqual({
    ...{ status: 200, isChallenged: false, states: ['settled'], received: PRICE, counted: 0 },
  })
})

describe('an opening of a channel', () => {
  interface Opening {
    readonly node?: Transport
    readonly isSponsored?: boolean
    /** That of its payer's account. */
    readonly index?: number
    /** Done once it is signed. */
    readonly signed?: () => Promise<unknown>
    readonly method?: 'GET' | 'POST'
  }

  /** The answer to its payer by a server before such a node. */
  async function opened({ node = channels(), isSponsored = true, index = 2, ...opening }: Opening) {
    const options = { app, rpcUrl: chain.rpcUrl, chainId, recipient, key }
    const account = accountOf(7)
    const sponsor = new Sponsor({ app, chainId, account, limit: 10n ** 9n, isFunded: () => isSponsored })
    const transport = countingRefusals(node)
    const methods = () => [sessionsOf({ ...options, sponsor, transport }, key)]
    const shop = await openShop({ ...options, methods })
    const { nextVoucher, sent } = openSession(index, options)
    await nextVoucher(`${shop.origin}/read`)
    await opening.signed?.()
    const authorization = sent.at(-1)?.headers.get('authorization') ?? ''
    const caller = randomUUID()
    const { method = 'GET' } = opening
    const headers = { authorization, 'x-caller': caller }
    const answer = await fetch(`${shop.origin}/read`, { method, headers })
    const { detail } = Object(await answer.json())
    const states = (await keptFor()).map(({ state }) => state)
    await shop.close()
    return { status: answer.status, detail, states, counted: await countedOf(app, caller) }
  }
  const channels = () => channelTransport(new DevRpc(chain.rpcUrl))
  const tooLittle = expect.stringMatching(/the chain refuses the transaction: its account has too little/)

  test.each([
    ['a sponsor pays the fee', true],
    ['the payer pays its fee', false],
  ])('that the node refuses costs no wait, and is told why: %s', async (_, isSponsored) => {
    const node = answering(poor, false, channels())
    const told = await opened({ node, isSponsored })
    expect(told).toEqual({ status: 402, detail: tooLittle, states: [], counted: 1 })
  })

  test('whose payer has spent the money meanwhile costs no wait', async () => {
    const [index, rich] = [5_010, accountOf(3)]
    const account = accountOf(index)
    const move = (from: typeof account, to: `0x${string}`, amount: bigint) => {
      const transport = http(chain.rpcUrl)
      const on = { account: from, chain: { ...tempo, id: chainId }, transport, pollingInterval: 100 }
      return Actions.token.transferSync(createClient(on), {
        ...{ token: PATH_USD, feeToken: PATH_USD },
        ...{ to, amount },
      })
    }
    await move(rich, account.address, 2_000_000n)
    const told = await opened({ index, signed: () => move(account, rich.address, 1_700_000n) })
    expect(told).toMatchObject({ status: 402, detail: expect.stringMatching(/reverted/), states: [] })
  })

  test('to a node that was too slow may be on its way', async () => {
    const node = answering(slow, false, channels())
    expect(await opened({ node })).toMatchObject({ status: 503, states: ['sending'], counted: 0 })
    expect(await opened({ node, method: 'POST', index: 3 })).toMatchObject({ status: 503 })
  })

  test('by itself, that the node refuses, is told why', async () => {
    const node = answering(poor, false, channels())
    expect(await opened({ node, method: 'POST', index: 4 })).toMatchObject({ status: 402, detail: tooLittle })
  })
})

describe('a caller of whom sixty payments were refused within a minute', () => {
  const openCounted = async () => {
    const options = { app, rpcUrl: chain.rpcUrl, chainId, recipient, key }
    const node = countingNode(chain.rpcUrl)
    const shop = await openShop({ ...options, methods: () => [chargesOf(options, key, node.transport)] })
    onTestFinished(() => shop.close())
    const client = payer(accountOf(1), options)
    const credential = async () => client.createCredential(await client.rawFetch(`${shop.origin}/read`))
    const send = async (caller: string, authorization: string) =>
      (await fetch(`${shop.origin}/read`, { headers: { authorization, 'x-caller': caller } })).status
    return { node, credential, send }
  }

  test('has to wait with a paid read, and no node is asked; others have not', async () => {
    const { node, credential, send } = await openCounted()
    const told = await withinAMinute(async () => {
      const [caller, good] = [randomUUID(), await credential()]
      const refused = new Set<number>()
      for (let sent = 0; sent < 60; sent++) refused.add(await send(caller, 'Payment e30'))
      const before = node.calls
      const own = await send(caller, good)
      return { refused, own, asked: node.calls - before, others: await send(randomUUID(), good) }
    })
    expect(told).toEqual({ refused: new Set([402]), own: 429, asked: 0, others: 200 })
  })

  test('has no more refused where all come at once', async () => {
    const { send } = await openCounted()
    const told = await withinAMinute(async () => {
      const caller = randomUUID()
      return Promise.all(Array.from({ length: 100 }, () => send(caller, 'Payment e30')))
    })
    const count = (status: number) => told.filter((one) => one === status).length
    expect([count(402), count(429)]).toEqual([60, 40])
  })
})

describe('what cannot settle', () => {
  /** A shop that offers what its node confirms: looks hasten, and the pause of sends ends by `endPause`. */
  const openOffering = async (currencies: readonly `0x${string}`[] = [PATH_USD]) => {
    const node = await startOddNode(chain.rpcUrl)
    let pausedMs = 0
    const sends = new Sends({ monotonic: () => pausedMs })
    const looking = http(node.rpcUrl, { retryCount: 0 })
    const offers = new Offers({ chainId, recipient, currencies, nodes: [looking], sends })
    await offers.check()
    const options = { app, rpcUrl: chain.rpcUrl, chainId, recipient, key }
    const shop = await openShop({
      ...options,
      methods: () => [
        chargesOf(options, key, countingRefusals(looking), { currencies: offers.current, sends }),
      ],
    })
    const ending = new AbortController()
    const watching = recheck(offers, hasty, ending.signal)
    onTestFinished(async () => {
      ending.abort()
      await watching
      await shop.close()
      node.close()
    })
    const status = async () => (await fetch(`${shop.origin}/read`)).status
    const endPause = () => {
      pausedMs += 30_000
    }
    return { node, offers, shop, status, endPause, client: payer(accountOf(1), options) }
  }
  const missing: Order = (method) =>
    method === 'eth_sendRawTransactionSync' ? told(-32_601, 'there is no such method') : null

  test.each([
    ['a node that is away', (): 'gone' => 'gone', /cannot settle/],
    ['a node that cannot send', missing, /does not know eth_sendRawTransactionSync/],
  ] as const)('by %s is not offered until it is well again', async (_, order, problem) => {
    const { node, offers, status } = await openOffering()
    expect(await status()).toBe(402)
    node.wire.order = order
    await expect.poll(status).toBe(429)
    expect(offers.problems.join()).toMatch(problem)
    node.wire.order = () => null
    await expect.poll(status).toBe(402)
    expect(offers.problems).toEqual([])
  })

  test('as the node answers looks and takes nothing that is sent is not offered for a while', async () => {
    const { node, offers, shop, status, endPause, client } = await openOffering()
    const credentials: string[] = []
    for (const _ of [1, 2, 3])
      credentials.push(await client.createCredential(await client.rawFetch(`${shop.origin}/read`)))
    node.wire.order = (method) => (SENDS.has(method) ? 'gone' : null)
    for (const authorization of credentials)
      expect((await fetch(`${shop.origin}/read`, { headers: { authorization } })).status).toBe(503)
    await expect.poll(status).toBe(429)
    node.wire.order = () => null
    endPause()
    await expect.poll(status).toBe(402)
    expect(offers.problems).toEqual([])
  })

  test('in a token of another currency, or one that its payee may not have, is not offered', async () => {
    const account = accountOf(0)
    const client = createClient({
      ...{ account, chain: { ...tempo, id: chainId }, transport: http(chain.rpcUrl), pollingInterval: 100 },
    })
    const issue = async (currency: string) =>
      (await Actions.token.createSync(client, { currency, name: currency, symbol: currency })).token
    const [euro, dollar] = [lowercased(await issue('EUR')), lowercased(await issue('USD'))]
    const { policyId } = await Actions.policy.createSync(client, {
      type: 'blacklist',
      addresses: [recipient],
    })
    await Actions.token.changeTransferPolicySync(client, { token: dollar, policyId })
    const { offers } = await openOffering([PATH_USD, euro, dollar, recipient])
    expect(offers.current()).toEqual([{ address: PATH_USD, decimals: 6 }])
    expect(offers.problems).toEqual([
      expect.stringContaining('its currency is EUR, not USD'),
      expect.stringContaining(`${recipient} cannot receive it`),
      expect.stringContaining('it is no token of chain'),
    ])
    await Actions.policy.modifyBlacklistSync(client, { policyId, address: recipient, restricted: false })
    await expect.poll(() => offers.current().map(({ address }) => address)).toEqual([PATH_USD, dollar])
  })
})
