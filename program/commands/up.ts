/** `millrace up`: index, serve and show, in one process, until asked to stop. */

import { connectionLimits } from '#api/access/clientAddress.ts'
import { CursorKeys } from '#api/http/cursor.ts'
import { LiveHub } from '#api/live/hub.ts'
import { nodeReader } from '#api/node.ts'
import { type AttributedService, readAttributions } from '#api/operator/attributions.ts'
import { type CuratedTokens, curatedTokensDefault, readCuratedTokens } from '#api/operator/curatedTokens.ts'
import { declareContracts } from '#api/operator/declaredContracts.ts'
import { endpoints, type RouteServices, readDocumentExamples } from '#api/routes/index.ts'
import { LogoCache } from '#api/routes/tokens/logoCache.ts'
import { tokenNamesOf } from '#api/routes/tokens/tokens.ts'
import { envelopes } from '#api/routes/webhooks/envelopes.ts'
import { RpcDoor } from '#api/rpc/RpcDoor.ts'
import { assertAddressFree, closeServer, createServer, listen } from '#api/server.ts'
import type { ChainReads, DeclaredContracts } from '#api/services.ts'
import type { Screen } from '#console/terminal/screen.ts'
import { addReaders } from '#local/engines/connection.ts'
import { type McpServices, mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import type { Clock, Runtime } from '#runtime.ts'
import { appDatabase } from '#store/app/database.ts'
import { type Logger, registry } from '#telemetry.ts'
import { openAccess } from '../access/access.ts'
import { openInstallationSecrets } from '../access/secrets.ts'
import { openGauges, startCounters } from '../alarms/gauges.ts'
import { openAlarms } from '../alarms/openAlarms.ts'
import type { Chain } from '../chain/chain.ts'
import { runTrafficOn } from '../chains.ts'
import type { Config } from '../config.ts'
import { Attributions } from '../orchestrator/attributions.ts'
import { askThrough, chainTools } from '../orchestrator/chainTools.ts'
import { openOrchestrator } from '../orchestrator.ts'
import { openParity, parityStatusOf } from '../parity.ts'
import { aborted, assertNotInterrupted, InterruptedError } from '../process/stopSignal.ts'
import { openProgram, type Program } from '../program.ts'
import { checkAllWalls, keepWallsChecked, openQueryEngines } from '../queryEngines.ts'
import type { ChainConfig } from '../settings/chainFields.ts'
import { createStatusSource } from '../status.ts'
import { openWebhooks } from '../webhooks/openWebhooks.ts'
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
  const traffic = runTrafficOn(program.reachable, runtime, log, ending.signal)
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

interface Lists {
  readonly curatedTokens: CuratedTokens
  readonly attributions: readonly AttributedService[]
  readonly contracts: ReadonlyMap<ChainConfig, DeclaredContracts>
}

/** The operator's own lists, before anything is opened. @throws SettingError */
function readLists({ tokenlist, attributions, chains }: Config): Lists {
  return {
    curatedTokens: readCuratedTokens('TOKENLIST', tokenlist ?? curatedTokensDefault),
    attributions: attributions ? readAttributions('ATTRIBUTIONS', attributions) : [],
    contracts: new Map(chains.map((chain) => [chain, declareContracts(chain.contracts)])),
  }
}

/** Answers requests until `stop` aborts or an engine is lost for good. */
async function serve(
  config: Config,
  program: Program,
  { curatedTokens, attributions, contracts }: Lists,
  options: UpOptions,
): Promise<void> {
  const { runtime, log, stop, screen } = options
  const { postgres, lost } = program.engines
  const { clock } = runtime
  const shutdown = new AbortController()
  const declared = declaredOf(program, contracts)
  const { secrets, notes: secretNotes } = await openInstallationSecrets(config, program.engines)
  const chains = readsOf(program, declared, clock)
  const access = await openAccess(config.access, program.engines, secrets, chains, clock, screen.isTerminal)
  const sql = await openQueryEngines(
    program.engines,
    program.chains,
    (id) => declared.get(id) ?? nothingDeclared,
    secrets,
    runtime,
    log,
  )
  addReaders(config.dataDir, sql.readers)
  assertNotInterrupted(stop)
  await checkAllWalls(sql, program.chains, log)
  const walls = keepWallsChecked(sql, program.chains, runtime, log, shutdown.signal)
  const tokenNames = tokenNamesOf(chains, curatedTokens)
  const webhooks = openWebhooks({
    mode: config.webhooks,
    postgres,
    sealer: await secrets.sealer(),
    chains,
    tokenNames,
    holder: program.holder,
    runtime,
    log,
  })
  const parity = openParity(program.engines, program.chains, runtime, log)
  const comparing = parity.run(shutdown.signal)
  const alarms = openAlarms(config, program.chains, parity, webhooks, options, shutdown.signal)
  openGauges({
    ...{ registry, chains: program.chains, dataDir: config.dataDir, clock: runtime.clock },
    webhooks: webhooks?.watch ?? null,
  })
  startCounters(program.chains)
  const status = createStatusSource({
    chains: program.chains,
    postgres,
    runtime,
    local: localIds(program.reachable),
    notes: [
      accessNote(config.access),
      ...[program.notes, secretNotes, sql.notes, webhooks?.notes ?? []].flat(),
    ],
    parityOf: ({ state }) => parityStatusOf(parity, state.chainId),
    alarms: alarms.watch,
    webhooks: webhooks?.watch ?? null,
  })
  const orchestrator = openOrchestrator(config, program, runtime, log, access.takeSellerCalls)
  const attributed = new Attributions(attributions)
  const services: RouteServices & McpServices = {
    ...orchestrator.services,
    chainTools,
    askOwn: askThrough(() => server),
    chains,
    sql,
    live: new LiveHub({ chains, engines: sql, clock, log }),
    status,
    accounts: access.accounts,
    signIn: access.signIn,
    parity: parity.reads,
    clock,
    shutdown: shutdown.signal,
    attributionNames: attributed.names,
    tokenNames,
    webhooks: webhooks?.operations ?? null,
    curatedTokens,
    egress: orchestrator.egress,
    logoCache: new LogoCache(clock),
    rpc: rpcDoors(program, chains, clock, log),
  }
  const cursorKeys = new CursorKeys(await secrets.follow('cursor', (keys) => cursorKeys.use(keys)))
  const following = secrets.run(clock, log, shutdown.signal)
  const counted = new AbortController()
  const counting = access.run(counted.signal)
  const sending = webhooks?.run(shutdown.signal)
  const server = await createServer({
    endpoints: [...endpoints, ...orchestratorEndpoints, mcpEndpoint],
    services,
    chains: program.chains.map((chain) => chain.state.chainId),
    cursorKeys,
    clock,
    log,
    shutdown: shutdown.signal,
    freshness: freshnessOf(program, runtime),
    posts: envelopes,
    readExamples: (signal) => readDocumentExamples(services, signal),
    access: access.access,
    trustedProxies: config.trustedProxies,
    connections: connectionLimits(config.trustedProxies),
  })
  const address = await listen(server, config.host, config.port)
  if (access.firstKey)
    screen.print(`A key with every scope, for the operator, shown this once: ${access.firstKey}`)
  const orchestrating = orchestrator.run(address, shutdown.signal)
  const attributing = attributed.follow(orchestrator.services.app, clock, log, shutdown.signal)
  const view = startView({ status, address, clock, screen, signal: shutdown.signal })
  try {
    await Promise.race([lost, aborted(stop)])
    screen.print('Ending: what is under way is finished first. The next start goes on from here.')
  } finally {
    await closeServer(server, shutdown, { clock, log })
    counted.abort()
    await orchestrating
    await attributing
    await walls
    await following
    await comparing
    await alarms.ended
    await counting
    await sending
    await Promise.all([sql.postgres.close(), sql.clickhouse.close()])
    await view
  }
}

const rpcDoors = (
  { reachable, engines: { postgres } }: Program,
  chains: ReadonlyMap<number, ChainReads>,
  clock: Runtime['clock'],
  log: Logger,
): ReadonlyMap<number, RpcDoor> => {
  const filters = appDatabase(postgres)
  return new Map(
    reachable.map(({ chainId: id, kind, config, source: { relay } }) => {
      const reads = chains.get(id)
      const stored = reads ? { postgres, state: reads.state } : null
      return [
        id,
        new RpcDoor({
          chainId: id,
          kind,
          relay,
          enabled: config.rpcMethods,
          stored,
          filters,
          clock,
          log,
        }),
      ]
    }),
  )
}

const nothingDeclared: DeclaredContracts = { tables: [], activities: [] }

const declaredOf = (
  { reachable }: Program,
  contracts: Lists['contracts'],
): ReadonlyMap<number, DeclaredContracts> =>
  new Map(reachable.map(({ chainId: id, config }) => [id, contracts.get(config) ?? nothingDeclared]))

function readsOf(
  program: Program,
  declared: ReadonlyMap<number, DeclaredContracts>,
  clock: Clock,
): ReadonlyMap<number, ChainReads> {
  return new Map(
    program.chains.map((chain) => {
      const id = chain.state.chainId
      const reads = {
        chainId: id,
        kind: chain.profile.kind,
        postgres: program.engines.postgres,
        state: chain.state,
        node: nodeReader(chain.nodes, clock),
        declared: declared.get(id) ?? nothingDeclared,
      }
      return [id, reads]
    }),
  )
}

function freshnessOf({ chains, reachable }: Program, { clock }: Runtime) {
  const local = localIds(reachable)
  const stateOf = (id: number) => {
    const chain = chains.find((candidate) => candidate.state.chainId === id)
    if (!chain) throw new Error(`chain ${id} is not served`)
    return chain.state
  }
  const known = (height: number) => (height < 0 ? null : height)
  return {
    read: (id: number) => {
      const { tip, finalized, head, seq: version } = stateOf(id)
      const blocks = { indexedBlock: known(tip), finalizedBlock: known(finalized), headBlock: known(head) }
      return { ...blocks, version, isLocal: local.has(id) }
    },
    waitForBlock: (id: number, block: number, signal: AbortSignal) =>
      stateOf(id).waitForBlock(block, clock, signal),
  }
}

const localIds = (reachable: Program['reachable']): ReadonlySet<number> =>
  new Set(reachable.flatMap(({ devChain, chainId: id }) => (devChain ? [id] : [])))

const accessNote = ({ mode, reason }: Config['access']): string => `access is ${mode}: ${reason}`
