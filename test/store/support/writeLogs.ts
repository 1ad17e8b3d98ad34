/** Logs written beside those of the blocks that a store holds. */
import { toBytes } from '#store/sql.ts'
import type { WrittenLog } from '../../api/support/writtenChain.ts'
import type { ChainStore } from './chainStore.ts'

/** After all logs that a block of a recording has. */
const FIRST_LOG = 1_000

export async function writeLogs(store: ChainStore, logs: readonly WrittenLog[], at: number): Promise<void> {
  const bytes = (value: unknown) => (typeof value === 'string' ? toBytes(value) : null)
  await store.postgres.pool.query(
    `INSERT INTO ${store.schema}.logs
       (block_num, log_idx, block_timestamp, tx_idx, tx_hash, address, topic0, topic1, topic2, topic3, data, is_virtual_forward)
     SELECT $1, ${FIRST_LOG} - 1 + nth, now(), 0, sha256(''), address, topic0, topic1, topic2, topic3, data, false
     FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[]) WITH ORDINALITY
       AS written (address, topic0, topic1, topic2, topic3, data, nth)`,
    [
      at,
      logs.map(({ address }) => toBytes(address)),
      ...[0, 1, 2, 3].map((nth) => logs.map(({ topics }) => bytes(topics[nth]))),
      logs.map(({ data }) => toBytes(data)),
    ],
  )
}
