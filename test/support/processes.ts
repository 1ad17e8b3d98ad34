/** Processes of this machine, as /proc tells them. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'

/** Those of a data directory that are there, by a word of their command line. */
export function processesOf(dataDir: string, word = ''): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      const line = textOf(`/proc/${pid}/cmdline`)
      return line.includes(dataDir) && line.includes(word) ? [Number(pid)] : []
    })
}

/** A process and all that it and they have started. */
export function treeOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)]
}

export const childrenOf = (pid: number): number[] =>
  textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

/** Empty where the process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
