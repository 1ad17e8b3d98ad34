/**
 * Which event is which activity, with which title and data: written from the field tables, not from
 * the product.
 */

import { namedToken } from '../../support/chainApi.ts'
import { type Args, dex, feeManager, type OracleLog, reserve } from './activityEvents.ts'
import { type Movement, nativeCoin, type SwapView, swapOf, textOf, touches } from './activityMovements.ts'

export interface View extends SwapView {
  readonly isOutgoing: boolean
  readonly quoteOf: (base: string) => string | null
}

export interface Rule {
  /** The type, but of the two ways to find a transfer. */
  readonly key: string
  readonly type: string
  readonly title: string
  /** `contract.Event` it is named after; what is found in movements has none. */
  readonly event: string | null
  readonly signer: 'always' | 'outgoing' | 'never'
  find(view: View): Found | null
}

interface Found {
  readonly log: OracleLog
  readonly data: Args
}

/**
 * In the order of precedence: the first that finds something is the headline. Columns: type, title,
 * event, fields. A field is an argument's name, or `shown=argument`, `shown=token:amount` of two
 * arguments, `shown=@text`; the argument `emitter` is the log's address. No fields: told below. An
 * event after `-` names no signer.
 */
const table = `
session-closed | Session closed | reserve.CloseRequested
private-assets-deposited | Private assets deposited | router.EarnDeposit | actionId vault=earnVault inputToken inputAmount assets=vaultAssets shares=earnShares zoneDepositHash status=@completed
private-shares-redeemed | Private shares redeemed | router.EarnRedeem | actionId vault=earnVault outputToken outputAmount assets=vaultAssets shares=earnShares zoneDepositHash status=@completed
assets-deposited | Assets deposited | vault.Deposited | assets shares=earnShares caller receiver vault=emitter status=@completed
shares-deposited | Shares deposited | vault.VenueSharesDeposited | requestedVenueShares receivedEngineShares shares=earnShares caller receiver vault=emitter status=@completed
shares-redeemed | Shares redeemed | vault.Redeemed | assets shares=earnShares caller receiver vault=emitter status=@completed
assets-withdrawn | Assets withdrawn | vault.WithdrewExact | assets sharesBurned=earnSharesBurned caller receiver vault=emitter status=@completed
shares-redemption-requested | Shares redemption requested | vault.RedeemRequested | requestId shares=earnShares requester receiver vault=emitter status=@pending
shares-redemption-finalized | Shares redemption finalized | vault.RedeemFinalized | requestId shares=earnShares asset assets receiver vault=emitter status=@completed
shares-redemption-cancelled | Shares redemption cancelled | vault.RedeemCancelled | requestId shares=earnShares receiver vault=emitter status=@cancelled
cross-token | Token transferred
swap | Tokens swapped
mint | Token minted
burn-blocked | Burn blocked
burn | Token burned
approval | Allowance approved | erc20.Approval
channel-opened | Channel opened | reserve.ChannelOpened | channelId payer payee sourceToken=token:deposit
channel-funded | Channel funded | reserve.TopUp
channel-settled | Channel settled | reserve.Settled
channel-closed | Channel closed | reserve.ChannelClosed
channel-close-cancelled | Channel close cancelled | reserve.CloseRequestCancelled | channelId payer payee
order-placed | Order placed | dex.OrderPlaced
order-cancelled | Order cancelled | dex.OrderCancelled | orderId
fee-rebalance-swap | Fees rebalanced | feeAmm.RebalanceSwap | swapper sourceToken=validatorToken:amountIn destinationToken=userToken:amountOut
fees-distributed | Fees distributed | feeManager.FeesDistributed | validator sourceToken=token:amount
reward-distributed | Reward distributed | tip20.RewardDistributed | funder sourceToken=emitter:amount
reward-recipient-set | Reward recipient set | tip20.RewardRecipientSet | holder recipient
spending-limit-updated | Spending limit updated | keychain.SpendingLimitUpdated | account publicKey sourceToken=token:newLimit
token-created | Token created | -factory.TokenCreated | address=token name symbol currency
order-filled | Order filled | dex.OrderFilled | orderId maker taker amountFilled partialFill
order-flipped | Order flipped | dex.OrderFlipped
pair-created | Trading pair created | dex.PairCreated | key base quote
token-pause-set | Token pause set | tip20.PauseStateUpdate | paused=isPaused updater
token-supply-cap-set | Token supply cap set | tip20.SupplyCapUpdate | supplyCap=newSupplyCap updater
token-transfer-policy-set | Token transfer policy set | tip20.TransferPolicyUpdate | policyId=newPolicyId updater
token-quote-token-set | Token quote token set | tip20.QuoteTokenUpdate | quoteToken=newQuoteToken updater
token-next-quote-token-set | Token next quote token set | tip20.NextQuoteTokenSet | nextQuoteToken updater
token-logo-set | Token logo set | tip20.LogoURIUpdated | logoUri=newLogoURI updater
role-membership-set | Role membership set | tip20.RoleMembershipUpdated | role account granted=hasRole sender
role-admin-set | Role admin set | tip20.RoleAdminUpdated | role newAdminRole sender
fee-user-token-set | Fee user token set | feeManager.UserTokenSet | user token
fee-validator-token-set | Fee validator token set | feeManager.ValidatorTokenSet | validator token
compound-policy-created | Compound policy created | policies.CompoundPolicyCreated | policyId creator senderPolicyId recipientPolicyId mintRecipientPolicyId
policy-created | Policy created | policies.PolicyCreated | policyId policyType updater
policy-admin-set | Policy admin set | policies.PolicyAdminUpdated | policyId admin updater
whitelist-updated | Whitelist updated | policies.WhitelistUpdated | policyId account allowed updater
blacklist-updated | Blacklist updated | policies.BlacklistUpdated | policyId account restricted updater
master-registered | Master registered | registry.MasterRegistered | masterId masterAddress
validator-added | Validator added | validators.ValidatorAdded | index validator=validatorAddress publicKey ingress egress feeRecipient
validator-deactivated | Validator deactivated | validators.ValidatorDeactivated | index validator=validatorAddress
validator-rotated | Validator rotated | validators.ValidatorRotated | index deactivatedIndex validator=validatorAddress oldPublicKey newPublicKey ingress egress caller
validator-fee-recipient-set | Validator fee recipient set | validators.FeeRecipientUpdated | index feeRecipient caller
validator-ip-set | Validator ip set | validators.IpAddressesUpdated | index ingress egress caller
validator-ownership-transferred | Validator ownership transferred | validators.ValidatorOwnershipTransferred | index oldAddress newAddress caller
validator-migrated | Validator migrated | validators.ValidatorMigrated | index validator=validatorAddress publicKey
validator-migration-skipped | Validator migration skipped | validators.SkippedValidatorMigration | index validator=validatorAddress publicKey
ownership-transferred | Ownership transferred | validators.OwnershipTransferred | oldOwner newOwner
network-identity-rotation-epoch-set | Network identity rotation epoch set | validators.NetworkIdentityRotationEpochSet | previousEpoch nextEpoch
initialized | Initialized | validators.Initialized | height
transfer | Token transferred
access-key-created | Access key created | -keychain.KeyAuthorized
access-key-revoked | Access key revoked | -keychain.KeyRevoked | account publicKey
key-authorization-witness | Key authorization witnessed | keychain.KeyAuthorizationWitness | account witness
key-authorization-witness-burned | Key authorization witness burned | keychain.KeyAuthorizationWitnessBurned | account witness
nonce-incremented | Nonce incremented | nonce.NonceIncremented | account nonceKey nonce=newNonce
unknown | Unknown
`

