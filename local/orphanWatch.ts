/**
 * The watch over what outlives a kill of the program: the embedded Postgres and the local chains. A
 * shell waits, at next to no cost, for the end of a pipe that only the program holds; then
 * endOrphans.ts ends them, unless a new start took over.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface OrphanWatch {
  /** To be called once nothing is left running. */
  end(): void
}

const entry = fileURLToPath(new URL('./endOrphans.ts', import.meta.url))
const script = 'read -r _; exec "$@"'

/** Watches until ended, or until this process is gone. */
export function watchOrphans(dataDir: string): OrphanWatch {
  // A session of its own: neither Ctrl-C nor the end of our group may reach it.
  const watch = spawn('sh', ['-c', script, 'sh', process.execPath, entry, dataDir], {
    detached: true,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell nobody watches; the next start finds what is left, as it does within the time
  // of the watch.
  watch.on('error', () => {})
  watch.stdin.on('error', () => {})
  watch.unref()
  return { end: () => void watch.kill('SIGKILL') }
}
