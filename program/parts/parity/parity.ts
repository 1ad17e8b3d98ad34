/** The comparisons of both stores, one of each chain, as the API shows them. */
import type { ParityReads } from '#api/services.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { type ParityStatus, ParityWatch } from '#store/compare/ParityWatch.ts'
import { compareRange } from '#store/compare/parity.ts'
import { schemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import type { Chain } from '../../chain/Chain.ts'
import type { Engines } from '../../engines.ts'
import type { Alarm } from '../part.ts'

export interface Parity {
  readonly reads: ReadonlyMap<number, ParityReads>
  /** Compares until aborted. */
  run(signal: AbortSignal): Promise<void>
}

export function openParity(
  { postgres, clickhouse }: Engines,
  chains: readonly Chain[],
  { clock }: Runtime,
  log: Logger,
): Parity {
  const watches = chains.map(({ state }) => {
    const id = state.chainId
    const stores = { postgres, clickhouse, schema: schemaOf(id), database: databaseOf(id) }
    const coverage = (store: 'postgres' | 'clickhouse') => state.coverage(store)
    const watch = new ParityWatch({ ...stores, chainId: id, coverage, clock, log })
    return { id, stores, watch }
  })
  return {
    reads: new Map(
      watches.map(({ id, stores, watch }) => [
        id,
        {
          get status() {
            return watch.status
          },
          compare: (range) => compareRange(stores, range),
        },
      ]),
    ),
    run: async (signal) => {
      await Promise.all(watches.map(({ watch }) => watch.run(signal)))
    },
  }
}

/** @throws for a chain that is not served */
export function parityStatusOf(reads: Parity['reads'], id: number): ParityStatus {
  const parity = reads.get(id)
  if (!parity) throw new Error(`chain ${id} is not compared`)
  return parity.status
}

export function parityAlarms(
  chainId: number,
  { state, problem }: Pick<ParityStatus, 'state' | 'problem'>,
): readonly Alarm[] {
  if (state !== 'differs') return []
  return [{ chainId, code: 'parity_differs', problem: problem ?? 'no reason is known' }]
}
