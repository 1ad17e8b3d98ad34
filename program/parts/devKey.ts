/** Keys that no setting has to name where a dev chain is the only one: their money has no worth elsewhere. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { readOrCreateSecret } from '#local/engines/secretFile.ts'
import type { Config } from '../config.ts'

/**
 * Made at the first start; it lies in DATA_DIR under its name. The payee is paid by visitors and
 * pays back, the sponsor pays their fees, the wallet buys from sellers.
 */
export const devKey = (
  { dataDir }: Pick<Config, 'dataDir'>,
  name: 'payee' | 'sponsor' | 'wallet',
): `0x${string}` => `0x${hash('sha256', readOrCreateSecret(join(dataDir, `${name}.key`)), 'hex')}`
