/**
 * Filters of logs and blocks are ours: a row for each in Postgres, so that any process answers and
 * no restart loses one. Each log is told once, and once more with `removed: true` if its block is
 * replaced. Filters of pending transactions are an endpoint's, and end with it.
 */
import { randomBytes } from 'node:crypto'
import { sliceItems, sliceText } from '#ingest/read/json/jsonSlices.ts'
import { isRecord } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  deleteFilter,
  FILTERS_MAX,
  type FilterOwner,
  findFilter,
  insertFilter,
  pollFilter,
  type RpcFilter,
  type ToldBlock,
} from '#rows/rpcFilters.ts'
import { readChanges } from '#store/read/rpc/changes.ts'
import { ANSWER_CHARACTERS_MAX, answered, failed, type RpcOutcome } from './answer.ts'
import { numberOf } from './blocks.ts'
import type { RpcContext, StoredChain } from './context.ts'
import { limitExceeded, methodMissing, RpcFailureError } from './failure.ts'
import { keptLogFilter, readLogFilter, readLogPlace } from './logFilter.ts'
import { askLogs, untilHeld } from './logs.ts'
import { BATCH_CALLS_MAX, type JsonRpcRequest } from './message.ts'
import { endPending, makePending, pendingOf } from './pendingFilters.ts'
import { awaiting, isForgotten, isWithdrawn, remembered } from './toldBlocks.ts'

/** Blocks looked at when a filter begins, of those that may still be replaced. */
const OPEN_BLOCKS_MAX = 1_000
/** Characters of logs told by one poll; the next one goes on. */
const POLL_CHARACTERS_MAX = 4 * 1024 * 1024
const IN_BATCH_CHARACTERS_MAX = Math.floor(ANSWER_CHARACTERS_MAX / BATCH_CALLS_MAX)

export async function askFilter(
  call: JsonRpcRequest,
  chainId: number,
  context: RpcContext,
): Promise<RpcOutcome> {
  const { stored, filters } = context
  if (!stored || !filters) return failed(methodMissing(`${call.method} is not available`))
  const owner = { chainId, caller: context.caller.id }
  const [first] = sliceItems(call.params) ?? []
  const asked: unknown = first ? JSON.parse(sliceText(call.params, first)) : undefined
  const id = typeof asked === 'string' ? asked : ''
  switch (call.method) {
    case 'eth_newFilter':
      return await newFilter(filters, owner, 'logs', asked, stored, context)
    case 'eth_newBlockFilter':
      return await newFilter(filters, owner, 'blocks', null, stored, context)
    case 'eth_newPendingTransactionFilter':
      return await keep(filters, owner, await makePending(call, context))
    case 'eth_getFilterChanges':
      return found(
        await pollFilter(filters, owner, id, context, async (filter) =>
          filter.kind === 'pending' ? pendingOf(filter, context) : changesOf(filter, stored, context),
        ),
      )
    case 'eth_getFilterLogs': {
      const filter = await findFilter(filters, owner, id)
      if (filter?.kind !== 'logs') throw notFound()
      return await askLogs(
        { ...call, method: 'eth_getLogs', params: JSON.stringify([filter.asked]) },
        context,
      )
    }
    default: {
      const deleted = await deleteFilter(filters, owner, id)
      if (deleted?.kind === 'pending') await endPending(deleted, context)
      return answered(String(deleted !== null), 'store')
    }
  }
}

async function newFilter(
  filters: AppDatabase,
  owner: FilterOwner,
  kind: RpcFilter['kind'],
  asked: unknown,
  { state, postgres }: StoredChain,
  { heights, relay, clock, signal }: RpcContext,
): Promise<RpcOutcome> {
  const kept = kind === 'logs' ? keptLogFilter(asked) : null
  if (kept) await readLogPlace(kept, readLogFilter(kept), heights)
  // Blocks that its client was told of already are not new to it.
  await untilHeld(state, relay.view.shown, clock, signal)
  const from = Math.max(Math.min(state.finalized, state.tip), state.tip - OPEN_BLOCKS_MAX)
  const start = { filter: null, toldBlock: from, told: [], to: null, charactersMax: 0 }
  const { to, open } = await readChanges(postgres, state, start, signal)
  const { shown, shownHash } = relay.view
  const progress =
    to < shown
      ? awaiting(shown, shownHash)
      : { toldBlock: to, told: remembered(open.map((block) => ({ ...block, logs: [] }))) }
  return await keep(filters, owner, { kind, asked: kept, ...progress })
}

/** Answers with the id of what is kept from now on. */
async function keep(filters: AppDatabase, owner: FilterOwner, filter: RpcFilter): Promise<RpcOutcome> {
  const id = newId()
  if (!(await insertFilter(filters, owner, id, filter)))
    throw new RpcFailureError(limitExceeded(`a caller has at most ${FILTERS_MAX} filters`))
  return answered(`"${id}"`, filter.kind === 'pending' ? 'node' : 'store')
}

async function changesOf(filter: RpcFilter, { state, postgres }: StoredChain, context: RpcContext) {
  const { told, toldBlock, kind, asked } = filter
  if (isWithdrawn(told, context.relay.view.shown, state.tip)) return 'ended'
  const to = isRecord(asked) ? numberOf(asked['toBlock']) : null
  const of = { filter: kind === 'logs' ? readLogFilter(asked) : null, toldBlock, told, to }
  // Told changes count as told, so that they have to fit into the answer.
  const charactersMax = context.heights.isPinned ? IN_BATCH_CHARACTERS_MAX : POLL_CHARACTERS_MAX
  const changes = await readChanges(postgres, state, { ...of, charactersMax }, context.signal)
  if (isForgotten(told, changes.fork)) return 'ended'
  const removed = told
    .filter(({ number }) => number > changes.fork)
    .flatMap(({ logs }) => logs.map((log) => JSON.stringify({ ...log, removed: true })))
  const logsAt = Map.groupBy(changes.logs, ({ blockNumber }) => blockNumber)
  const kept = told.filter(({ number }) => number <= changes.fork && number > state.finalized)
  const open = changes.open.map(
    (block): ToldBlock => ({
      ...block,
      logs: (logsAt.get(block.number) ?? []).map(({ text }) => JSON.parse(text)),
    }),
  )
  const texts =
    kind === 'logs'
      ? [...removed, ...changes.logs.map(({ text }) => text)]
      : changes.hashes.map((hash) => `"${hash}"`)
  const text = `[${texts.join(',')}]`
  if (text.length > ANSWER_CHARACTERS_MAX)
    throw new RpcFailureError(limitExceeded('the logs of one block are larger than an answer'))
  return { told: text, progress: { toldBlock: changes.to, told: remembered([...kept, ...open]) } }
}

/** 128 bits that nobody guesses; the first digit is no zero, for clients that read a number. */
function newId(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0] ?? 0) | 0x80
  return `0x${bytes.toString('hex')}`
}

function found(told: string | null): RpcOutcome {
  if (told === null) throw notFound()
  return answered(told, 'store')
}

/** In the words by which clients make a new one. */
const notFound = () => new RpcFailureError({ code: -32000, message: 'filter not found' })
