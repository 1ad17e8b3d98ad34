/**
 * The secrets of this installation, with the key that wraps them: SECRET_KEY, or a file beside the
 * embedded Postgres.
 */
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readOrCreateSecret } from '#local/engines/secretFile.ts'
import { appDatabase } from '#rows/database.ts'
import { openSecrets, type Secrets } from '#rows/secrets.ts'
import type { Config } from '../../config.ts'
import type { Engines } from '../../engines.ts'

export interface InstallationSecrets {
  readonly secrets: Secrets
  /** Notes for the operator. */
  readonly notes: readonly string[]
}

type SecretSettings = Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKeys'>

/** @throws SecretKeyError when the database's secrets are wrapped by another key */
export async function openInstallationSecrets(
  config: SecretSettings,
  { postgres }: Pick<Engines, 'postgres'>,
): Promise<InstallationSecrets> {
  const wrapping = wrappingKeys(config)
  const secrets = await openSecrets(appDatabase(postgres), wrapping)
  const notes =
    wrapping.length > 0 ? [] : ['secrets are kept in clear in the database: SECRET_KEY is not set']
  return { secrets, notes }
}

/** The file's key stays among them: SECRET_KEY may be set later. */
function wrappingKeys({ dataDir, databaseUrl, secretKeys }: SecretSettings): readonly Uint8Array[] {
  if (databaseUrl !== null) return secretKeys
  const path = join(dataDir, 'secret.key')
  if (secretKeys.length > 0 && !existsSync(path)) return secretKeys
  return [...secretKeys, hash('sha256', readOrCreateSecret(path), 'buffer')]
}