type DataOf = (args: Args, view: View) => Args | null

/** Events whose data their arguments alone do not give. */
const told: Readonly<Record<string, DataOf>> = {
  'session-closed': (_, view) => {
    const refund = paidOut(view, view.viewer)
    return refund ? { refund: amountOf(refund.token, refund.amount) } : {}
  },
  approval: ({ spender, amount, emitter }) =>
    spender === '0x1c00000000000000000000000000000000000002'
      ? null
      : { sourceToken: amountOf(emitter, amount), spender },
  'channel-funded': ({ channelId, payer, additionalDeposit: size }, view) => {
    const paid = view.movements.find(
      ({ from, to, amount }) => from === payer && to === reserve && amount === size,
    )
    const token = paid?.token ?? openedToken(view, channelId)
    return token ? { channelId, sourceToken: amountOf(token, size) } : null
  },
  'channel-settled': ({ channelId, payer, payee, deltaPaid }, view) => {
    const token = paidOut(view, payee, deltaPaid)?.token ?? openedToken(view, channelId)
    return token ? { channelId, payer, payee, sourceToken: amountOf(token, deltaPaid) } : null
  },
  'channel-closed': ({ channelId, payer, payee, settledToPayee, refundedToPayer }, view) => {
    const out = paidOut(view, payer, refundedToPayer) ?? paidOut(view, payee)
    const token = out?.token ?? openedToken(view, channelId)
    return {
      channelId,
      payer,
      payee,
      ...(token && settledToPayee > 0n && { sourceToken: amountOf(token, settledToPayee) }),
      ...(token && refundedToPayer > 0n && { refund: amountOf(token, refundedToPayer) }),
    }
  },
  'order-placed': (order, view) => {
    const { orderId, tick } = order
    const sourceToken = escrowOf(order, view)
    return sourceToken && { orderId: `${orderId}`, side: sideOf(order), tick, sourceToken }
  },
  'order-flipped': (order, view) => {
    const { orderId, maker, tick, flipTick } = order
    const sourceToken = escrowOf(order, view)
    return sourceToken && { orderId: `${orderId}`, maker, side: sideOf(order), tick, flipTick, sourceToken }
  },
  'access-key-created': ({ account, publicKey, signatureType, expiry }) => ({
    account,
    publicKey,
    signatureType,
    expiry: Number(expiry),
  }),
}

