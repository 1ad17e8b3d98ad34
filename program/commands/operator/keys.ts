/**
 * `millrace keys`: API keys from the command line, the only place that gives all rights. Works
 * beside a running program.
 */
import { addressList } from '#api/access/clientAddress.ts'
import { everyScope, scopeNames, selfServeScopes } from '#api/access/scopes.ts'
import { newToken } from '#api/access/token.ts'
import { renderTable } from '#console/terminal/table.ts'
import { messageOf, SettingError } from '#errors.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { type ApiKey, insertKey, type KeyLimits, listKeys, revokeKey } from '#rows/access/keys.ts'
import { findProject } from '#rows/access/projects.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { keyPepper } from '../../parts/access/access.ts'
import { openInstallationSecrets } from '../../parts/access/secrets.ts'
import { withDatabases } from '../../stores.ts'

type Arguments = Readonly<Record<string, unknown>>

/**
 * The token goes to standard output alone, so that it can be piped; what it is goes to standard
 * error.
 */
export async function createKey(
  config: Config,
  args: Arguments,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const asked = readKey(args)
  const token = newToken(asked.environment === 'sandbox' ? 'test' : 'live')
  const key = await withDatabases(config, runtime, log, async (engines) => {
    const { secrets } = await openInstallationSecrets(config, engines)
    const [pepper] = await keyPepper(secrets)
    const app = appDatabase(engines.postgres)
    return insertKey(
      app,
      { ...asked, ...(await ownerOf(app, args['project'])), token, createdBy: null },
      pepper,
    )
  })
  process.stderr.write(`${lineOf(key)}\nThe key is shown this once:\n`)
  process.stdout.write(`${token}\n`)
}

export async function printKeys(config: Config, json: boolean, runtime: Runtime, log: Logger): Promise<void> {
  const keys = await withDatabases(config, runtime, log, ({ postgres }) =>
    listKeys(appDatabase(postgres), {}),
  )
  if (json) process.stdout.write(`${JSON.stringify(keys)}\n`)
  else
    process.stdout.write(
      keyLines(keys)
        .map((line) => `${line}\n`)
        .join(''),
    )
}

/** A header and a line for each, in columns. */
function keyLines(keys: readonly ApiKey[]): readonly string[] {
  if (keys.length === 0) return ['no keys']
  const rows = keys.map(({ id, projectId, environment, scopes, tokenLast4, name }) => [
    id,
    tokenLast4,
    projectId,
    environment,
    scopes.join(','),
    name ?? '',
  ])
  return renderTable(['id', 'ends with', 'project', 'environment', 'scopes', 'name'], [], rows)
}

/** @throws SettingError when there is no such key */
export async function revokeKeyNamed(
  config: Config,
  id: unknown,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  if (typeof id !== 'string') throw new SettingError('id', 'is needed: the key to revoke')
  const revoked = await withDatabases(config, runtime, log, ({ postgres }) =>
    revokeKey(appDatabase(postgres), { id }),
  )
  if (!revoked) throw new SettingError('id', `there is no key ${id}`)
  process.stdout.write(`${id} is revoked; it opens nothing within a second\n`)
}

const lineOf = ({ id, projectId, environment, scopes, tokenLast4, name }: ApiKey): string =>
  `${id}  …${tokenLast4}  ${projectId}  ${environment}  ${scopes.join(',')}  ${name ?? ''}`.trimEnd()

async function ownerOf(app: AppDatabase, asked: unknown): Promise<Pick<ApiKey, 'orgId' | 'projectId'>> {
  if (asked === undefined) {
    const { orgId, projectId } = await makeDefaults(app)
    return { orgId, projectId }
  }
  const project = await findProject(app, String(asked))
  if (!project) throw new SettingError('--project', `there is no project ${asked}`)
  return { orgId: project.orgId, projectId: project.id }
}

function readKey(args: Arguments): KeyLimits & Pick<ApiKey, 'name' | 'environment' | 'scopes'> {
  return {
    name: args['name'] === undefined ? null : String(args['name']),
    environment: readEnvironment(args['environment']),
    scopes: readScopes(listOf(args['scopes'])),
    expiresAt: readMoment(args['expires']),
    allowedIps: readAddresses(listOf(args['allowed-ips'])),
    chains: readNumbers(listOf(args['chains'])),
    origins: readOrigins(listOf(args['origins'])),
    quota: readQuota('--quota', args['quota']),
    addressQuota: readQuota('--address-quota', args['address-quota']),
  }
}

function listOf(text: unknown): string[] | null {
  return text === undefined ? null : String(text).split(',').filter(Boolean)
}

function readEnvironment(text: unknown): ApiKey['environment'] {
  if (text === undefined || text === 'production') return 'production'
  if (text === 'sandbox') return 'sandbox'
  throw new SettingError('--environment', `\`${text}\` is not one of production, sandbox`)
}

function readScopes(asked: readonly string[] | null): readonly string[] {
  if (asked === null) return selfServeScopes
  const unknown = asked.find((scope) => scope !== everyScope && !scopeNames.some((name) => name === scope))
  if (unknown === undefined) return asked
  throw new SettingError('--scopes', `\`${unknown}\` is not one of ${[...scopeNames, everyScope].join(', ')}`)
}

function readMoment(text: unknown): Date | null {
  if (text === undefined) return null
  const moment = new Date(String(text))
  if (Number.isNaN(moment.getTime())) throw new SettingError('--expires', `\`${text}\` is not a date`)
  return moment
}

function readAddresses(asked: readonly string[] | null): readonly string[] | null {
  try {
    addressList(asked ?? [])
    return asked
  } catch (cause) {
    throw new SettingError('--allowed-ips', messageOf(cause), { cause })
  }
}

function readNumbers(asked: readonly string[] | null): readonly string[] | null {
  const wrong = asked?.find((id) => !/^[1-9][0-9]{0,15}$/.test(id))
  if (wrong !== undefined) throw new SettingError('--chains', `\`${wrong}\` is not a chain id`)
  return asked
}

function readOrigins(asked: readonly string[] | null): readonly string[] | null {
  const wrong = asked?.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong !== undefined) throw new SettingError('--origins', `\`${wrong}\` is not a web origin`)
  return asked
}

function readQuota(name: string, text: unknown): number | null {
  if (text === undefined) return null
  const units = Number(text)
  if (!Number.isSafeInteger(units) || units < 1 || units > 1_000_000_000)
    throw new SettingError(name, `\`${text}\` is not a number of requests a minute`)
  return units
}
