// Goal: without the gate, role, grants, transaction and protocol of Postgres stop each attack.
/**
 * The walls of Postgres when the gate does not hold: role, grants, transaction and protocol, each attack
 * sent as it is.
 */

import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresReader } from '#query/postgres/read/PostgresReader.ts'
import type { QueryResult } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { readCorpus } from '../support/corpus.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

const canary = 'canary-5f1d0c'
let chain: ExampleChain
let reader: PostgresReader
let outbound: Server
let outboundConnections = 0

beforeAll(async () => {
  chain = await createExampleChain()
  const { pool } = chain.postgres
  await pool.query(
    `CREATE SCHEMA app; CREATE TABLE app.api_keys (secret text); INSERT INTO app.api_keys VALUES ('${canary}')`,
  )
  await pool.query(
    `CREATE TABLE public.leftover (secret text); INSERT INTO public.leftover VALUES ('${canary}')`,
  )
  outbound = createServer((socket) => {
    outboundConnections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  const { clock } = systemRuntime()
  // One connection, so that every attack meets what the one before it left behind.
  reader = new PostgresReader({ url: chain.readerUrl, connectionsMax: 1, clock, log: silentLogger })
})

afterAll(async () => {
  await reader?.close()
  outbound?.close()
  await chain?.close()
})

/** For a query that must come to its end, however busy the machine. */
const PATIENCE_MS = 60_000

/** Sends a text past the gate. */
const send = (sql: string, timeoutMs = 500): Promise<QueryResult> =>
  reader.execute({ sql, relations: [] }, { chainId: chain.chainId, sql, limit: 1_000, timeoutMs })

/** Attacks that are after something; those that only cost time are held in limits.test.ts. */
const effects = readCorpus('attacks.postgres.txt').filter(({ note }) =>
  /^\[(file|network|catalog|schema|scope|write|lock|stacked|effect|dynamic|host)\]/.test(note),
)

const physical = (sql: string): string => sql.replaceAll('chain_1', `chain_${chain.chainId}`)

describe('without the gate', () => {
  it('no attack reads a secret, a file or another schema, writes or connects', async () => {
    const before = await fingerprint()
    const ran: string[] = []
    for (const { sql, note } of effects) {
      const answer = await send(physical(sql)).catch((error: unknown) => error)
      if (!(answer instanceof Error)) {
        ran.push(`${note}: ${sql}`)
        expect(JSON.stringify(answer)).not.toMatch(/canary|root:|SCRAM|chain_\d+\./)
      } else expect(answer).toBeInstanceOf(UserQueryError)
    }
    expect(await fingerprint()).toEqual(before)
    expect(outboundConnections).toBe(0)
    // The constructs that ran are refused by the gate for their cost or on principle; nothing of another's is
    // in reach.
    expect(
      ran.filter((entry) => /^\[(file|network|catalog|schema|write|lock|stacked)\]/.test(entry)),
    ).toEqual([])
    expect(ran.length).toBeLessThan(40)
  })

  it('no attack changes the session of the next query', async () => {
    const wanted = await sessionSettings()
    const attacks = [
      'SET statement_timeout = 0',
      "SET SESSION work_mem = '4GB'",
      'RESET ALL',
      'LISTEN x',
      'COMMIT',
      'BEGIN',
    ]
    for (const sql of [...attacks, "SELECT set_config('statement_timeout', '0', false)"]) {
      await send(sql).catch(() => {})
      expect(await sessionSettings()).toEqual(wanted)
    }
  })

  it('no second statement rides along', async () => {
    await expect(send('SELECT 1; SELECT 2', PATIENCE_MS)).rejects.toMatchObject({ code: 'sql_invalid' })
  })

  it('a value of half a gigabyte ends the query, not the process', async () => {
    await expect(send("SELECT lpad('x', 600000000)", PATIENCE_MS)).rejects.toMatchObject({
      code: 'sql_failed',
    })
    expect((await send('SELECT 1', PATIENCE_MS)).rows).toEqual([[1]])
  })
})

/** The settings that a query finds; the first one runs on a connection nobody used before. */
async function sessionSettings(): Promise<unknown> {
  return (await send('SHOW ALL', PATIENCE_MS)).rows
}

/** Everything a write could have changed. Locks of this database alone: other suites share the server. */
async function fingerprint(): Promise<unknown> {
  const { rows } = await chain.postgres.pool.query(
    `SELECT (SELECT count(*) FROM chain_${chain.chainId}.logs) AS logs, (SELECT count(*) FROM pg_class) AS classes,
      (SELECT count(*) FROM pg_proc) AS functions, (SELECT rolconfig::text || rolsuper::text FROM pg_roles WHERE rolname = 'reader_${chain.chainId}') AS role,
      (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks,
      (SELECT string_agg(secret, ',') FROM app.api_keys) AS secrets`,
  )
  return rows
}
