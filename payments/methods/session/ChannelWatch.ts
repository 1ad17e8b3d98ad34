/**
 * Channels that nobody pays from. The payment library learns that a payer asks its channel back only
 * from the next voucher, which need not come; what was read is then lost a quarter of an hour later.
 * So the chain is asked, and what is owed is taken in time. A channel that lies idle, or has much
 * that is not paid out, is settled too: what can be lost is bounded.
 */
import { Session } from 'mppx/tempo'
import { createClient, type Transport } from 'viem'
import { getBlockNumber, getContractEvents } from 'viem/actions'
import { tempo as tempoChain } from 'viem/chains'
import { failure, messageOf } from '#errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import { nameCapture } from '#rows/payments/captures.ts'
import { type Channel, takeToLookAt, updateChannel, type WatchedChannel } from '#rows/payments/channels.ts'
import { removeOldMarks } from '#rows/payments/marks.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Sponsor } from '../../chain/Sponsor.ts'

const { Chain, Constants, escrowAbi } = Session.Precompile

export interface ChannelWatchOptions {
  readonly app: AppDatabase
  readonly chainId: number
  readonly sponsor: Sponsor
  readonly transport: Transport
  /** Paid out from then on, in the smallest unit of a currency; null for a currency that is not taken. */
  readonly unsettledMax: (currency: string) => bigint | null
  readonly clock: Clock
  readonly log: Logger
}

/** A payer that asks its channel back waits for 15 minutes. */
const LOOK_MS = 60_000
const LOOKED_AT_MAX = 100
/** A channel that is not used so long is closed: its payer gets the rest of its deposit. */
const IDLE_MS = 24 * 3_600_000
/** Longer than a transaction of ours can be mined, in blocks. */
const SEARCHED_BLOCKS = 10_000n

export class ChannelWatch {
  readonly #options: ChannelWatchOptions
  readonly #client: ReturnType<typeof openClient>
  readonly #problems = new Map<string, string>()

  constructor(options: ChannelWatchOptions) {
    this.#options = options
    this.#client = openClient(options)
  }

  /** Why channels cannot be settled, in words; null where they can. */
  get problem(): string | null {
    const [first] = this.#problems
    if (!first) return null
    const [id, problem] = first
    return `${this.#problems.size} payment channels cannot be settled; ${id}: ${problem}`
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'payment channels could not be looked at' }
    await repeat({ clock, signal, failed }, async () => {
      await this.look(LOOK_MS)
      await removeOldMarks(this.#options.app)
      return LOOK_MS
    })
  }

  /** One look at each that was not looked at for so long. */
  async look(unseenMs: number): Promise<void> {
    const { app, log } = this.#options
    const channels = await takeToLookAt(app, { unseenMs, limit: LOOKED_AT_MAX })
    for (const channel of channels) {
      try {
        await this.#lookAt(channel)
        this.#problems.delete(channel.id)
      } catch (error) {
        const problem = messageOf(error).split('\n')[0] ?? ''
        this.#problems.set(channel.id, problem)
        log.error({ channel: channel.id, problem }, 'a payment channel could not be settled')
      }
    }
  }

  async #lookAt(channel: WatchedChannel): Promise<void> {
    const { log, unsettledMax } = this.#options
    const state = await Chain.getChannelState(this.#client, channel.id, channel.escrow)
    if (state.deposit === 0n) return this.#noteClosed(channel)
    // A closing of ours that failed is one too.
    const isAskedBack = state.closeRequestedAt !== 0 || channel.closeRequestedAt !== 0n
    const owed = channel.spent - state.settled
    const most = unsettledMax(channel.descriptor.token)
    if (isAskedBack) log.warn({ channel: channel.id }, 'a payment channel is asked back')
    if (isAskedBack || channel.idleMs >= IDLE_MS) return this.#close(channel, state.settled)
    // A voucher for more than was read would take too much: only closing takes less than it says.
    if (owed > 0n && (most === null || owed >= most))
      return channel.accepted === channel.spent ? this.#settle(channel) : this.#close(channel, state.settled)
    return undefined
  }

