// Goal: payment channels of the dev chain do what Tempo's do for the clients of the payment library.
// Method: channels are opened by transactions as payers sign them, and settled and closed by the
// library's own calls; contracts.full.test.ts compiles the contract.
import { randomBytes } from 'node:crypto'
import { Session } from 'mppx/tempo'
import { type Account, createClient, encodeFunctionData, toHex } from 'viem'
import {
  getBlock,
  prepareTransactionRequest,
  sendRawTransactionSync,
  sendTransactionSync,
  signTransaction,
} from 'viem/actions'
import { tempo } from 'viem/chains'
import { Transaction } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { channelTransport } from '#local/devchain/channels/channelTransport.ts'
import { CHANNEL_ESCROW } from '#local/devchain/channels/escrow.ts'
import { DevRpc, hexQuantity } from '#local/devchain/DevRpc.ts'
import { accountOf, balanceOf, PATH_USD } from '../../payments/support/shop.ts'
import { startMiningDevChain } from '../../support/devchain.ts'

const { Chain, Voucher, Channel, Constants, escrowAbi } = Session.Precompile
const chainId = 1337

describe('a channel', () => {
  let chain: Awaited<ReturnType<typeof startMiningDevChain>>
  let payees = 30
  beforeAll(async () => {
    chain = await startMiningDevChain(chainId)
  })
  afterAll(() => chain?.remove())

  const clientOf = (account: Account) =>
    createClient({
      account,
      chain: { ...tempo, id: chainId },
      transport: channelTransport(new DevRpc(chain.rpcUrl)),
    })
  const payer = accountOf(3)
  /** An account that may settle for the payee, at its own cost. */
  const operator = accountOf(5)
  const stateOf = (id: `0x${string}`) => Chain.getChannelState(clientOf(payer), id)

  /** A channel with a thousand units in it. */
  async function open() {
    const payee = accountOf(payees++)
    const salt = toHex(randomBytes(32))
    const terms = { payee: payee.address, operator: operator.address, token: PATH_USD } as const
    const data = encodeFunctionData({
      abi: escrowAbi,
      functionName: 'open',
      args: [terms.payee, terms.operator, terms.token, 1_000n, salt, payer.address],
    })
    const client = clientOf(payer)
    const calls = [{ to: CHANNEL_ESCROW, data }] as const
    const prepared = await prepareTransactionRequest(client, {
      calls,
      nonceKey: 'expiring',
      feeToken: PATH_USD,
    })
    const serializedTransaction = await signTransaction(client, prepared as never)
    const signed = Transaction.deserialize(serializedTransaction as `0x76${string}`)
    const receipt = await sendRawTransactionSync(client, { serializedTransaction })
    expect(receipt.status).toBe('success')
    const expiringNonceHash = Channel.computeExpiringNonceHash(signed as never, { sender: payer.address })
    const descriptor = {
      ...terms,
      payer: payer.address,
      salt,
      authorizedSigner: payer.address,
      expiringNonceHash,
    }
    const channelId = Channel.computeId({ ...descriptor, chainId, escrow: CHANNEL_ESCROW })
    return { channelId, descriptor, payee, receipt }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  const voucherOf = ({ channelId }: Opened, amount: bigint, signer = payer) =>
    Voucher.signVoucher(
      clientOf(signer),
      signer,
      { channelId, cumulativeAmount: Constants.uint96(amount) },
      CHANNEL_ESCROW,
      chainId,
    )
  const settle = async (opened: Opened, amount: bigint, signature: `0x${string}`) => {
    const [client, total] = [clientOf(operator), Constants.uint96(amount)]
    const paidFor = { account: operator, feeToken: PATH_USD } as const
    const hash = await Chain.settleOnChain(
      client,
      opened.descriptor,
      total,
      signature,
      CHANNEL_ESCROW,
      paidFor,
    )
    await Chain.waitForSuccessfulReceipt(client, hash)
  }
  const close = (
    opened: Opened,
    { cumulative, capture, signature }: { cumulative: bigint; capture: bigint; signature: `0x${string}` },
  ) =>
    Chain.closeOnChain(
      clientOf(operator),
      opened.descriptor,
      Constants.uint96(cumulative),
      Constants.uint96(capture),
      signature,
      CHANNEL_ESCROW,
      { account: operator, feeToken: PATH_USD },
    )
  const byPayer = async (functionName: 'requestClose' | 'withdraw' | 'topUp', args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi: escrowAbi, functionName, args } as never)
    const calls = [{ to: CHANNEL_ESCROW, data }] as const
    const { timestamp } = await getBlock(clientOf(payer))
    const receipt = await sendTransactionSync(clientOf(payer), {
      calls,
      nonceKey: 'expiring',
      validBefore: Number(timestamp) + 20,
      feeToken: PATH_USD,
    })
    if (receipt.status !== 'success') throw new Error('reverted')
    return receipt
  }

  test('is opened under the id that its payer computed', async () => {
    const { channelId, descriptor, receipt } = await open()
    const event = Chain.getChannelEvent(receipt, 'ChannelOpened', channelId)
    expect(event.args).toMatchObject({ deposit: 1_000n, expiringNonceHash: descriptor.expiringNonceHash })
    expect(await stateOf(channelId)).toEqual({ settled: 0n, deposit: 1_000n, closeRequestedAt: 0 })
  })

  test('pays its payee what vouchers say, once, and gives the rest back', async () => {
    const opened = await open()
    const [first, second] = await Promise.all([voucherOf(opened, 300n), voucherOf(opened, 450n)])
    const paid = () => balanceOf(chain.rpcUrl, PATH_USD, opened.payee.address)
    await settle(opened, 300n, first)
    expect(await stateOf(opened.channelId)).toMatchObject({ settled: 300n, deposit: 1_000n })
    await expect(settle(opened, 300n, first)).rejects.toThrow()
    await expect(settle(opened, 450n, await voucherOf(opened, 450n, accountOf(4)))).rejects.toThrow()
    await expect(settle(opened, 2_000n, await voucherOf(opened, 2_000n))).rejects.toThrow()
    expect(await paid()).toBe(300n)
    const hash = await close(opened, { cumulative: 450n, capture: 400n, signature: second })
    const receipt = await Chain.waitForSuccessfulReceipt(clientOf(payer), hash)
    const closed = Chain.getChannelEvent(receipt, 'ChannelClosed', opened.channelId)
    expect(closed.args).toMatchObject({ settledToPayee: 400n, refundedToPayer: 600n })
    expect([await paid(), (await stateOf(opened.channelId)).deposit]).toEqual([400n, 0n])
  })

  test('takes more from its payer alone, which also ends a request to close', async () => {
    const opened = await open()
    await byPayer('requestClose', [opened.descriptor])
    expect((await stateOf(opened.channelId)).closeRequestedAt).toBeGreaterThan(0)
    await byPayer('topUp', [opened.descriptor, 500n])
    expect(await stateOf(opened.channelId)).toEqual({ settled: 0n, deposit: 1_500n, closeRequestedAt: 0 })
    await expect(byPayer('withdraw', [opened.descriptor])).rejects.toThrow()
  })

  test('is given back to its payer 15 minutes after it asked, less what was settled', async () => {
    const opened = await open()
    await settle(opened, 250n, await voucherOf(opened, 250n))
    await byPayer('requestClose', [opened.descriptor])
    await expect(byPayer('withdraw', [opened.descriptor])).rejects.toThrow()
    await new DevRpc(chain.rpcUrl).call('anvil_mine', '0x2', hexQuantity(15 * 60))
    const receipt = await byPayer('withdraw', [opened.descriptor])
    const closed = Chain.getChannelEvent(receipt, 'ChannelClosed', opened.channelId)
    expect(closed.args).toMatchObject({ settledToPayee: 250n, refundedToPayer: 750n })
  })
})
