/** Processes' use of CPU and memory, as Linux tells it: a program and the engines it started, apart. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Usage {
  readonly cpuSeconds: number
  /** In memory; what several processes share counts once. */
  readonly residentBytes: number
}

/** Usage of a program and of the two engines it started. */
export interface ProgramUsage {
  readonly program: Usage
  readonly postgres: Usage
  readonly clickhouse: Usage
}

/** Fails where the system has no /proc. */
export function readUsage(pid: number): ProgramUsage {
  const all = readProcesses()
  const own = all.filter((one) => one.pid === pid)
  const below = descendants(all, pid)
  return {
    program: sum(own, false),
    postgres: sum(
      below.filter(({ name }) => name === 'postgres'),
      true,
    ),
    clickhouse: sum(
      below.filter(({ name }) => name !== 'postgres'),
      true,
    ),
  }
}

export type CpuSeconds = { readonly [Part in keyof ProgramUsage]: number }

export function cpuBetween(before: ProgramUsage, after: ProgramUsage): CpuSeconds {
  const spent = (part: keyof ProgramUsage) => after[part].cpuSeconds - before[part].cpuSeconds
  return { program: spent('program'), postgres: spent('postgres'), clickhouse: spent('clickhouse') }
}

export const totalCpu = ({ program, postgres, clickhouse }: CpuSeconds): number =>
  program + postgres + clickhouse

interface Process {
  readonly pid: number
  readonly name: string
  readonly parent: number
  /** Own, and of the children that have ended and were waited for. */
  readonly ticks: number
  readonly endedTicks: number
}

/** USER_HZ, which Linux fixes for /proc. */
const TICKS_PER_SECOND = 100

function readProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readText(`/proc/${name}/stat`)
      // Behind the command's name, which may hold blanks and brackets.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (stat === '') return []
      const command = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
      const at = (index: number) => Number(fields[index] ?? 0)
      return [
        {
          pid: Number(name),
          name: command,
          parent: at(1),
          ticks: at(11) + at(12),
          endedTicks: at(13) + at(14),
        },
      ]
    })
}

function descendants(all: readonly Process[], pid: number): Process[] {
  const children = all.filter(({ parent }) => parent === pid)
  return children.flatMap((child) => [child, ...descendants(all, child.pid)])
}

function sum(processes: readonly Process[], withEnded: boolean): Usage {
  const ticks = processes.reduce((total, one) => total + one.ticks + (withEnded ? one.endedTicks : 0), 0)
  const memories = processes.map(({ pid }) => readMemory(pid))
  const largest = (kind: 'file' | 'shared') => Math.max(0, ...memories.map((memory) => memory[kind]))
  // Processes of one program map the same files and the same shared memory.
  const own = memories.reduce((total, { anonymous }) => total + anonymous, 0)
  return { cpuSeconds: ticks / TICKS_PER_SECOND, residentBytes: own + largest('file') + largest('shared') }
}

function readMemory(pid: number) {
  const status = readText(`/proc/${pid}/status`)
  const bytesOf = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
  return { anonymous: bytesOf('RssAnon'), file: bytesOf('RssFile'), shared: bytesOf('RssShmem') }
}

/** Empty for a process that has just ended. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
