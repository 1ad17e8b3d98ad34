/** `millrace up`: index, serve and show, in one process, until asked to stop. */

import type { FastifyInstance } from 'fastify'
import { privateKeyToAddress } from 'viem/accounts'
import { connectionLimits } from '#api/access/clientAddress.ts'
import { readDocumentExamples } from '#api/routes/index.ts'
import { tokenNamesOf } from '#api/routes/tokens/tokens.ts'
import { envelopes } from '#api/routes/webhooks/envelopes.ts'
import { assertAddressFree, closeServer, createServer, listen, type ServerOptions } from '#api/server.ts'
import type { Screen } from '#console/terminal/Screen.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import type { Freshness } from '#http/request/freshness.ts'
import { address } from '#primitives.ts'
import { RecentLook } from '#runtime/RecentLook.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { assertAnswers } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'
import type { Chain } from '../chain/Chain.ts'
import type { Config } from '../config.ts'
import { runTrafficOn } from '../devChains.ts'
import { openQuotas } from '../parts/access/openQuotas.ts'
import { openInstallationSecrets } from '../parts/access/secrets.ts'
import { chainReadsOf } from '../parts/chainData/chainReads.ts'
import { devKey } from '../parts/devKey.ts'
import { endpoints, openParts, type Parts, type Services } from '../parts/openParts.ts'
import { type OperatorLists, readLists } from '../parts/operatorLists.ts'
import { openWayOut } from '../parts/wayOut.ts'
import { aborted, assertNotInterrupted, InterruptedError } from '../process/stopSignal.ts'
import { openProgram, type Program } from '../program.ts'
import { startView } from './view.ts'

export interface UpOptions {
  readonly runtime: Runtime
  readonly log: Logger
  /** Ends the program. */
  readonly stop: AbortSignal
  readonly screen: Screen
}

/** Runs until `stop` aborts. @throws what prevents the start, each error naming its setting */
export async function up(config: Config, options: UpOptions): Promise<void> {
  try {
    await assertAddressFree(config.host, config.port)
    await index(config, options)
  } catch (error) {
    // Asked to end while it started: that is no failure.
    if (!(error instanceof InterruptedError)) throw error
  }
}

async function index(config: Config, options: UpOptions): Promise<void> {
  const { runtime, log, stop } = options
  const lists = readLists(config)
  const program = await openProgram(config, runtime, log, stop)
  const ending = new AbortController()
  const started: Chain[] = []
  const gifts = program.localIds.size > 0 ? [address(privateKeyToAddress(devKey(config, 'wallet')))] : []
  const traffic = runTrafficOn(program.reachable, gifts, runtime, log, ending.signal)
  try {
    for (const chain of program.chains) {
      await chain.start()
      started.push(chain)
    }
    await serve(config, program, lists, options)
  } finally {
    ending.abort()
    await traffic
    for (const chain of started.toReversed()) await chain.stop()
    await program.close()
  }
}

/** Answers requests until `stop` aborts or an engine is lost for good. */
async function serve(
  config: Config,
  program: Program,
  lists: OperatorLists,
  { runtime, log, stop, screen }: UpOptions,
): Promise<void> {
  const { clock } = runtime
  const [shutdown, answered] = [new AbortController(), new AbortController()]
  const { secrets, notes } = await openInstallationSecrets(config, program.engines)
  const quotas = openQuotas(program.engines, clock)
  const chains = chainReadsOf(program, lists, quotas, clock)
  const parts = await openParts({
    ...{ config, program, lists, secrets, quotas, chains, runtime, log, screen },
    ...openWayOut(config),
    tokenNames: tokenNamesOf(chains, lists.curatedTokens),
    notes: [...program.notes, ...notes],
    server: () => server,
    shutdown: shutdown.signal,
  })
  assertNotInterrupted(stop)
  const cursorKeys = new CursorKeys(await secrets.follow('cursor', (keys) => cursorKeys.use(keys)))
  const server = await openServer(config, program, parts, {
    cursorKeys,
    clock,
    log,
    shutdown: shutdown.signal,
  })
  const address = await listen(server, config.host, config.port)
  const { firstKey } = parts.beside.access
  if (firstKey) screen.print(`A key with every scope, for the operator, shown this once: ${firstKey}`)
  const running = parts.run({ address, shutdown: shutdown.signal, answered: answered.signal })
  const view = startView({ status: parts.services.status, address, clock, screen, signal: shutdown.signal })
  try {
    await Promise.race([program.engines.lost, aborted(stop)])
    screen.print('Ending: what is under way is finished first. The next start goes on from here.')
  } finally {
    await closeServer(server, shutdown, { clock, log })
    answered.abort()
    await running
    await parts.close()
    await view
  }
}

type Serving = Pick<ServerOptions<Services>, 'cursorKeys' | 'clock' | 'log' | 'shutdown'>

const openServer = (
  { trustedProxies, logsRequests }: Config,
  program: Program,
  { services, beside: { access, payments } }: Parts,
  serving: Serving,
): Promise<FastifyInstance> =>
  createServer({
    ...serving,
    endpoints,
    services,
    chains: program.chains.map(({ state }) => state.chainId),
    freshness: freshnessOf(program, serving),
    offersOf: (scope) => payments.payments?.offersOf(scope) ?? [],
    posts: envelopes,
    readExamples: (signal) => readDocumentExamples(services, signal),
    access: access.access,
    trustedProxies,
    logsRequests,
    connections: connectionLimits(trustedProxies),
  })

function freshnessOf({ chains, localIds, engines }: Program, { clock }: Pick<Serving, 'clock'>): Freshness {
  const answers = new RecentLook(clock)
  const chainOf = (id: number) => {
    const chain = chains.find((candidate) => candidate.state.chainId === id)
    if (!chain) throw new Error(`chain ${id} is not served`)
    return chain
  }
  const known = (height: number) => (height < 0 ? null : height)
  return {
    read: (id: number) => {
      const { state, certificates } = chainOf(id)
      const { tip, finalized, head, seq: version } = state
      const blocks = { indexedBlock: known(tip), finalizedBlock: known(finalized), headBlock: known(head) }
      return { ...blocks, finality: certificates.rule, version, isLocal: localIds.has(id) }
    },
    waitForBlock: (id: number, block: number, signal: AbortSignal) =>
      chainOf(id).state.waitForBlock(block, clock, signal),
    assertReadable: () => answers.look(() => assertAnswers(engines.postgres, clock)),
  }
}