/** Activities that are found in movements. */
const finders: Readonly<Record<string, (view: View) => Found | null>> = {
  'cross-token': (view) => {
    const swap = swapOf(view)
    const passedOn = view.movements.find(
      ({ kind, from, token, amount, log }) =>
        kind === 'transfer' &&
        from === swap?.party &&
        token === swap.got.token &&
        amount === swap.got.amount &&
        log.logIndex > swap.got.log.logIndex,
    )
    if (!swap || !passedOn) return null
    return { log: passedOn.log, data: { ...transferData(passedOn, view), ...sidesOf(swap) } }
  },
  swap: (view) => {
    const swap = swapOf(view)
    return swap && { log: swap.paid.log, data: sidesOf(swap) }
  },
  mint: (view) => supplyOf(view, 'mint', 'recipient'),
  'burn-blocked': (view) => supplyOf(view, 'burnBlocked', 'sender'),
  burn: (view) => supplyOf(view, 'burn', 'sender'),
  transfer: (view) => {
    const payments = view.movements.filter(({ kind, to }) => kind === 'transfer' && to !== feeManager)
    const one = payments.find((movement) => touches(movement, view.viewer)) ?? payments[0]
    if (!one) return null
    return {
      log: one.log,
      data: { ...transferData(one, view), sourceToken: amountOf(one.token, one.amount) },
    }
  },
  unknown: ({ tx }) => {
    const log = tx.logs.find(({ logIndex }) => logIndex !== tx.feeLogIndex) ?? tx.logs[0]
    return log ? { log, data: {} } : null
  },
}

export const rules: readonly Rule[] = table.trim().split('\n').map(ruleOf)

