/** A client at the RPC door of a simulated process: it asks again and again where the chain ends. */

import type { Relay } from '#ingest/relay/Relay.ts'
import { RelayFailedError } from '#ingest/relay/relayFailure.ts'
import { RpcError } from '#ingest/rpc/client/errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Bugs } from './bugs.ts'
import type { SimLedger } from './simLedger.ts'

interface ClientOptions {
  readonly relay: Relay
  /** Over the first endpoint alone; asked by a planted bug only. */
  readonly liar: Relay
  readonly ledger: SimLedger
  readonly bugs: Bugs
  readonly told: (head: number, finalized: number | null) => void
  readonly clock: Clock
}

const PAUSE_MS = 400

export async function askAsClient(options: ClientOptions, signal: AbortSignal): Promise<void> {
  const { relay, ledger, told, clock } = options
  const held = () => {
    const { lane } = ledger.state
    return lane?.tipHash ? { tip: lane.tip, finalized: lane.finalized } : { tip: -1, finalized: -1 }
  }
  relay.heed({
    get tip() {
      return held().tip
    },
    get finalized() {
      return held().finalized
    },
  })
  while (!signal.aborted) {
    try {
      told(await headOf(options), await finalizedOf(options))
    } catch (error) {
      // An error is an honest answer.
      if (!(error instanceof RpcError) && !(error instanceof RelayFailedError)) throw error
    }
    await clock.sleep(PAUSE_MS, signal).catch(() => {})
  }
}

async function headOf({ relay, bugs }: ClientOptions): Promise<number> {
  const head = await relay.head()
  if (!bugs.planted('clients are shown the highest head')) return head
  return Math.max(head, ...relay.status().endpoints.map((endpoint) => endpoint.head ?? -1))
}

const finalizedOf = ({ relay, liar, bugs }: ClientOptions): Promise<number | null> =>
  (bugs.planted('one endpoint’s finality is told to clients') ? liar : relay).tagged('finalized')
