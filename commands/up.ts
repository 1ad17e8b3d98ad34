/** `millrace up`: index, serve and show, in one process, until asked to stop. */
import { LiveHub } from '#api/live/hub.ts'
import { endpoints, type RouteServices } from '#api/routes/index.ts'
import { attributionNames } from '#api/routes/present/memo.ts'
import { type ChainReads, unnamedTokens } from '#api/routes/services.ts'
import { closeServer, createServer, listen } from '#api/server.ts'
import { readSecret } from '#store/secrets.ts'
import type { Chain } from '../chain.ts'
import type { Config } from '../config.ts'
import { type ChainId, chainId } from '../primitives.ts'
import type { Runtime } from '../runtime.ts'
import type { Logger } from '../telemetry.ts'
import { startTrafficOn } from './chains.ts'
import { nodeReader } from './nodeReader.ts'
import { openProgram, type Program } from './program.ts'
import { openQueryEngines } from './queryEngines.ts'
import { createStatusSource } from './status.ts'
import { startView } from './view.ts'

/** Runs until `stop` aborts. @throws what prevents the start, each error naming its setting */
export async function up(config: Config, runtime: Runtime, log: Logger, stop: AbortSignal): Promise<void> {
  const program = await openProgram(config, runtime, log)
  const ending = new AbortController()
  const started: Chain[] = []
  try {
    for (const chain of program.chains) {
      await chain.start()
      started.push(chain)
    }
    const traffic = startTrafficOn(program.reachable, runtime, log, ending.signal)
    await serve(config, program, runtime, log, stop)
    ending.abort()
    await Promise.all(traffic.map(({ done }) => done))
  } finally {
    ending.abort()
    for (const chain of started.toReversed()) await chain.stop()
    await program.close()
  }
}

/** Answers requests until `stop` aborts or an engine is lost for good. */
async function serve(
  config: Config,
  program: Program,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  const { postgres, lost } = program.engines
  const { clock } = runtime
  const shutdown = new AbortController()
  const sql = await openQueryEngines(program.engines, program.chains, runtime, log)
  const chains = readsOf(program)
  const status = createStatusSource({ chains: program.chains, postgres, runtime, notes: notesOf(config) })
  const services: RouteServices = {
    chains,
    sql,
    live: new LiveHub({ chains, engines: sql, clock, log }),
    status,
    clock,
    shutdown: shutdown.signal,
    attributionNames: attributionNames([]),
    tokenNames: unnamedTokens,
  }
  const app = await createServer({
    endpoints,
    services,
    chains: program.chains.map((chain) => chainId(chain.state.chainId)),
    cursorKeys: [await readSecret(postgres, 'cursor')],
    clock,
    log,
    shutdown: shutdown.signal,
    freshness: freshnessOf(program.chains, runtime),
  })
  const address = await listen(app, config.host, config.port)
  const view = startView({
    status,
    address,
    clock,
    stream: process.stdout,
    signal: shutdown.signal,
  })
  try {
    await Promise.race([lost, aborted(stop)])
  } finally {
    await closeServer(app, shutdown, { clock, log })
    await Promise.all([sql.postgres.close(), sql.clickhouse.close()])
    await view
  }
}

function readsOf(program: Program): ReadonlyMap<ChainId, ChainReads> {
  return new Map(
    program.chains.map((chain) => {
      const id = chainId(chain.state.chainId)
      const reads = {
        chainId: id,
        kind: chain.profile.kind,
        postgres: program.engines.postgres,
        state: chain.state,
        node: nodeReader(chain.nodes),
      }
      return [id, reads]
    }),
  )
}

function freshnessOf(chains: readonly Chain[], { clock }: Runtime) {
  const stateOf = (id: ChainId) => {
    const chain = chains.find((candidate) => candidate.state.chainId === id)
    if (!chain) throw new Error(`chain ${id} is not served`)
    return chain.state
  }
  const known = (height: number) => (height < 0 ? null : height)
  return {
    read: (id: ChainId) => {
      const { tip, finalized, head } = stateOf(id)
      return { indexedBlock: known(tip), finalizedBlock: known(finalized), headBlock: known(head) }
    },
    waitForBlock: (id: ChainId, block: number, signal: AbortSignal) =>
      stateOf(id).waitForBlock(block, clock, signal),
  }
}

function notesOf(config: Config): string[] {
  const open = config.host === '127.0.0.1' || config.host === 'localhost' || config.host === '::1'
  return [
    open
      ? 'access is open: quotas, keys and payment are not configured (the API listens on loopback only)'
      : 'access is open on a public address: quotas, keys and payment are not configured',
  ]
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