  /** Takes what was read, no more, and gives the rest of the deposit back. */
  async #close({ id }: Channel, settled: bigint): Promise<void> {
    const { app, clock, sponsor } = this.#options
    // From now on no voucher is taken: what is captured is what was spent.
    const closing = await updateChannel(app, id, (current) => {
      if (!current) throw new TypeError('a channel that is watched has a row')
      const closeRequestedAt = current.closeRequestedAt || BigInt(Math.floor(clock.now() / 1_000))
      const kept = { ...current, closeRequestedAt }
      return { kept, result: kept }
    })
    const { descriptor, accepted, spent, signature, escrow } = closing
    const capture = larger(spent, settled)
    const txHash = await Chain.closeOnChain(
      this.#client,
      descriptor,
      Constants.uint96(larger(accepted, capture)),
      Constants.uint96(capture),
      signature ?? '0x',
      escrow,
      { account: sponsor.account, feeToken: descriptor.token },
    )
    const receipt = await Chain.waitForSuccessfulReceipt(this.#client, txHash)
    const { settledToPayee } = Chain.readChannelClosedReceiptFields(
      Chain.getChannelEvent(receipt, 'ChannelClosed', id),
    )
    await this.#noteSettled(closing, { settled: settledToPayee, txHash, isClosed: true })
  }

  async #settle(channel: Channel): Promise<void> {
    const { descriptor, accepted, signature, escrow, id } = channel
    if (signature === null) return
    const paidBy = { account: this.#options.sponsor.account, feeToken: descriptor.token }
    const total = Constants.uint96(accepted)
    const txHash = await Chain.settleOnChain(this.#client, descriptor, total, signature, escrow, paidBy)
    const receipt = await Chain.waitForSuccessfulReceipt(this.#client, txHash)
    const { newSettled } = Chain.readSettledReceiptFields(Chain.getChannelEvent(receipt, 'Settled', id))
    await this.#noteSettled(channel, { settled: newSettled, txHash, isClosed: false })
  }

  /** It was closed by a transaction whose outcome nobody kept, or its payer has taken it back. */
  async #noteClosed(channel: Channel): Promise<void> {
    const head = await getBlockNumber(this.#client)
    const [closed] = await getContractEvents(this.#client, {
      ...{ abi: escrowAbi, address: channel.escrow, eventName: 'ChannelClosed' },
      args: { channelId: channel.id },
      fromBlock: head > SEARCHED_BLOCKS ? head - SEARCHED_BLOCKS : 0n,
    })
    if (!closed) throw new ClosingUnknownError('it is closed, and no block of late says by what')
    const settled = closed.args.settledToPayee ?? 0n
    const lost = channel.spent - settled
    if (lost > 0n)
      this.#options.log.error(
        { channel: channel.id, lost: `${lost}` },
        'a payer took its payment channel back before it was settled',
      )
    await this.#noteSettled(channel, { settled, txHash: closed.transactionHash, isClosed: true })
  }

  async #noteSettled(
    { id }: Channel,
    noted: { readonly settled: bigint; readonly txHash: string; readonly isClosed: boolean },
  ): Promise<void> {
    const { app, log } = this.#options
    const { settled, txHash, isClosed } = noted
    await updateChannel(app, id, (current) => ({
      ...(current && {
        kept: {
          ...current,
          settled: larger(settled, current.settled),
          ...(isClosed && { isClosed, deposit: 0n }),
        },
      }),
      result: undefined,
    }))
    await nameCapture(app, { id, settled, txHash })
    log.info({ channel: id, settled: `${settled}`, isClosed }, 'a payment channel was settled')
  }
}

/** A channel is closed, and the blocks that were searched do not have the transaction. */
class ClosingUnknownError extends failure('ClosingUnknownError', 'channel_closing_unknown', 'stop') {}

const openClient = ({ chainId, sponsor, transport }: ChannelWatchOptions) =>
  createClient({
    ...{ account: sponsor.account, chain: { ...tempoChain, id: chainId } },
    transport: sponsor.limiting(transport),
  })

function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one
  return other
}
