/** Every type of event that can be subscribed to. A new one is one line here. */
import type { Stream } from '#store/read/pieces.ts'
import { blockCreated } from './blocks.ts'
import type { EventType } from './eventType.ts'
import { exchangeFilled } from './fills.ts'
import { logEmitted } from './logs.ts'
import { nativeTransfer } from './nativeTransfers.ts'
import { webhookDisabled } from './notices.ts'
import { transactionIncluded } from './transactions.ts'
import { tokenTransfer } from './transfers.ts'

/** Those of the contract first, in its order. */
export const eventTypes: readonly EventType[] = [
  blockCreated,
  logEmitted,
  tokenTransfer,
  transactionIncluded,
  exchangeFilled,
  nativeTransfer,
  webhookDisabled,
]

export const eventTypeNames = [
  'block:created',
  'log:emitted',
  'token:transfer',
  'transaction:included',
  'exchange:filled',
  'native:transfer',
  'webhook:disabled',
] as const

export const findEventType = (name: string): EventType | undefined =>
  eventTypes.find(({ type }) => type === name)

/** The stream that each is looked for in. */
export const streamsOfTypes: Readonly<Record<string, Stream>> = Object.fromEntries(
  eventTypes.map(({ type, stream }) => [type, stream]),
)

export const streamOfType = (eventType: string): Stream => streamsOfTypes[eventType] ?? 'blocks'

export const eventTypesOf = (stream: Stream): readonly EventType[] =>
  eventTypes.filter((type) => type.stream === stream)
