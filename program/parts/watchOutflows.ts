/** Watches of the accounts that money leaves from, each on its chain. */
import { OutflowWatch, type OutflowWatchOptions } from '#money/OutflowWatch.ts'
import { outflowLedger } from '#rows/books/outflows.ts'
import { appDatabase } from '#rows/database.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Base } from './part.ts'

export interface OutflowWatches {
  /** False before what left on the chain is known. */
  readonly mayPay: (chainId: number) => boolean
  /** Resolved once what left on every chain is known. */
  readonly looked: Promise<void>
  run(signal: AbortSignal): Promise<unknown>
}

const LOOK_MS = 30_000
/** Money waits for the first look. */
const FIRST_LOOK_MS = 2_000

/** @param accounts one a chain, with lowercase addresses */
export function watchOutflows(
  { program, runtime, log }: Pick<Base, 'program' | 'runtime' | 'log'>,
  accounts: readonly Omit<OutflowWatchOptions, 'ledger'>[],
): OutflowWatches {
  const app = appDatabase(program.engines.postgres)
  const { clock } = runtime
  const watches = accounts.map((of) => {
    const ledger = outflowLedger(app, of.chainId, of.account)
    const stop = (problem: string) => {
      log.error({ chainId: of.chainId, account: of.account, problem }, 'NO MONEY LEAVES')
      return ledger.stop(problem)
    }
    return new OutflowWatch({ ...of, ledger: { ...ledger, stop } })
  })
  const looked = Promise.withResolvers<void>()
  const follow = (watch: OutflowWatch, signal: AbortSignal) => {
    const failed = { log, ms: FIRST_LOOK_MS, message: 'a chain does not tell what left it' }
    return repeat({ clock, signal, failed }, async () => {
      await watch.look()
      if (watches.every(({ hasLooked }) => hasLooked)) looked.resolve()
      return LOOK_MS
    })
  }
  return {
    mayPay: (chainId) => watches.some((watch) => watch.chainId === chainId && watch.hasLooked),
    looked: looked.promise,
    run: (signal) => Promise.all(watches.map((watch) => follow(watch, signal))),
  }
}
