/** The gauges of chains, disk and process beside what happens: read off them when they are asked for. */
import { statfs } from 'node:fs/promises'
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import { rpcFailures } from '#ingest/rpc/client/errors.ts'
import program from '#package.json' with { type: 'json' }
import type { Clock } from '#runtime/runtime.ts'
import { auditPasses } from '#store/compare/Audit.ts'
import { metrics } from '#telemetry.ts'
import type { PartGauge } from '../part.ts'

/** The part of a chain that is told. */
export interface GaugedChain {
  readonly state: {
    readonly chainId: number
    readonly head: number
    readonly tip: number
    /** Unix milliseconds of the newest block held; null while there is none. */
    readonly tipTimeMs: number | null
  }
  readonly followers: readonly {
    readonly name: string
    readonly problem: string | null
    readonly tip: number
  }[]
  readonly nodes: {
    endpoints(): readonly { readonly name: string; readonly state: string; readonly head: number | null }[]
  }
  readonly historyProgress: {
    readonly blocksTotal: number
    readonly blocksDone: number
    readonly etaSeconds: number | null
  } | null
}

export interface GaugeOptions {
  readonly registry: Registry
  readonly chains: readonly GaugedChain[]
  readonly dataDir: string
  readonly clock: Pick<Clock, 'now'>
  /** Those of parts. */
  readonly gauges: readonly PartGauge[]
}

/** Adds them to the registry. A registry has them once. */
export function openGauges({ registry, chains, dataDir, clock, gauges }: GaugeOptions): void {
  const gauge = gaugeIn(registry)
  gauge('build_info', 'Always 1; the version is a label.', ['version', 'node'], (to) =>
    to.set({ version: program.version, node: process.version }, 1),
  )
  gaugeChains(gauge, chains, clock)
  gaugeEndpoints(gauge, chains)
  gaugeHistory(gauge, chains)
  for (const { name, help, labelNames, collect } of gauges) gauge(name, help, labelNames, collect)
  openDiskGauge(registry, dataDir)
  // Event loop, memory, garbage collection and CPU of this process, under the names dashboards
  // know.
  collectDefaultMetrics({ register: registry })
}

/** Makes a gauge whose series are read anew each time it is asked for. */
type MakeGauge = (
  name: string,
  help: string,
  labelNames: readonly string[],
  collect: PartGauge['collect'],
) => void

const gaugeIn =
  (registry: Registry): MakeGauge =>
  (name, help, labelNames, collect) => {
    new Gauge({
      ...{ name: `millrace_${name}`, help, labelNames: [...labelNames], registers: [registry] },
      async collect() {
        this.reset()
        await collect(this)
      },
    })
  }

type Tell = (chain: GaugedChain, labels: { readonly chain: string }) => void

function eachOf(chains: readonly GaugedChain[], tell: Tell): void {
  for (const chain of chains) tell(chain, { chain: `${chain.state.chainId}` })
}

function gaugeChains(gauge: MakeGauge, chains: readonly GaugedChain[], clock: Pick<Clock, 'now'>): void {
  gauge(
    'seconds_behind',
    'Age of the newest block held where the node has a newer one; 0 where it has none.',
    ['chain'],
    (to) =>
      eachOf(chains, ({ state: { head, tip, tipTimeMs } }, labels) => {
        if (tipTimeMs === null) return
        to.set(labels, tip >= head ? 0 : Math.max(0, clock.now() - tipTimeMs) / 1_000)
      }),
  )
  gauge('projection_tip_block', 'Newest block a projection has taken in.', ['chain', 'projection'], (to) =>
    eachOf(chains, ({ followers }, labels) => {
      for (const { name, tip } of followers) to.set({ ...labels, projection: name }, tip)
    }),
  )
  gauge(
    'projection_ok',
    '0 for a projection that stopped or waits for what it needs, else 1.',
    ['chain', 'projection'],
    (to) =>
      eachOf(chains, ({ followers }, labels) => {
        for (const { name, problem } of followers)
          to.set({ ...labels, projection: name }, problem === null ? 1 : 0)
      }),
  )
}

