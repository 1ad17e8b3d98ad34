/**
 * The common part of both servers of the comparison: started as processes of their own, told what to serve,
 * ended by hanging up.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { answerOf } from '../answerOf.ts'

/** The data that is served, the same to both. */
export interface Serving {
  readonly databaseUrl: string
  readonly chainId: number
  /** Connections to Postgres. */
  readonly connectionsMax: number
  /** The rival's answers at `/<index>`. */
  readonly rivals: readonly Rival[]
  /** Whether the API has keys and quotas. */
  readonly isGuarded?: boolean
  /** Requests beyond them are sold on the chain of this node. */
  readonly sellsOn?: { readonly rpcUrl: string; readonly hasSessions: boolean }
}

/** One list of the rival: its statement, and how its rows are shown. */
export interface Rival {
  readonly rows:
    | 'blocks'
    | 'transactions'
    | 'receipts'
    | 'transfers'
    | 'tokens'
    | 'holders'
    | 'balances'
    | 'activities'
  readonly text: string
  /** Bytes as `0x` hex. */
  readonly values: readonly (string | number | readonly string[])[]
  /** Planned for its values, as statements that join are; others are prepared once. */
  readonly planned: boolean
  /** The account of the list, where its items say so. */
  readonly account?: string
}

export interface RunningServer {
  readonly url: string
  /** CPU seconds the process has used. */
  cpuSeconds(): Promise<number>
  stop(): void
}

/** Starts one of these files as a process. */
export async function startServer(
  name: 'apiServer' | 'bareServer' | '../exchange/bareBook',
  serving: Serving,
): Promise<RunningServer> {
  const child = fork(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)))
  child.send(serving)
  const { url } = await answerOf<{ url: string }>(child)
  return {
    url,
    cpuSeconds: async () => {
      child.send('cpu')
      return (await answerOf<{ cpuSeconds: number }>(child)).cpuSeconds
    },
    stop: () => child.disconnect(),
  }
}

/** The child's side. `start` answers with the URL it listens at. */
export function serve(start: (serving: Serving) => Promise<string>): void {
  process.on('message', (message: Serving | 'cpu') => {
    if (message === 'cpu') {
      const { user, system } = process.cpuUsage()
      process.send?.({ cpuSeconds: (user + system) / 1e6 })
      return
    }
    start(message).then(
      (url) => process.send?.({ url }),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      },
    )
  })
  process.on('disconnect', () => process.exit(0))
}