function ruleOf(line: string): Rule {
  const [key = '', title = '', source = '', fields] = line.split(' | ')
  const event = source.replace('-', '')
  const common = { key, type: key === 'cross-token' ? 'transfer' : key, title, event: event || null }
  const find = finders[key]
  if (find) {
    const signer = key === 'mint' ? 'never' : common.type === 'transfer' ? 'outgoing' : 'always'
    return { ...common, signer, find }
  }
  const data = told[key] ?? ((args: Args) => readFields(fields ?? '', args))
  return {
    ...common,
    signer: source.startsWith('-') ? 'never' : 'always',
    find: (view) => findEvent(event, data, view),
  }
}

/** Finds an event that names the viewer, where there are several. */
function findEvent(event: string, data: DataOf, view: View): Found | null {
  const all = view.tx.events.filter(({ name }) => name === event)
  const own = all.filter(({ args }) => Object.values(args).includes(view.viewer))
  for (const { log, args } of [...own, ...all]) {
    const found = data({ ...args, emitter: log.address }, view)
    if (found) return { log, data: found }
  }
  return null
}

function readFields(fields: string, args: Args): Args {
  const pairs = fields.split(' ').map((field): [string, unknown] => {
    const [shown = '', source = shown] = field.split('=')
    if (source.startsWith('@')) return [shown, source.slice(1)]
    const [name = '', amount] = source.split(':')
    const value = args[name]
    if (amount) return [shown, amountOf(value, args[amount])]
    return [shown, typeof value === 'bigint' ? `${value}` : value]
  })
  return Object.fromEntries(pairs)
}

/** As the server of these tests shows it: it knows one token. */
function amountOf(address: string, amount: bigint) {
  if (address === nativeCoin) return { address: null, amount: `${amount}` }
  const name = { name: 'pathUSD', symbol: 'pathUSD', currency: 'USD', decimals: 6, verified: true }
  const logoUri = 'https://example.com/logo.svg'
  return {
    address,
    amount: `${amount}`,
    verified: false,
    decimals: null,
    ...(address === namedToken && { ...name, logoUri }),
  }
}

const paidOut = ({ movements }: View, recipient: string, size?: bigint) =>
  movements.find(
    ({ from, to, amount }) => from === reserve && to === recipient && (size === undefined || amount === size),
  )

const openedToken = ({ tx }: View, channelId: string): string | undefined =>
  tx.events.find(({ name, args }) => name === 'reserve.ChannelOpened' && args['channelId'] === channelId)
    ?.args['token']

const sideOf = ({ isBid }: Args) => (isBid ? 'bid' : 'ask')

/** The amount that an order holds: base for asks, the quote at its price rounded up for bids. */
function escrowOf({ token, amount, isBid, tick, maker }: Args, view: View) {
  if (!isBid) return amountOf(token, amount)
  const paid = view.movements.filter((one) => one.from === maker && one.to === dex && one.token !== token)
  const others = [...new Set(paid.map((one) => one.token))]
  const quote = view.quoteOf(token) ?? (others.length === 1 ? others[0] : null)
  if (!quote) return null
  const scaled = amount * BigInt(100_000 + tick)
  return amountOf(quote, scaled / 100_000n + (scaled % 100_000n > 0n ? 1n : 0n))
}

const sidesOf = ({ paid, got }: NonNullable<ReturnType<typeof swapOf>>) => ({
  sourceToken: amountOf(paid.token, paid.amount),
  destinationToken: amountOf(got.token, got.amount),
})

function supplyOf(view: View, kind: Movement['kind'], side: 'recipient' | 'sender'): Found | null {
  const all = view.movements.filter((one) => one.kind === kind)
  const one = all.find((movement) => touches(movement, view.viewer)) ?? all[0]
  if (!one) return null
  const holder = side === 'sender' ? one.from : one.to
  return { log: one.log, data: { [side]: holder, sourceToken: amountOf(one.token, one.amount) } }
}

const transferData = (one: Movement, { tx, viewer }: View): Args => ({
  sender: one.from,
  recipient: one.to,
  direction: one.from !== viewer && touches(one, viewer) ? 'in' : 'out',
  blockNumber: tx.blockNumber,
  timestamp: tx.timestamp,
  transactionHash: tx.hash,
  ...(one.memo && textOf(one.memo)),
})
