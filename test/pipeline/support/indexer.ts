/**
 * A process that indexes a recorded chain until both stores hold it, or until it is killed: by its
 * failpoint, or from outside. Its task is one JSON argument (task.ts); it says `started` when its
 * lanes run, and ends with status 0 when done.
 */
import { systemRuntime } from '#runtime/runtime.ts'
import { createLogger } from '#telemetry.ts'
import { openIndexedChain } from './indexedChain.ts'
import { parseTask, recordedChainOf } from './task.ts'

const task = parseTask(process.argv[2] ?? '')
const recorded = await recordedChainOf(task)
const log = createLogger('warn')
const { chain, close } = await openIndexedChain({
  ...task,
  recorded,
  runtime: systemRuntime(task.failpoint ?? ''),
  log,
})
await chain.start()
process.stdout.write('started\n')
while (!chain.caughtUp('all')) {
  for (const status of [chain.headStatus, chain.historyStatus, chain.clickhouseStatus])
    if (status.state === 'stopped' || status.state === 'finality_violated')
      throw new Error(`a lane stopped: ${status.problem}`)
  await new Promise((resolve) => setTimeout(resolve, 20))
}
await close()
