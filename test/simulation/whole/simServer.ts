/** All of a process that works with money, over the rows of one database; what is outside is simulated. */

import { multiplied } from '#money/amounts.ts'
import { OutflowWatch } from '#money/OutflowWatch.ts'
import { JOBS_SCOPE, JobOrders } from '#orchestrator/job/JobOrders.ts'
import { Jobs } from '#orchestrator/job/Jobs.ts'
import type { PlanNode } from '#orchestrator/plan/plan.ts'
import { Reviews } from '#orchestrator/review/Reviews.ts'
import { Prover } from '#payments/books/Prover.ts'
import { Payments } from '#payments/Payments.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import { RefusedPayments } from '#payments/RefusedPayments.ts'
import { outflowLedger } from '#rows/books/outflows.ts'
import type { AppDatabase } from '#rows/database.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger as log } from '#telemetry.ts'
import type { Buyer } from '#wallet/buyer.ts'
import type { Mood, SimMarket } from '../jobs/simMarket.ts'
import { buyAt, endpointOf, pollingOf } from '../jobs/simSellers.ts'
import { type Kernel, ProcessClock, type SimProcess } from '../kernel.ts'
import { CHAIN_ID, FEE, PAYEE, type SimChain, type SimTransaction, TOKEN } from './simChain.ts'
import { type Credential, SimMethod } from './simMethod.ts'
import { type NodeLie, nodesOf } from './simNodes.ts'
import { SimSender } from './simSender.ts'
import type { WholeBugs } from './wholeBugs.ts'

/** The price of each node's call, and its seller's mood. */
export type Plans = Map<string, { readonly price: bigint; readonly mood: Mood }>

export interface ServerWorld {
  readonly kernel: Kernel
  readonly chain: SimChain
  readonly market: SimMarket
  readonly plans: Plans
  readonly credentials: ReadonlyMap<string, Credential>
  readonly signed: Map<string, SimTransaction>
  readonly bugs: WholeBugs
  readonly lie: NodeLie
  readonly isHasty: boolean
  readonly isPoor: boolean
  readonly wrong: (what: string) => void
}

export interface Server {
  readonly process: SimProcess
  readonly app: AppDatabase
  readonly orders: JobOrders
  readonly reviews: Reviews
}

const MULTIPLIER = '1.07'
const WATCH_MS = 10_000
const dollars = { dollarsPerDay: '1000', dollarsPerPayer: '1000' } as const
const quotas = { take: () => ({ remaining: 1_000_000, leftMs: 0 }) }

class WholeClock extends ProcessClock {
  override now(): number {
    return Math.floor(super.now())
  }
}

/** Opens the parts of a process, and runs them until it dies. */
export function serve(world: ServerWorld, process: SimProcess, app: AppDatabase): Server {
  const { kernel, chain, bugs } = world
  const clock = new WholeClock(kernel, process)
  const runtime = { clock, random: kernel.random, failpoint: () => {} }
  const base = { app, clock, log }
  const nodes = nodesOf(kernel, chain, process, world.lie)
  const method = new SimMethod(world, process, nodes, clock)
  const refused = new RefusedPayments(quotas, clock)
  const priced = { realm: 'sim', methods: [method], prices: {}, priced: new Set([JOBS_SCOPE]) }
  const payments = new Payments({ ...base, ...priced, refused })
  const due = new CommitBell()
  const orders = new JobOrders({
    ...{ app, payments, clock, budget: null, costMax: null, made: () => due.ring() },
    proofs: provingCallers(),
    quotes: quotesOf(world.plans),
  })
  const share = bugs.has('a reward is more than a share') ? '3' : '0.25'
  const reviews = new Reviews({ ...base, terms: { share, ...dollars }, transferFee: async () => FEE })
  const watch = new OutflowWatch({
    ...{ chainId: CHAIN_ID, account: PAYEE, tokens: () => [TOKEN], ask: watchedNode(nodes) },
    ledger: outflowLedger(app, CHAIN_ID, PAYEE),
  })
  const isBlind = bugs.has('a restore is not noticed')
  const sender = new SimSender(world, process, nodes)
  const mayPay = () => isBlind || watch.hasLooked
  const payouts = new Payouts({ ...base, chain: sender, budgetOf: () => 10n ** 12n, mayPay, runtime })
  const prover = new Prover({
    ...{ ...base, chain: { chainId: CHAIN_ID, index: null }, nodes, budgets: () => new Map() },
    outcome: (payment) => payments.outcome(payment),
  })
  const { signal } = new AbortController()
  const looking = () => (isBlind ? Promise.resolve() : watch.look()).then(() => WATCH_MS)
  const running = [payments, reviews, payouts, prover, jobsOf(world, process, { app, runtime, due })]
  const loops = [
    ...running.map((one) => one.run(signal)),
    repeat({ clock, signal, failed: () => WATCH_MS }, looking),
  ]
  for (const loop of loops) loop.catch((error: unknown) => world.wrong(`a loop ended: ${error}`))
  return { process, app, orders, reviews }
}

/** The first is honest: whoever trusts one node names his own. */
function watchedNode<Ask>([first]: readonly Ask[]): Ask {
  if (!first) throw new Error('there is no node')
  return first
}

/** A plan that costs nothing needs no more than a name. */
const provingCallers = () =>
  ({
    prove: async (_headers: unknown, _request: unknown, payer: string) => ({ kind: 'proved', payer }),
  }) as never

const quotesOf = (plans: Plans) => ({
  quote: async (
    { nodes: called }: { readonly nodes: readonly PlanNode[] },
    ...[, , carried = []]: Quoting
  ) => {
    const nodes = called.map(({ id: nodeId }) => {
      const units = carried.includes(nodeId) ? 0n : (plans.get(nodeId)?.price ?? 0n)
      return { nodeId, amountUnits: `${units}` }
    })
    const net = nodes.reduce((sum, { amountUnits }) => sum + BigInt(amountUnits), 0n)
    const total = { totalAmountUnits: `${multiplied(net, MULTIPLIER)}` }
    return { currency: 'USD', decimals: 6, costMultiplier: MULTIPLIER, ...total, nodes } as never
  },
  pricedCalls: () => null,
})

type Quoting = readonly [caller: string, signal: AbortSignal, carried?: readonly string[]]

interface JobMeans {
  readonly app: AppDatabase
  readonly runtime: Runtime
  readonly due: CommitBell
}

const jobsOf = (world: ServerWorld, process: SimProcess, means: JobMeans): Jobs =>
  new Jobs({
    ...{ ...means, buyer: buyerOf(world, process), changed: new CommitBell(), log },
    egress: pollingOf(world, process),
    endpointOf: async (node) => endpointOf(node, moodOf(world, node.id) === 'polled'),
  })

function buyerOf(world: ServerWorld, process: SimProcess): Buyer {
  return {
    buy: (purchase) => {
      const { nodeId: label } = purchase
      return buyAt(world, process, { purchase, label, mood: moodOf(world, label) })
    },
    paidCalls: () => 0,
    recover: async () => new Map(),
  }
}

const moodOf = ({ plans }: ServerWorld, nodeId: string): Mood => plans.get(nodeId)?.mood ?? 'honest'
