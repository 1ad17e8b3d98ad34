/**
 * Opens engines and nodes for a command that may run beside a running program on the same data
 * directory.
 */
import { assertAnswers } from '#local/engines/dataDir.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { closeNodes, findChains, type ReachableChain, reachChain } from './chains.ts'
import type { Config } from './config.ts'
import { type Engines, findEngines, startEngines } from './engines.ts'
import { holdDataDir } from './heldDataDir.ts'

export interface Beside {
  readonly engines: Engines
  readonly reachable: readonly ReachableChain[]
  close(): Promise<void>
}

export async function openBeside(config: Config, runtime: Runtime, log: Logger): Promise<Beside> {
  await assertAnswers(config.dataDir, runtime.clock)
  const running = await findEngines(config, log)
  if (running) return withChains(config, running, async () => {}, runtime, log)
  const dataDir = await holdDataDir(config.dataDir, runtime.clock)
  try {
    const engines = await startEngines(config, dataDir, [], runtime, log)
    const beside = await withChains(config, engines, async () => dataDir.release(), runtime, log)
    // Nobody else runs here, so the dev chain was started by us and ends with us.
    const stopDevChains = async () => {
      for (const { devChain } of beside.reachable) await devChain?.stop()
    }
    return { ...beside, close: () => beside.close().then(stopDevChains) }
  } catch (error) {
    dataDir.release()
    throw error
  }
}

async function withChains(
  config: Config,
  engines: Engines,
  release: () => Promise<void>,
  runtime: Runtime,
  log: Logger,
): Promise<Beside> {
  const reachable: ReachableChain[] = []
  for (const found of await findChains(config, config.dataDir, runtime, log))
    reachable.push(await reachChain(found, engines.postgres, runtime, log))
  return {
    engines,
    reachable,
    close: async () => {
      for (const chain of reachable) await closeNodes(chain)
      await engines.close()
      await release()
    },
  }
}
