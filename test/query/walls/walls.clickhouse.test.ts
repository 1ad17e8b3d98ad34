// Goal: without the gate, grants and settings of ClickHouse stop each attack.
/**
 * The walls of ClickHouse when the gate does not hold: the reader's grants and settings, each attack sent
 * as it is.
 */

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClickHouseReader } from '#query/clickhouse/read/ClickHouseReader.ts'
import type { QueryResult } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { readCorpus } from '../support/corpus.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

const canary = 'canary-77ab3e'
let chain: ExampleChain
let reader: ClickHouseReader
let outbound: Server
let outboundPort = 0
let outboundConnections = 0

beforeAll(async () => {
  chain = await createExampleChain()
  await chain.clickhouse.command({
    query: `CREATE TABLE chain_${chain.chainId}.private ENGINE = MergeTree ORDER BY secret AS SELECT '${canary}' AS secret`,
  })
  outbound = createServer((socket) => {
    outboundConnections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(outbound, 'listening')
  const address = outbound.address()
  outboundPort = typeof address === 'object' && address ? address.port : 0
  const { clickhouseUrl, readerUsername, readerPassword } = chain.database
  const { clock } = systemRuntime()
  const access = { url: clickhouseUrl, username: readerUsername, password: readerPassword }
  reader = new ClickHouseReader({ ...access, connectionsMax: 2, clock })
})

afterAll(async () => {
  await reader?.close()
  outbound?.close()
  await chain?.close()
})

const send = (sql: string): Promise<QueryResult> =>
  reader.execute(
    { sql, relations: [], columns: [] },
    { chainId: chain.chainId, sql, limit: 100, timeoutMs: 500 },
  )

/** Attacks that are after something; those that only cost time are held in limits.test.ts. */
const effects = readCorpus('attacks.clickhouse.txt').filter(({ note }) =>
  /^\[(file|network|code|catalog|schema|scope|write|stacked|effect)\]/.test(note),
)

/** The corpus in terms of this chain, with its networks pointed at our listener. */
function aimed(sql: string): string {
  return sql
    .replace(/\b(FROM|JOIN|IN|,) (logs|blocks|txs)\b/g, `$1 chain_${chain.chainId}_sql.$2`)
    .replaceAll('chain_1', `chain_${chain.chainId}`)
    .replaceAll(/169\.254\.169\.254|10\.0\.0\.1|127\.0\.0\.1(:\d+)?/g, `127.0.0.1:${outboundPort}`)
}

describe('without the gate', () => {
  it('no attack reads a secret, a file or a system table, writes or connects', async () => {
    const ran: string[] = []
    for (const { sql, note } of effects) {
      const answer = await send(aimed(sql)).catch((error: unknown) => error)
      if (answer instanceof Error) {
        expect(answer).toBeInstanceOf(UserQueryError)
        continue
      }
      ran.push(`${note}: ${sql}`)
      expect(JSON.stringify(answer)).not.toMatch(/canary|root:|password/)
    }
    expect(outboundConnections).toBe(0)
    expect(ran.filter((entry) => /^\[(file|network|code|write|stacked|effect)\]/.test(entry))).toEqual([])
    const answer = await chain.clickhouse.query({
      query: `SELECT (SELECT count() FROM chain_${chain.chainId}.logs) AS logs,
        (SELECT count() FROM system.tables WHERE database = 'chain_${chain.chainId}_sql') AS views`,
      format: 'JSONEachRow',
    })
    const [row] = await answer.json<Record<string, unknown>>()
    expect([Number(row?.['logs']), Number(row?.['views'])]).toEqual([7, 12])
  })

  it.each([
    (id: number) => `SELECT * FROM chain_${id}.private`,
    (id: number) => `SELECT * FROM merge('chain_${id}', 'priv.*')`,
    (id: number) => `SELECT * FROM chain_${id}.logs`,
    (id: number) => `SELECT * FROM mergeTreeIndex('chain_${id}', 'private')`,
  ])('the physical tables are out of reach', async (sqlOf) => {
    await expect(send(sqlOf(chain.chainId))).rejects.toMatchObject({ code: expect.stringMatching(/^sql_/) })
  })
})
