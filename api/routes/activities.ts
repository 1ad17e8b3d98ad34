/** The activities of an account, or of a transaction. */

import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint, nativeHeaders } from '#http/listEndpoint.ts'
import { dataPageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import {
  type ActivityView,
  activityOrGroupSchema,
  activitySchema,
  presentActivity,
  presentEntry,
  tokensOf,
} from '#present/activity.ts'
import { readPlainNames } from '#present/imitations.ts'
import type { Address } from '#primitives.ts'
import {
  type ActivityEntry,
  findTransactionActivities,
  listAddressActivities,
  type TransactionActivities,
} from '#store/read/activities.ts'
import type { ActivityItem } from '#transform/activities/activity.ts'
import { isTip20 } from '#transform/addresses.ts'
import type { CuratedTokens } from '../operator/curatedTokens.ts'
import { readsOf } from '../services.ts'
import type { TransferServices } from './transfers.ts'

const logs = p.withDefault(
  p.described(p.boolean, "Adds each item's `events`: all logs of its transaction, decoded where possible."),
  false,
)

const zones =
  '`include=zones` adds `chainId` to every item. Zones, the private chains beside this one, are not indexed here: all items are of the chain asked for.'

export const listAddressActivitiesEndpoint = listEndpoint({
  path: '/v1/addresses/{address}/activities',
  summary: 'What an account did and what happened to it.',
  description: `Of transactions the account sent or paid for: the one thing that names each, or each payment. Of others: what moved its tokens, in and out; what contracts that are no standard tokens say they moved is left out unless \`unverified=true\` or the operator's list has them. A token outside the list has \`verified: false\`, and no name that looks like a verified one's. Fees are never shown. The native coin is no token: its amounts have \`address: null\`. ${zones}`,
  params: { address: p.address },
  filters: {
    group: p.withDefault(
      p.described(
        p.boolean,
        'Folds what one access key did in a row on one day (UTC) into a `group` of up to 50 items, which counts as one row.',
      ),
      false,
    ),
    logs,
    unverified: p.withDefault(
      p.described(
        p.boolean,
        "Shows also what contracts that are neither standard tokens (TIP-20) nor in the operator's list say they moved from or to the account, in transactions that it neither sent nor paid for. Such a contract can say so of anybody. Where the list names no token of the chain, all are shown.",
      ),
      false,
    ),
  },
  include: ['zones'],
  pages: { ...dataPageRules, modes: 'cursorOnly', orders: 'desc' },
  item: activityOrGroupSchema,
  list: async ({ chainId, path, filters, include, page }, services: ActivityServices) => {
    const { postgres, state, declared, kind } = readsOf(services, chainId)
    const rules = {
      declared: declared.activities,
      isHidden: filters.unverified ? () => false : hiddenTokens(services, chainId),
      hasCoin: kind !== 'tempo',
    }
    const found = await listAddressActivities(postgres, state, path.address, filters.group, page, rules)
    const items = found.rows.flatMap((entry) => entry.map(({ item }) => item))
    const view = await viewOf({ chainId, filters, include, signal: page.signal }, items, services)
    return { ...found, rows: found.rows.map((entry) => ({ entry, view })) }
  },
  present: ({ entry, view }: { entry: ActivityEntry; view: ActivityView }) => presentEntry(entry, view),
})

export const listTransactionActivitiesEndpoint = endpoint({
  path: '/v1/transactions/{transactionHash}/activities',
  summary: 'What a transaction did, as its sender sees it.',
  description: `Empty for a transaction without logs that paid nothing of the native coin. ${zones}`,
  params: { transactionHash: p.transactionHash },
  filters: { logs },
  include: ['zones'],
  response: s.object({ data: s.array(activitySchema) }),
  errors: ['transaction_not_found'],
  read: async (call, services: ActivityServices): Promise<Found> => {
    const { postgres, state, declared, kind } = readsOf(services, call.chainId)
    const { transactionHash } = call.path
    const rules = { declared: declared.activities, hasCoin: kind !== 'tempo' }
    const found = await findTransactionActivities(postgres, state, transactionHash, call.signal, rules)
    if (!found) throw new ApiError('transaction_not_found')
    return { ...found, view: await viewOf(call, found.items, services) }
  },
  present: ({ facts, items, view }) => ({ data: items.map((item) => presentActivity(facts, item, view)) }),
  headers: nativeHeaders,
  cache: ({ final }) => (final ? 'mined' : 'none'),
})

export interface ActivityServices extends TransferServices {
  readonly curatedTokens: CuratedTokens
}

const isVerified = ({ curatedTokens }: ActivityServices, chainId: number, token: string): boolean =>
  curatedTokens.find(chainId, token) !== undefined

/**
 * Tokens of foreign contracts that the operator's list lacks. What a standard token of Tempo logs,
 * the chain itself did, so that it is a payment whoever made the token.
 */
function hiddenTokens(services: ActivityServices, chainId: number): (token: Address) => boolean {
  if (services.curatedTokens.of(chainId).length === 0) return () => false
  const isTempo = readsOf(services, chainId).kind === 'tempo'
  return (token) => !(isTempo && isTip20(token)) && !isVerified(services, chainId, token)
}

interface Found extends TransactionActivities {
  readonly view: ActivityView
}

async function viewOf(
  call: {
    readonly chainId: number
    readonly filters: { readonly logs: boolean }
    readonly include: ReadonlySet<'zones'>
    readonly signal: AbortSignal
  },
  items: readonly ActivityItem[],
  services: ActivityServices,
): Promise<ActivityView> {
  return {
    isVerified: (token) => isVerified(services, call.chainId, token),
    withEvents: call.filters.logs,
    chainId: call.include.has('zones') ? call.chainId : null,
    tokens: await readPlainNames(services, call.chainId, tokensOf(items), call.signal),
    attributionNames: services.attributionNames,
  }
}