function gaugeEndpoints(gauge: MakeGauge, chains: readonly GaugedChain[]): void {
  gauge(
    'endpoint_healthy',
    '1 for an endpoint in use, 0 for one that is paused or in quarantine.',
    ['chain', 'endpoint'],
    (to) =>
      eachOf(chains, ({ nodes }, labels) => {
        for (const { name, state } of nodes.endpoints())
          to.set({ ...labels, endpoint: name }, state === 'healthy' ? 1 : 0)
      }),
  )
  gauge('endpoint_head_block', 'Newest block an endpoint has named.', ['chain', 'endpoint'], (to) =>
    eachOf(chains, ({ nodes }, labels) => {
      for (const { name, head } of nodes.endpoints())
        if (head !== null) to.set({ ...labels, endpoint: name }, head)
    }),
  )
}

function gaugeHistory(gauge: MakeGauge, chains: readonly GaugedChain[]): void {
  gauge(
    'history_blocks',
    'Blocks of history that load now: `total`, and of them `done`.',
    ['chain', 'part'],
    (to) =>
      eachOf(chains, ({ historyProgress: history }, labels) => {
        if (history === null) return
        to.set({ ...labels, part: 'total' }, history.blocksTotal)
        to.set({ ...labels, part: 'done' }, history.blocksDone)
      }),
  )
  gauge('history_eta_seconds', 'Time until history is loaded, at the present rate.', ['chain'], (to) =>
    eachOf(chains, ({ historyProgress: history }, labels) => {
      if (typeof history?.etaSeconds === 'number') to.set(labels, history.etaSeconds)
    }),
  )
}

/**
 * A file system that does not answer must not hold up the answer: told is what it said the last
 * time.
 */
function openDiskGauge(registry: Registry, dataDir: string): void {
  let isAsked = false
  const disk = new Gauge({
    name: 'millrace_disk_free_bytes',
    help: 'Room left on the file system of DATA_DIR; absent while it does not answer.',
    registers: [registry],
    collect: () => ask(),
  })
  const ask = () => {
    if (isAsked) return
    isAsked = true
    void statfs(dataDir)
      .then(({ bavail, bsize }) => disk.set(bavail * bsize))
      // Unknown is no number: 0 would be a full disk.
      .catch(() => disk.remove())
      .finally(() => {
        isAsked = false
      })
  }
  disk.remove()
  ask()
}

/**
 * Gives each counter its series from the start: a rate over one that begins with its
 * first event misses that event.
 */
export function startCounters(chains: readonly Pick<GaugedChain, 'state' | 'nodes'>[]): void {
  for (const outcome of ['succeeded', 'failed']) metrics.webhookAttempts.inc({ outcome }, 0)
  for (const outcome of ['delivered', 'dropped']) metrics.alarmDeliveries.inc({ outcome }, 0)
  for (const { state, nodes } of chains) {
    const chain = `${state.chainId}`
    for (const counter of [metrics.reverts, metrics.blocksRefuted]) counter.inc({ chain }, 0)
    for (const pass of auditPasses) metrics.auditedBlocks.inc({ chain, pass }, 0)
    for (const store of ['postgres', 'clickhouse']) metrics.rowsCommitted.inc({ chain, store }, 0)
    for (const lane of ['head', 'history']) metrics.blocksCommitted.inc({ chain, store: 'postgres', lane }, 0)
    metrics.blocksCommitted.inc({ chain, store: 'clickhouse', lane: 'all' }, 0)
    for (const source of ['store', 'node', 'refused'])
      metrics.rpcAnswers.inc({ chain, method: 'unknown', source }, 0)
    for (const { name: endpoint } of nodes.endpoints()) {
      metrics.relayCalls.inc({ chain, endpoint, outcome: 'ok' }, 0)
      for (const outcome of ['ok', ...rpcFailures]) metrics.rpcRequests.inc({ chain, endpoint, outcome }, 0)
      metrics.rpcCalls.inc({ chain, endpoint }, 0)
      for (const direction of ['sent', 'received']) metrics.rpcBytes.inc({ chain, endpoint, direction }, 0)
      metrics.rpcSeconds.zero({ chain, endpoint })
    }
  }
}
