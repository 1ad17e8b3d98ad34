// Goal: what was read by vouchers is taken in time, and no more than that, whatever its payer does.
// Method: channels of the library's client on a dev chain; the watch looks when it is told to.
import { randomBytes } from 'node:crypto'
import { Session } from 'mppx/tempo'
import { createClient } from 'viem'
import { tempo } from 'viem/chains'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { channelTransport } from '#local/devchain/channels/channelTransport.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { ChannelWatch } from '#payments/methods/session/ChannelWatch.ts'
import { listCaptures } from '#rows/payments/captures.ts'
import { findChannel } from '#rows/payments/channels.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'
import { clock, startMiningDevChain } from '../support/devchain.ts'
import { openSession, sessionsOf } from './support/sessions.ts'
import { accountOf, balanceOf, openShop, PATH_USD, PRICE, type Shop } from './support/shop.ts'

const { Chain } = Session.Precompile
const chainId = 1337
const { app } = await openAppStore()
const sponsor = new Sponsor({ app, chainId, account: accountOf(7), limit: 10_000_000n })
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let shop: Shop
let payees = 80
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  const { address } = accountOf(payees++)
  recipient = `0x${address.slice(2).toLowerCase()}`
  const key = randomBytes(32)
  const selling = { app, rpcUrl: chain.rpcUrl, chainId, recipient }
  shop = await openShop({
    ...{ ...selling, key },
    methods: (charges) => [charges, sessionsOf({ ...selling, sponsor }, key)],
  })
  return () => shop.close()
})

const transport = () => channelTransport(new DevRpc(chain.rpcUrl))
const watchOf = (unsettledMax = 1_000_000n) =>
  new ChannelWatch({
    ...{ app, chainId, sponsor, transport: transport(), clock, log: silentLogger },
    unsettledMax: () => unsettledMax,
  })
const received = () => balanceOf(chain.rpcUrl, PATH_USD, recipient)

/** A payer that has read so often. */
async function readBy(index: number, times: number) {
  const payer = openSession(index, { rpcUrl: chain.rpcUrl, chainId })
  for (let read = 0; read < times; read++) expect((await payer.read(`${shop.origin}/read`)).status).toBe(200)
  const id = payer.manager.channelId ?? '0x'
  const rowOf = () => findChannel(app, id)
  const owedBy = async () =>
    (await readBalances(app)).find(({ account }) => account === `channel:${id}`)?.amount
  const account = accountOf(index)
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: transport() })
  const askBack = async () => {
    const row = await rowOf()
    if (!row) throw new Error('the channel has a row')
    const hash = await Chain.requestCloseOnChain(client, row.descriptor, row.escrow, {
      ...{ account, feeToken: PATH_USD },
    })
    await Chain.waitForSuccessfulReceipt(client, hash)
  }
  return { ...payer, id, rowOf, owedBy, askBack }
}

describe('a channel', () => {
  test('that its payer asks back is closed for what was read, and its deposit goes home', async () => {
    const payer = await readBy(1, 3)
    expect(await payer.owedBy()).toBe(-3n * PRICE)
    await payer.askBack()
    const watch = watchOf()
    await watch.look(0)
    expect([await received(), watch.problem]).toEqual([3n * PRICE, null])
    expect(await payer.rowOf()).toMatchObject({ isClosed: true, settled: 3n * PRICE, spent: 3n * PRICE })
    expect(await payer.owedBy()).toBe(0n)
    const captures = await listCaptures(app, chainId, null, 1_000)
    const [capture] = captures.filter(({ channelId }) => channelId === payer.id)
    expect(capture).toMatchObject({ amount: 3n * PRICE, recipient, currency: PATH_USD })
    // Its next voucher is told that the channel is gone.
    const voucher = await payer.nextVoucher(`${shop.origin}/read`)
    expect((await voucher(`${shop.origin}/read`)).status).toBe(410)
  })

  test('with much that is not paid out is settled, and goes on', async () => {
    const payer = await readBy(2, 2)
    await watchOf(2n * PRICE).look(0)
    expect([await received(), await payer.owedBy()]).toEqual([2n * PRICE, 0n])
    expect(await payer.rowOf()).toMatchObject({ isClosed: false, settled: 2n * PRICE })
    expect((await payer.read(`${shop.origin}/read`)).status).toBe(200)
    await watchOf(2n * PRICE).look(0)
    expect([await received(), await payer.owedBy()]).toEqual([2n * PRICE, -PRICE])
  })

  test('that lies idle for a day is closed', async () => {
    const payer = await readBy(3, 1)
    await app
      .updateTable('app.channels')
      .set({ used_at: new Date(Date.now() - 25 * 3_600_000) })
      .where('id', '=', Buffer.from(payer.id.slice(2), 'hex'))
      .execute()
    await watchOf().look(0)
    expect([await received(), (await payer.rowOf())?.isClosed]).toEqual([PRICE, true])
  })

  test('whose closing nobody kept is found on the chain', async () => {
    const payer = await readBy(4, 2)
    const before = await payer.rowOf()
    await payer.manager.close()
    // A process that was killed between the transaction and its row.
    await app
      .updateTable('app.channels')
      .set({ is_closed: false, settled: 0n, deposit: before?.deposit ?? 0n })
      .where('id', '=', Buffer.from(payer.id.slice(2), 'hex'))
      .execute()
    await app
      .deleteFrom('app.channel_captures')
      .where('channel_id', '=', Buffer.from(payer.id.slice(2), 'hex'))
      .execute()
    await app.deleteFrom('app.ledger_entries').where('transaction_id', 'like', `${payer.id}:%`).execute()
    await watchOf().look(0)
    expect(await payer.rowOf()).toMatchObject({ isClosed: true, settled: 2n * PRICE })
    expect([await payer.owedBy(), await received()]).toEqual([0n, 2n * PRICE])
  })

  test('that cannot be settled is told of', async () => {
    const payer = await readBy(5, 1)
    await payer.askBack()
    const poor = new Sponsor({ app, chainId, account: accountOf(5_000), limit: 1n })
    const watch = new ChannelWatch({
      ...{ app, chainId, sponsor: poor, transport: transport(), clock, log: silentLogger },
      unsettledMax: () => 1n,
    })
    await watch.look(0)
    expect(watch.problem).toContain('payment channels cannot be settled')
    expect(await received()).toBe(0n)
    const able = watchOf()
    await able.look(0)
    expect(await received()).toBe(PRICE)
  })
})
