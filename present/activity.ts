/** An activity as both feeds show it. Types, titles and signer rules are those of the registry. */

import * as s from '#http/schema.ts'
import type { ActivityEntry, FoundActivity } from '#store/read/activities.ts'
import {
  type Activity,
  type ActivityData,
  type ActivityEvent,
  type ActivityFacts,
  type ActivityItem,
  NO_LOG,
  type TokenAmount,
} from '#transform/activities/activity.ts'
import { activityEvent } from '#transform/activities/activityEvent.ts'
import { declaredType } from '#transform/activities/declaredActivity.ts'
import { activities } from '#transform/activities/index.ts'
import { nativeCoinEmitter } from '#transform/addresses.ts'
import { activityData } from './activityData.ts'
import { type AttributionNames, readMemo } from './memo.ts'
import { type KnownToken, presentCoinAmount, presentTokenAmount, unknownToken } from './token.ts'

const args = s.foreign(
  'Arguments by name; integers as decimal strings, bytes as lowercase hex; a text with NUL or bytes that are not UTF-8 is its leading ASCII characters, `�0x` and the hex of the rest.',
)

const eventSchema = s.named('ActivityEvent', {
  address: s.address,
  data: s.hex,
  logIndex: s.count,
  topics: s.array(s.hash),
  eventName: s.optional(s.text()),
  args: s.optional(args),
  title: s.optional(s.text()),
})

const signer = s.text({
  pattern: '^(self|0x[0-9a-f]{40})$',
  description:
    '`self`, or the access key that signed; of tokens that another account burned, for their holder that account.',
  examples: ['self'],
})

const common = {
  id: s.text({ description: 'Transaction hash, a dash, log index; `value` where no log tells it.' }),
  perspective: s.oneOf(['incoming', 'outgoing'], {
    description: '`outgoing`: the account sent or paid for the transaction. `incoming`: it happened to it.',
  }),
  timestamp: s.timestamp,
  transactionHash: s.hash,
  logIndex: s.nullable(s.count),
  chainId: s.optional(s.count),
} as const

const events = s.array(eventSchema, {
  description: 'All logs of the transaction; with `logs=true`, and always of `unknown`.',
})

function schemaOf(type: string, alike: readonly Activity[]): s.TSchema {
  const data = activityData[type]
  if (!data) throw new TypeError(`activity ${type} has no data in activityData.ts`)
  const titles = new Set(alike.flatMap(({ title, otherTitles }) => [title, ...otherTitles]))
  const rule = alike[0]?.signer
  const signed = rule === 'never' ? {} : rule === 'outgoing' ? { signer: s.optional(signer) } : { signer }
  return s.named(`${nameOf(type)}Activity`, {
    type: s.oneOf([type]),
    title: s.oneOf([...titles]),
    ...common,
    data: s.object({ ...data, ...signed }),
    events: type === 'unknown' ? events : s.optional(events),
  })
}

/** `order-placed` is `OrderPlaced`. */
const nameOf = (type: string): string =>
  type
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Activity of an event that the operator declared for a contract. */
const declared = s.named('DeclaredActivity', {
  type: s.text({ pattern: declaredType.source, examples: ['shop:Sold'] }),
  title: s.text(),
  ...common,
  data: s.object({
    contract: s.address,
    event: s.text(),
    args,
    signer,
  }),
  events: s.optional(events),
})

/**
 * Several activities of the registry may share a type: they differ in how it is found, not in what
 * it tells.
 */
const single = [
  ...Map.groupBy(activities, ({ type }) => type)
    .entries()
    .map(([type, alike]) => schemaOf(type, alike)),
  declared,
]

const group = s.named('GroupActivity', {
  type: s.oneOf(['group']),
  title: s.oneOf(['Group']),
  ...common,
  id: s.text({ description: 'First id, two dots, last id, a colon, number of items.' }),
  data: s.object({ items: s.array(s.union(single)), signer }),
})

/** The common part of all types; the schema knows each of them. */
export interface ShownActivity {
  readonly type: string
  readonly title: string
  readonly id: string
  readonly perspective: ActivityItem['perspective']
  readonly timestamp: string
  readonly transactionHash: string
  readonly logIndex: number | null
  readonly chainId?: number
  readonly data: object
  readonly events?: readonly ActivityEvent[]
}

export const activitySchema = s.shown<ShownActivity>(s.union(single))
export const activityOrGroupSchema = s.shown<ShownActivity>(s.union([...single, group]))

/** How a request wants activities shown. */
export interface ActivityView {
  readonly withEvents: boolean
  /** Named on every item, or on none. */
  readonly chainId: number | null
  readonly tokens: ReadonlyMap<string, KnownToken>
  /** Whether a token is on the operator's list, also one that has no name. */
  readonly isVerified: (token: string) => boolean
  readonly attributionNames: AttributionNames
}

/** An activity alone, or several as a group. */
export function presentEntry(entry: ActivityEntry, view: ActivityView): ShownActivity {
  const items = entry.map(({ facts, item }: FoundActivity) => presentActivity(facts, item, view))
  const [first] = items
  const last = items.at(-1)
  if (!first || !last) throw new TypeError('an entry has at least one activity')
  if (items.length === 1) return first
  const { events: _, ...shared } = first
  return {
    ...shared,
    type: 'group',
    title: 'Group',
    id: `${first.id}..${last.id}:${items.length}`,
    data: { items, signer: entry[0]?.item.data['signer'] },
  }
}

export function presentActivity(facts: ActivityFacts, item: ActivityItem, view: ActivityView): ShownActivity {
  const { type, title, perspective } = item
  const logIndex = item.logIndex === NO_LOG ? null : item.logIndex
  return {
    type,
    title,
    id: `${facts.txHash}-${logIndex ?? 'value'}`,
    perspective,
    timestamp: s.isoSeconds(facts.block.timestampSeconds),
    transactionHash: facts.txHash,
    logIndex,
    ...(view.chainId !== null && { chainId: view.chainId }),
    data: presentData(item, view),
    ...((view.withEvents || type === 'unknown') && { events: facts.logs.map(activityEvent) }),
  }
}

function presentData(
  { type, data, memo, args }: ActivityItem,
  { tokens, attributionNames, isVerified }: ActivityView,
) {
  const shown: Record<string, unknown> = args ? { args } : {}
  const shownAmount = ({ address, amount }: TokenAmount) =>
    address === nativeCoinEmitter
      ? presentCoinAmount(amount, true)
      : {
          verified: isVerified(address),
          ...presentTokenAmount(address, amount, tokens.get(address) ?? unknownToken),
        }
  for (const [name, value] of Object.entries(data)) shown[name] = isAmount(value) ? shownAmount(value) : value
  return type === 'transfer' ? { ...shown, ...readMemo(memo, attributionNames) } : shown
}

/** Every token that an amount of these items is in. */
export function tokensOf(items: readonly ActivityItem[]): readonly string[] {
  const amounts = items.flatMap(({ data }) => Object.values(data).filter(isAmount))
  return [...new Set(amounts.map(({ address }) => address))].filter((token) => token !== nativeCoinEmitter)
}

const isAmount = (value: ActivityData[string]): value is TokenAmount => typeof value === 'object'
