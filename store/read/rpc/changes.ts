/**
 * The news for a filter of a JSON-RPC client, and the told part of it that left the chain. The hashes it
 * was told of blocks that were not final are compared with those held now: the last equal one is the fork.
 * The commit log would also tell reverts of blocks that came back.
 */
import { readSnapshot } from '../../cancel.ts'
import type { ChainState } from '../../ledger/ChainState.ts'
import type { Queryable } from '../../ledger/lane.ts'
import type { Postgres } from '../../postgres.ts'
import { quoteIdentifier, toHex } from '../../sql.ts'
import { type ChainLogsFilter, LOGS_MAX, type LogsChain, type LogsRange, logsIn } from './logs.ts'
import type { StoredLog } from './logTexts.ts'

/** Blocks that a filter was told of, and what is new to it. */
export interface ChainChanges {
  /** Newest block told that is still in the chain. */
  readonly fork: number
  /** Newest block that is told now. */
  readonly to: number
  /** Blocks above finality and the fork, as they are now. */
  readonly open: readonly { readonly number: number; readonly hash: string }[]
  readonly logs: readonly StoredLog[]
  /** Hashes of all new blocks, where those are asked for. */
  readonly hashes: readonly string[]
}

/** A block that was told while it could still be replaced. */
interface ToldHash {
  readonly number: number
  readonly hash: string
  readonly isAwaited?: true
}

/** A filter's question, and how far it was told. */
export interface ChangesAsked {
  /** Null asks for blocks. */
  readonly filter: ChainLogsFilter | null
  readonly toldBlock: number
  /** Ascending. */
  readonly told: readonly ToldHash[]
  /** Last block that is asked for; null for no end. */
  readonly to: number | null
  /** Characters of logs told at once; more only where one block has more. */
  readonly charactersMax: number
}

/** Blocks a poll goes forward at most; the next one goes on. */
const CHANGED_BLOCKS_MAX = 1_000

/** In one snapshot: where the chain left what was told, and what follows. */
export async function readChanges(
  postgres: Postgres,
  chain: Pick<ChainState, 'schema' | 'finalized' | 'openParts'>,
  asked: ChangesAsked,
  signal: AbortSignal,
): Promise<ChainChanges> {
  return readSnapshot(postgres, signal, async (client) => {
    const { told, toldBlock, filter } = asked
    const lowest = Math.min(told[0]?.number ?? toldBlock, toldBlock)
    const highest = Math.min(asked.to ?? Number.MAX_SAFE_INTEGER, toldBlock + CHANGED_BLOCKS_MAX)
    // As far as this snapshot goes: another process may have told more than this one knows of yet.
    const { rows } = await client.query<{ num: number; hash: Buffer }>(
      `SELECT num, hash FROM ${quoteIdentifier(chain.schema)}.blocks WHERE num BETWEEN $1 AND $2 ORDER BY num`,
      [lowest, highest],
    )
    const blocks = rows.map(({ num, hash }) => ({ number: num, hash: toHex(hash) }))
    const nothingSince = (fork: number) => ({ fork, to: fork, open: [], logs: [], hashes: [] })
    if (told[0]?.isAwaited && (blocks.at(-1)?.number ?? -1) < lowest) return nothingSince(toldBlock)
    const held = new Map(blocks.map(({ number, hash }) => [number, hash]))
    const kept = told.filter(({ number, hash }) => held.get(number) === hash).at(-1)
    const fork = told.length === 0 ? toldBlock : (kept?.number ?? lowest - 1)
    const newest = Math.max(fork, blocks.at(-1)?.number ?? fork)
    if (newest === fork) return nothingSince(fork)
    const range = { by: 'range', from: fork + 1, to: newest } as const
    const found = filter
      ? await freshLogs(client, chain, filter, range, asked.charactersMax)
      : { to: newest, logs: [] }
    // History that is not indexed yet is told once it is.
    if (!found) return nothingSince(fork)
    const { to, logs } = found
    const fresh = blocks.filter(({ number }) => number > fork && number <= to)
    return {
      fork,
      to,
      open: fresh.filter(({ number }) => number > chain.finalized),
      logs,
      hashes: filter ? [] : fresh.map(({ hash }) => hash),
    }
  })
}

interface FreshLogs {
  readonly to: number
  readonly logs: readonly StoredLog[]
}

/** The logs of whole blocks, of at least one; null where not all of the range is held. */
async function freshLogs(
  client: Queryable,
  chain: LogsChain,
  filter: ChainLogsFilter,
  range: LogsRange,
  charactersMax: number,
): Promise<FreshLogs | null> {
  const found = await logsIn(client, chain, filter, range, LOGS_MAX)
  if (found.kind === 'uncovered') return null
  if (found.kind === 'logs') return cutLogs(found.logs, range.to, charactersMax)
  if (range.from === range.to) throw new Error(`block ${range.to} has more logs than are read at once`)
  return freshLogs(client, chain, filter, { ...range, to: found.to }, charactersMax)
}

function cutLogs(logs: readonly StoredLog[], to: number, charactersMax: number): FreshLogs {
  let characters = 0
  for (const { blockNumber, text } of logs) {
    characters += text.length
    const end = Math.max(blockNumber - 1, logs[0]?.blockNumber ?? to)
    if (characters > charactersMax && end < to)
      return { to: end, logs: logs.filter((log) => log.blockNumber <= end) }
  }
  return { to, logs }
}
