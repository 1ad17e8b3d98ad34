/**
 * A program that holds a data directory and its engines until it is killed. Run by the tests of
 * what a kill leaves.
 */

import { startDevChain } from '#local/devchain/node.ts'
import { startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { watchOrphans } from '#local/orphanWatch.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'

const [, , path = '', ...engines] = process.argv
const { path: dataDir } = openDataDir(path)
if (engines.includes('watch')) watchOrphans(dataDir)
const pids: Record<string, number> = { program: process.pid }
if (engines.includes('postgres')) pids['postgres'] = (await startPostgres({ dataDir, log: silentLogger })).pid
if (engines.includes('clickhouse')) {
  pids['clickhouse'] = (await startClickHouse({ dataDir, log: silentLogger, readerGrants: [] })).pid
}
if (engines.includes('devchain')) {
  pids['devchain'] = (await startDevChain({ dataDir, log: silentLogger, clock: systemRuntime().clock })).pid
}
process.stdout.write(`${JSON.stringify(pids)}\n`)
setInterval(() => {}, 1_000)
