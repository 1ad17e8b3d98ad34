/** Keys of a dev chain's payee and sponsor: what visitors pay there is its operator's. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { readOrCreateSecret } from '#local/engines/secretFile.ts'
import type { Config } from '../../config.ts'

/** Made at the first start; it lies in DATA_DIR. */
export const devPayeeKey = ({ dataDir }: Pick<Config, 'dataDir'>): `0x${string}` =>
  `0x${hash('sha256', readOrCreateSecret(join(dataDir, 'payee.key')), 'hex')}`

/** Another that pays fees there. */
export const devSponsorKey = ({ dataDir }: Pick<Config, 'dataDir'>): `0x${string}` =>
  `0x${hash('sha256', readOrCreateSecret(join(dataDir, 'sponsor.key')), 'hex')}`
