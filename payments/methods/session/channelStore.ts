/** The payment library's store over our rows: channels by their id, and what else it remembers. */
import type { Store } from 'mppx/server'
import type { Session } from 'mppx/tempo'
import { isRecord, lowercased } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type Channel, findChannel, updateChannel } from '#rows/payments/channels.ts'
import { readMark, removeMark, updateMark, writeMark } from '#rows/payments/marks.ts'

export type ChannelStore = Session.Server.ResolveSessionChannelIdParameters['store']
type ChannelState = NonNullable<Awaited<ReturnType<ChannelStore['getChannel']>>>

/** As the library's channel methods take it. @param identity of the payment that is spent for */
export function channelStore(app: AppDatabase, identity?: string): ChannelStore {
  const update = <Result>(id: string, decide: Decide<Result>) => updateState(app, id, decide, identity)
  return {
    getChannel: async (id) => {
      const found = await findChannel(app, id)
      return found && stateOf(found)
    },
    updateChannel: (id, change) =>
      update(id, (current) => {
        const next = change(current)
        return next ? { op: 'set', value: next, result: next } : { op: 'noop', result: null }
      }),
    updateChannelResult: update,
  }
}

/** As the library takes it for all that it remembers. */
export function paymentStore(app: AppDatabase): Store.AtomicStore {
  const { getChannel } = channelStore(app)
  return {
    get: (key) => (isChannelId(key) ? getChannel(key) : readMark(app, key)),
    put: (key, value) => writeMark(app, key, value),
    delete: (key) => removeMark(app, key),
    update: (key, decide) =>
      isChannelId(key) ? updateState(app, key, decide) : updateMark(app, key, decide),
  }
}

type Decide<Result> = (current: ChannelState | null) => Store.Change<unknown, Result>

const updateState = <Result>(app: AppDatabase, id: string, decide: Decide<Result>, identity?: string) =>
  updateChannel(
    app,
    id,
    (current) => {
      const change = decide(current && stateOf(current))
      const { result } = change
      // A channel that is over is kept: its books are open for good.
      return change.op === 'set' ? { kept: channelOf(change.value), result } : { result }
    },
    identity,
  )

const isChannelState = (value: unknown): value is Extract<ChannelState, { backend: 'precompile' }> =>
  isRecord(value) && value['backend'] === 'precompile'

const isChannelId = (key: string): key is `0x${string}` => /^0x[0-9a-f]{64}$/i.test(key)

const stateOf = (channel: Channel): ChannelState => ({
  backend: 'precompile',
  ...{ channelId: channel.id, chainId: channel.chainId, escrowContract: channel.escrow },
  ...{ descriptor: channel.descriptor, expiringNonceHash: channel.descriptor.expiringNonceHash },
  ...{ payer: channel.descriptor.payer, payee: channel.descriptor.payee },
  ...{ operator: channel.descriptor.operator, token: channel.descriptor.token },
  salt: channel.descriptor.salt,
  authorizedSigner: channel.signer,
  deposit: channel.deposit,
  highestVoucherAmount: channel.accepted,
  highestVoucher: channel.signature && {
    channelId: channel.id,
    cumulativeAmount: channel.accepted,
    signature: channel.signature,
  },
  spent: channel.spent,
  settledOnChain: channel.settled,
  units: channel.units,
  closeRequestedAt: channel.closeRequestedAt,
  finalized: channel.isClosed,
  createdAt: channel.openedAt.toISOString(),
})

function channelOf(state: unknown): Channel {
  if (!isChannelState(state)) throw new TypeError('a channel of another kind')
  const { descriptor } = state
  return {
    id: lowercased(state.channelId),
    chainId: state.chainId,
    escrow: lowercased(state.escrowContract),
    descriptor: {
      payer: lowercased(descriptor.payer),
      payee: lowercased(descriptor.payee),
      operator: lowercased(descriptor.operator),
      token: lowercased(descriptor.token),
      salt: lowercased(descriptor.salt),
      authorizedSigner: lowercased(descriptor.authorizedSigner),
      expiringNonceHash: lowercased(descriptor.expiringNonceHash),
    },
    signer: lowercased(state.authorizedSigner),
    deposit: state.deposit,
    accepted: state.highestVoucherAmount,
    signature: state.highestVoucher && lowercased(state.highestVoucher.signature),
    spent: state.spent,
    settled: state.settledOnChain,
    units: state.units,
    closeRequestedAt: state.closeRequestedAt,
    isClosed: state.finalized,
    openedAt: new Date(state.createdAt),
  }
}
