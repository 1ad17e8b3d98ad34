/** Whether the data is there, for /ready: a chain that stands until a person acts keeps no promise. */
import type { ReadyScope } from '#api/routes/service/status.ts'

/** The parts of a chain that decide its readiness. */
export interface ReadyChain {
  readonly state: { readonly chainId: number }
  readonly headStatus: Lane
  readonly historyStatus: Lane
  readonly clickhouseStatus: Lane
  caughtUp(scope: ReadyScope): boolean
}

interface Lane {
  readonly state: string
  readonly problem: string | null
}

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string }

/** States that end by no event, but by what a person does. */
const standing: ReadonlySet<string> = new Set(['stopped', 'finality_violated'])

export function readinessOf(chains: readonly ReadyChain[], scope: ReadyScope): Readiness {
  const stands = chains.flatMap((chain) => standingOf(chain, scope) ?? [])
  if (stands.length > 0) return { ready: false, reason: stands.join('; ') }
  const behind = chains.filter((chain) => !chain.caughtUp(scope)).map(({ state }) => state.chainId)
  return behind.length === 0
    ? { ready: true }
    : { ready: false, reason: `chain ${behind.join(', ')} has not caught up with the head at start yet` }
}

/** Which lane of a chain stands for good, and why; the newest blocks need the head's alone. */
function standingOf(chain: ReadyChain, scope: ReadyScope): string | null {
  const { state, headStatus, historyStatus, clickhouseStatus } = chain
  const lanes: [name: string, lane: Lane][] = [['head', headStatus]]
  if (scope === 'all') lanes.push(['history', historyStatus], ['ClickHouse', clickhouseStatus])
  const found = lanes.find(([, lane]) => standing.has(lane.state))
  if (!found) return null
  const [name, { state: told, problem }] = found
  return `chain ${state.chainId} stands until a person acts (${name}: ${told}): ${problem ?? 'no reason is known'}`
}
