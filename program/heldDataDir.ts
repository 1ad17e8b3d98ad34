/**
 * The data directory of a command: held by it alone, and left without running engines however the
 * command ends.
 */
import { assertAnswers, type DataDir, openDataDir } from '#local/engines/dataDir.ts'
import { watchOrphans } from '#local/orphanWatch.ts'
import type { Clock } from '#runtime/runtime.ts'

/** @throws DataDirectoryError */
export async function holdDataDir(path: string, clock: Clock): Promise<DataDir> {
  await assertAnswers(path, clock)
  const dataDir = openDataDir(path)
  const watch = watchOrphans(dataDir.path)
  const release = () => {
    watch.end()
    dataDir.release()
  }
  return { path: dataDir.path, release }
}
