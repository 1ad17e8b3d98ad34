/** The queries of the bench: the shapes analysts' questions have, cheap ones and dear ones. */
import type { Engine } from '#primitives.ts'

export interface BenchQuery {
  readonly name: string
  readonly sql: string
  readonly signatures: readonly string[]
}

const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'

/** The same text on both engines; the point is a transaction that the program holds. */
export async function benchQueries(address: string, engine: Engine): Promise<readonly BenchQuery[]> {
  const plain = (name: string, sql: string) => ({ name, sql, signatures: [] })
  const decoded = (name: string, sql: string) => ({ name, sql, signatures: [transfer] })
  return [
    plain('point', `SELECT * FROM txs WHERE hash = '${await someHash(address, engine)}'`),
    plain(
      'range',
      'SELECT block_num, log_idx, address, topic0, data FROM logs WHERE block_num BETWEEN 1000 AND 1049 ORDER BY block_num, log_idx',
    ),
    plain(
      'aggregate',
      'SELECT block_num % 100 AS bucket, count(*) AS n, max(log_idx) AS last FROM logs GROUP BY 1 ORDER BY 1',
    ),
    decoded(
      'aggregate of a decoded event',
      'SELECT block_num % 100 AS bucket, count(*) AS n, sum(value) AS total FROM Transfer GROUP BY 1 ORDER BY 1',
    ),
    decoded(
      'decoded event in a range',
      'SELECT block_num, "from", "to", value FROM Transfer WHERE block_num BETWEEN 1000 AND 1009 ORDER BY block_num, log_idx',
    ),
  ]
}

async function someHash(address: string, engine: Engine): Promise<string> {
  const sql = encodeURIComponent('SELECT hash FROM txs WHERE block_num = 1000 AND idx = 7')
  const answer = await fetch(`${address}/v1/indexer/query?engine=${engine}&sql=${sql}`)
  const found = /0x[0-9a-f]{64}/.exec(await answer.text())?.[0]
  if (found === undefined) throw new Error('block 1000 holds no transaction to look for')
  return found
}
