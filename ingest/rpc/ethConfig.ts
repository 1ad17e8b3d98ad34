/**
 * Forks as a node of Ethereum announces them (EIP-7910). They have no names there: their fork id
 * stands for one. Anything may come from an endpoint: the reading is bounded.
 */
import { isRecord } from '#primitives.ts'
import type { AnnouncedFork } from './forkSchedule.ts'

export const ethConfigMethod = 'eth_config'

/** A configuration names some thirty contracts; more is somebody playing with us. */
const CONTRACTS_MAX = 256

const forkId = /^0x[0-9a-f]{8}$/

/** Precompiles up to Osaka: 1 to 17, and 256 for signatures of the curve P-256. */
const isKnownPrecompile = (address: string): boolean =>
  /^0x0{38}(0[1-9a-f]|1[01])$/.test(address) || /^0x0{37}100$/.test(address)

/** As EIP-7910 names those up to Osaka; the contract of deposits is another one on each chain. */
const knownContracts: ReadonlySet<string> = new Set([
  'BEACON_ROOTS_ADDRESS',
  'CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS',
  'DEPOSIT_CONTRACT_ADDRESS',
  'HISTORY_STORAGE_ADDRESS',
  'WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS',
])

/** Those that Amsterdam brings (EIP-8282), as clients name them; some name none. */
const contractsOfAmsterdam: ReadonlySet<string> = new Set([
  'BUILDER_DEPOSIT_CONTRACT_ADDRESS',
  'BUILDER_EXIT_CONTRACT_ADDRESS',
])

/**
 * The configurations of an answer with a contract or precompile of the protocol that the newest known
 * fork does not have. Forks that set parameters alone, such as those of blobs, change nothing for an
 * index. Null where any part of the answer is not of the method's shape. Never throws.
 * @param hasAmsterdam that fork is known on the chain; without it Osaka is the newest
 */
export function readEthConfig(answer: unknown, hasAmsterdam: boolean): readonly AnnouncedFork[] | null {
  if (!isRecord(answer) || !isRecord(answer['current'])) return null
  const told = [answer['current'], answer['next'] ?? null, answer['last'] ?? null]
  const configs = told.filter((one) => one !== null).map((one) => readConfig(one, hasAmsterdam))
  if (!configs.every((config) => config !== null)) return null
  const forks = configs.filter(({ isNew }) => isNew)
  // The last one is often the next one.
  return [...new Map(forks.map(({ name, activatesAt }) => [name, { name, activatesAt }])).values()]
}

interface Config extends AnnouncedFork {
  readonly isNew: boolean
}

function readConfig(value: unknown, hasAmsterdam: boolean): Config | null {
  if (!isRecord(value)) return null
  const { activationTime, forkId: id, precompiles, systemContracts } = value
  if (typeof activationTime !== 'number' || !Number.isSafeInteger(activationTime) || activationTime < 0)
    return null
  if (typeof id !== 'string' || !forkId.test(id) || !isRecord(precompiles) || !isRecord(systemContracts))
    return null
  const [addresses, names] = [Object.values(precompiles), Object.keys(systemContracts)]
  if (addresses.length > CONTRACTS_MAX || names.length > CONTRACTS_MAX) return null
  const isNew =
    !addresses.every((address) => typeof address === 'string' && isKnownPrecompile(address.toLowerCase())) ||
    !names.every((name) => knownContracts.has(name) || (hasAmsterdam && contractsOfAmsterdam.has(name)))
  return { name: id, activatesAt: activationTime, isNew }
}
