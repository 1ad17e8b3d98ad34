/** `millrace feedback list`: what agents said of the service at the wish of their users. */
import { appDatabase } from '#rows/database.ts'
import { listFeedback } from '#rows/feedback/productFeedback.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { withDatabases } from '../../stores.ts'

/** Messages shown at once. */
const SHOWN = 1_000

export async function printFeedback(
  config: Config,
  json: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const told = await withDatabases(config, runtime, log, ({ postgres }) =>
    listFeedback(appDatabase(postgres), SHOWN),
  )
  if (json) process.stdout.write(`${JSON.stringify(told)}\n`)
  else
    for (const { receivedAt, kind, message } of told)
      process.stdout.write(`${receivedAt.toISOString()}  ${kind.padEnd(8)}  ${message}\n`)
}
