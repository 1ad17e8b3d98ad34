/**
 * `millrace secrets rotate`: newer versions of the installation's keys. Works beside a running
 * program.
 */
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { openInstallationSecrets } from '../../parts/access/secrets.ts'
import { withDatabases } from '../../stores.ts'

export async function rotateSecrets(config: Config, runtime: Runtime, log: Logger): Promise<void> {
  await withDatabases(config, runtime, log, async (engines) => {
    const { secrets } = await openInstallationSecrets(config, engines)
    await secrets.rotate()
  })
  process.stdout.write(
    'rotated: running programs use the new keys within two minutes; what the old ones signed still opens\n',
  )
}
