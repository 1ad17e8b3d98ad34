/** `millrace orgs`: what lets the first person in. Works beside a running program. */
import { SettingError } from '#errors.ts'
import { address as readAddress } from '#primitives.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { findOrganization, isRole, joinOrganization, setMember } from '#rows/access/organizations.ts'
import { userOfAddress } from '#rows/access/users.ts'
import { appDatabase } from '#rows/database.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { withDatabases } from '../../stores.ts'

type Arguments = Readonly<Record<string, unknown>>

/** @throws SettingError */
export async function addMember(
  config: Config,
  args: Arguments,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const account = accountOf(args['address'])
  const role = args['role'] ?? 'owner'
  if (!isRole(role)) throw new SettingError('--role', `\`${role}\` is not one of member, admin, owner`)
  const orgId = await withDatabases(config, runtime, log, async ({ postgres }) => {
    const app = appDatabase(postgres)
    const id = args['org'] === undefined ? (await makeDefaults(app)).orgId : String(args['org'])
    if (!(await findOrganization(app, id))) throw new SettingError('--org', `there is no organization ${id}`)
    const { id: person } = await userOfAddress(app, account)
    await app.transaction().execute(async (transaction) => {
      await joinOrganization(transaction, id, person, role)
      await setMember(transaction, id, person, role)
    })
    return id
  })
  process.stdout.write(`${account} is ${role} of ${orgId} and may sign in\n`)
}

function accountOf(text: unknown) {
  try {
    return readAddress(String(text))
  } catch (cause) {
    throw new SettingError('--address', 'is not 0x and 40 hex characters', { cause })
  }
}
