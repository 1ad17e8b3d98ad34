/**
 * Balances as sums of transfers: loaded at once when all history is held (load.ts), then moved
 * block by block.
 */
import { quoteIdentifier } from '../../sql.ts'
import type { BlockFollower, FollowerTransaction } from '../follower.ts'
import { applyBlocks, movedTotalsSql } from './applyBlocks.ts'
import { type GenesisOptions, readGenesisBalances } from './genesis.ts'
import { clearLoad, loadPiece, PIECE_TRANSFERS } from './load.ts'

export const balancesProjection = { name: 'balances', version: 4, completes: true } as const

/**
 * Changes kept of blocks that are final already: half an hour of two blocks a second, for walks
 * that are under way.
 */
const HOT_BLOCKS = 4_096

export interface BalancesOptions extends GenesisOptions {
  /** Final blocks whose changes are kept; tests have fewer blocks than usual. */
  readonly hotBlocks?: number | undefined
  /** Transfers of one piece of the first load; tests have fewer than usual. */
  readonly pieceTransfers?: number | undefined
}

export function balancesFollower(options: BalancesOptions): BlockFollower {
  const { hotBlocks = HOT_BLOCKS, pieceTransfers = PIECE_TRANSFERS } = options
  return {
    ...balancesProjection,
    needs: ['holder_deltas', 'token_transfers', 'tokens'],
    begins: 'whole',
    prepare: async () => async () => {},
    complete: (context) => readGenesisBalances(options, context, balancesProjection),
    clear,
    load: (transaction, range) => loadPiece(transaction, range, { hotBlocks, pieceTransfers }),
    apply: (transaction, range) => applyBlocks(transaction, range, hotBlocks),
    revert,
  }
}

async function clear({ client, schema }: FollowerTransaction): Promise<void> {
  const tables = ['balances', 'balance_changes', 'genesis_balances', 'token_totals', 'token_changes']
  await client.query(
    `TRUNCATE ${tables.map((name) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`).join(', ')}`,
  )
  await clearLoad(client, schema)
}

async function revert({ client, schema }: FollowerTransaction, fromBlock: number): Promise<void> {
  const s = quoteIdentifier(schema)
  await client.query(
    `WITH undone AS (DELETE FROM ${s}.balance_changes WHERE block_num >= $1 RETURNING token, holder, delta),
     net AS (SELECT token, holder, sum(delta) AS delta FROM undone GROUP BY token, holder),
     changed AS (
       UPDATE ${s}.balances AS b SET balance = b.balance - net.delta FROM net
       WHERE b.holder = net.holder AND b.token = net.token
       RETURNING old.token AS token, old.balance AS before, new.balance AS after),
     moved AS (${movedTotalsSql})
     UPDATE ${s}.token_totals AS t SET holder_count = t.holder_count + holders, total_supply = t.total_supply + supply
     FROM moved WHERE t.token = moved.token`,
    [fromBlock],
  )
  await client.query(`UPDATE ${s}.balances SET below_since = NULL WHERE below_since >= $1`, [fromBlock])
  await client.query(
    `WITH undone AS (DELETE FROM ${s}.token_changes WHERE block_num >= $1 RETURNING token, transfer_count),
     net AS (SELECT token, sum(transfer_count) AS transfers FROM undone GROUP BY token)
     UPDATE ${s}.token_totals AS t SET transfer_count = t.transfer_count - transfers,
       last_transfer_at = (
         SELECT block_timestamp FROM ${s}.token_transfers AS kept WHERE kept.token = t.token AND block_num < $1
         ORDER BY block_num DESC, log_idx DESC LIMIT 1)
     FROM net WHERE t.token = net.token`,
    [fromBlock],
  )
  // A token first seen in these blocks loses its totals; a token of genesis keeps those of before
  // its first transfer.
  await client.query(
    `UPDATE ${s}.token_totals SET first_block = NULL, first_log_idx = NULL, first_transfer_at = NULL
     WHERE first_block >= $1`,
    [fromBlock],
  )
  await client.query(
    `DELETE FROM ${s}.token_totals AS t WHERE first_block IS NULL AND genesis_missing = 0
     AND NOT EXISTS (SELECT 1 FROM ${s}.genesis_balances AS g WHERE g.token = t.token)`,
  )
}
