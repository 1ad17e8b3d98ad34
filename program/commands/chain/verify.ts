/**
 * `millrace verify`: re-reads the node and both stores and names every table and block that
 * differs.
 */

import { SettingError } from '#errors.ts'
import { newestSegment } from '#ingest/range.ts'
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { describeDifference, type VerifyReport, verifyRange } from '#store/compare/verify.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { readChainIdentity } from '#store/ledger/ledger.ts'
import { schemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import { counted, grouped } from '#text/quantity.ts'
import { createDecodePool } from '#transform/decode/decodePool.ts'
import { openBeside } from '../../beside.ts'
import type { ReachableChain } from '../../chains.ts'
import type { Config } from '../../config.ts'
import type { Engines } from '../../engines.ts'
import { unlessInterrupted } from '../../process/stopSignal.ts'
import { rangeBelow } from './rangeBelow.ts'

export interface VerifyArguments {
  /** Inclusive; without bounds all that Postgres holds. */
  readonly from: number | null
  readonly to: number | null
  readonly json: boolean
}

interface Verified extends VerifyReport {
  /** The part of the asked range that is left out; null if there is none. */
  readonly note: string | null
}

/** True when both stores hold what the node says. */
export async function verify(
  config: Config,
  bounds: VerifyArguments,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<boolean> {
  const { engines, reachable, close } = await openBeside(config, runtime, log)
  try {
    let agreed = true
    for (const chain of reachable) {
      const report = await unlessInterrupted(stop, verifyChain(config, chain, engines, bounds, log))
      print(chain.chainId, report, bounds.json)
      agreed &&= report.differences.length === 0
    }
    return agreed
  } finally {
    await close()
  }
}

async function verifyChain(
  config: Config,
  chain: ReachableChain,
  engines: Engines,
  bounds: VerifyArguments,
  log: Logger,
): Promise<Verified> {
  const { chainId, kind, source } = chain
  const identity = await readChainIdentity(engines.postgres, chainId)
  if (!identity) throw new SettingError('DATABASE_URL', `holds nothing of chain ${chainId}`)
  const held = newestSegment(await readCoverage(engines.postgres.pool, schemaOf(chainId), 'postgres'))
  const from = bounds.from ?? held?.from ?? identity.startBlock
  const to = bounds.to ?? held?.to
  if (to === undefined) throw new SettingError('DATABASE_URL', `holds no block of chain ${chainId} yet`)
  const { head } = await source.head()
  const { range, note } = rangeBelow({ from, to }, head.number, 'head')
  const pool = createDecodePool({
    threads: config.workerThreads,
    profile: {
      chainId,
      kind,
      headerRule: identity.headerRule,
      loose: identity.loose ?? [],
      checks: chain.config.checks,
    },
    log,
  })
  try {
    const report = await verifyRange(
      {
        source,
        decode: (raw) => pool.decode(raw, undefined, everySender),
        postgres: engines.postgres,
        clickhouse: engines.clickhouse,
        schema: schemaOf(chainId),
        database: databaseOf(chainId),
      },
      range,
    )
    return { ...report, note }
  } finally {
    await pool.close()
  }
}

function print(chainId: number, report: Verified, json: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ chainId, ...report })}\n`)
  const { range, comparedBlocks, differences, provedBlocks } = report
  const lines = [...(report.note === null ? [] : [report.note]), ...differences.map(describeDifference)]
  const compared = `Postgres ${grouped(comparedBlocks.postgres)}, ClickHouse ${counted(comparedBlocks.clickhouse, 'block')} compared, ${grouped(provedBlocks)} proved`
  for (const store of ['postgres', 'clickhouse'] as const)
    for (const { from, to } of report.uncovered[store])
      lines.push(`${store} does not hold blocks ${from} to ${to}; they were not compared`)
  lines.push(
    `chain ${chainId} blocks ${range.from} to ${range.to}: ${differences.length === 0 ? 'agreed' : counted(differences.length, 'difference')} (${compared})`,
  )
  process.stdout.write(`${lines.join('\n')}\n`)
}
