/**
 * Child process: matches and sends the webhooks of a chain that its parent writes, until it is
 * killed.
 */

import { openWayOut } from '#program/parts/wayOut.ts'
import { openWebhooks } from '#program/parts/webhooks/openWebhooks.ts'
import { sealerOf } from '#rows/sealing.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { namedHolder } from '../../support/namedHolder.ts'

/** The parent's task, as JSON in the environment. */
export interface SenderTask {
  readonly databaseUrl: string
  readonly chainId: number
  readonly schema: string
  /** This process, to others on the database: one that is started again has the name it had. */
  readonly holder: string
  /** Byte that the sealing key is made of. */
  readonly keyByte: number
  /** `name:nth` where the process ends, or empty. */
  readonly failpoint: string
}

const task: SenderTask = JSON.parse(process.env['SENDER_TASK'] ?? '{}')
const { chainId, schema, holder } = task
const runtime = systemRuntime(task.failpoint)
const postgres = openPostgres({ url: task.databaseUrl, applicationName: holder, log: silentLogger })
const state = new ChainState({ chainId, schema, startBlock: 0, postgres, bell: new CommitBell() })
await state.refresh()
const never = async (): Promise<never> => {
  throw new Error('no node is asked')
}
const node = { transaction: never, receipt: never, balances: never, ask: never, newest: never }
const opened = openWebhooks({
  mode: 'loopback',
  postgres,
  sealer: sealerOf([new Uint8Array(32).fill(task.keyByte)]),
  chains: new Map([
    [chainId, { chainId, kind: 'tempo', postgres, state, node, declared: { tables: [], activities: [] } }],
  ]),
  tokenNames: { read: async () => new Map() },
  holder: namedHolder(holder),
  egress: openWayOut({ webhooks: 'loopback' }).egress,
  runtime,
  log: silentLogger,
})
process.stdout.write('ready\n')
await opened?.run(new AbortController().signal)
