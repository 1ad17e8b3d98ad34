/** Messages posted to subscribers, as the `webhooks` of the OpenAPI document have them. */
import type { OutgoingPost } from '#http/document/openapi.ts'
import * as s from '#http/schema.ts'
import { headerGasUsed } from '#present/block.ts'
import { decimalsSchema } from '#present/token.ts'
import { transactionSchema } from '#present/transaction.ts'
import { context } from './shapes.ts'

/** Said by each envelope. */
const meta = s.named('EventMeta', {
  blockHash: s.optional(s.hash),
  index: s.optional(
    s.integer({ minimum: 0, description: 'Place in the block: of the log, or of the transaction.' }),
  ),
  finalized: s.optional(s.boolean({ description: 'Whether the block was final at the first attempt.' })),
  sequence: s.optional(
    s.integer({ minimum: 1, description: 'Without gaps for each subscription; not of pings and replays.' }),
  ),
  replay: s.optional(s.text({ description: 'The replay that sends it.' })),
  cutBytes: s.optional(
    s.integer({ minimum: 1, description: 'Bytes of data that was too long to send and is left out.' }),
  ),
})

const eventId = s.text({ pattern: '^evt_[0-9a-f]{64}$', description: 'The same at every attempt.' })

const envelopeOf = <Data extends s.TSchema>(name: string, type: string, data: Data) =>
  s.named(name, {
    id: eventId,
    type: s.literal(type),
    chainId: s.count,
    subscriptionId: s.text(),
    createdAt: s.text({ format: 'date-time' }),
    context: s.optional(context),
    data,
    meta,
  })

const tokenTransfer = s.object({
  address: s.address,
  amount: s.amount,
  sender: s.address,
  recipient: s.address,
  blockNumber: s.count,
  timestamp: s.timestamp,
  transactionHash: s.hash,
  token: s.optional(s.object({ symbol: s.text(), decimals: decimalsSchema })),
})

const logEmitted = s.object({
  address: s.address,
  topics: s.array(s.hash, { maxItems: 4 }),
  data: s.hex,
  blockNumber: s.count,
  logIndex: s.count,
  transactionIndex: s.count,
  transactionHash: s.hash,
  timestamp: s.timestamp,
  event: s.optional(
    s.object({
      name: s.text(),
      signature: s.text({ description: 'In its canonical form.' }),
      topic0: s.hash,
    }),
  ),
  args: s.optional(s.foreign('Arguments by name; integers are decimal strings.')),
})

const blockCreated = s.object({
  number: s.count,
  hash: s.hash,
  parentHash: s.hash,
  miner: s.address,
  gasUsed: headerGasUsed,
  gasLimit: s.count,
  transactionCount: s.count,
  timestamp: s.timestamp,
})

const amount = { pattern: '^[0-9]+$', examples: ['101000'] }

const exchangeFilled = s.object({
  orderId: s.amount,
  maker: s.address,
  taker: s.address,
  pair: s.object({ key: s.hash, base: s.address, quote: s.address }),
  side: s.oneOf(['bid', 'ask'], { description: 'Of the order that was filled.' }),
  price: s.decimal,
  amount: s.amount,
  quoteAmount: s.text({ ...amount, description: 'What the maker paid or got: at the price.' }),
  takerQuoteAmount: s.text({
    ...amount,
    description: 'What the taker got or paid: rounding may leave a unit or two of a swap with the exchange.',
  }),
  partialFill: s.boolean(),
  blockNumber: s.count,
  logIndex: s.count,
  transactionHash: s.hash,
  timestamp: s.timestamp,
})

const nativeTransfer = s.object({
  address: s.nullable(s.address),
  amount: s.amount,
  sender: s.address,
  recipient: s.address,
  blockNumber: s.count,
  timestamp: s.timestamp,
  transactionHash: s.hash,
  logIndex: s.nullable(s.count),
})

const webhookDisabled = s.object({
  subscriptionId: s.text(),
  eventType: s.text(),
  reason: s.oneOf(['requested', 'failing', 'gone', 'backlog']),
  fromBlock: s.integer({ minimum: 0, description: 'First block whose events it does not get.' }),
})

const eventAgain = s.object({
  eventId,
  event: s.optional(s.object({ type: s.text(), data: s.foreign('As it was sent the first time.') })),
})

/** By `type`. */
export const envelopes: Readonly<Record<string, OutgoingPost>> = {
  'token:transfer': {
    summary: 'A transfer of a token.',
    schema: envelopeOf('TokenTransferEvent', 'token:transfer', tokenTransfer),
  },
  'transaction:included': {
    summary: 'A transaction in a block, with its receipt where the subscription asks for it.',
    schema: envelopeOf('TransactionIncludedEvent', 'transaction:included', transactionSchema),
  },
  'log:emitted': {
    summary: 'A log of any contract.',
    schema: envelopeOf('LogEmittedEvent', 'log:emitted', logEmitted),
  },
  'block:created': {
    summary: 'A new block.',
    schema: envelopeOf('BlockCreatedEvent', 'block:created', blockCreated),
  },
  'exchange:filled': {
    summary: 'An order of the exchange was filled, in whole or in part.',
    schema: envelopeOf('ExchangeFilledEvent', 'exchange:filled', exchangeFilled),
  },
  'native:transfer': {
    summary: 'A transfer of the native coin, whose `address` is null: it is no token.',
    schema: envelopeOf('NativeTransferEvent', 'native:transfer', nativeTransfer),
  },
  'webhook:disabled': {
    summary: 'Another subscription of the same owner was disabled.',
    schema: envelopeOf('WebhookDisabledEvent', 'webhook:disabled', webhookDisabled),
  },
  'event:retracted': {
    summary: 'The block of an event that was sent was replaced: the event is no longer true.',
    schema: envelopeOf('EventRetractedEvent', 'event:retracted', s.object({ eventId })),
  },
  'event:restored': {
    summary: 'The block of a retracted event came back: the event is true again.',
    schema: envelopeOf('EventRestoredEvent', 'event:restored', eventAgain),
  },
  ping: {
    summary: 'Sent when it is asked for, to try a destination.',
    schema: envelopeOf('PingEvent', 'ping', s.object({ ping: s.literal(true) })),
  },
}
