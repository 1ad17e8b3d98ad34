/** Which chain a request means: the `chainId` parameter, its aliases and its default. */
import type { ChainReach } from '#primitives.ts'
import { ApiError, type RequestProblem } from '../errors.ts'
import * as s from '../schema.ts'
import { ParameterError, parameter } from './parameter.ts'

const MAINNET = 4217
const TESTNET = 42431
const aliases: Readonly<Record<string, number>> = { mainnet: MAINNET, testnet: TESTNET }

/** A chain as a path or query names it; whether it is served is checked by `selectChain`. */
export const chainParameter = parameter<number>({
  schema: s.union([s.oneOf(['mainnet', 'testnet']), s.integer({ minimum: 1 })]),
  description:
    'Chain: `mainnet` (4217), `testnet` (42431) or a numeric id. Default: mainnet where it is served, else the only one.',
  code: 'chain_id_invalid',
  parse: (text) => {
    const alias = Object.hasOwn(aliases, text) ? aliases[text] : undefined
    if (alias !== undefined) return alias
    const id = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!Number.isSafeInteger(id) || id < 1)
      throw new ParameterError('expected mainnet, testnet or a chain id')
    return id
  },
})

/** The caller, as far as the choice of a chain depends on it. */
export interface ChainCaller {
  readonly environment: 'production' | 'sandbox'
  /** Chains a key is limited to; null for all. */
  readonly chains: ReadonlySet<number> | null
}

/**
 * The chain to answer for. Left out, it is mainnet (testnet for a sandbox key) where that is
 * served, else the only chain served. `path` is where the request names it.
 * @throws ApiError chain_id_unsupported, or api_key_forbidden for a chain that the key does not
 * reach, left out or not, and for an explicit mainnet with a sandbox key
 */
export function selectChain(
  asked: number | undefined,
  served: readonly number[],
  caller: ChainCaller,
  path: RequestProblem['path'] = ['query', 'chainId'],
): number {
  const chainId = asked ?? defaultChain(served, caller.environment === 'sandbox', path)
  assertReached(chainId, caller)
  if (!served.includes(chainId)) throw unsupported(`Chain ${chainId} is not served here.`, served, path)
  return chainId
}

/** @throws ApiError api_key_forbidden for a chain that the caller's key does not reach */
export function assertReached(chainId: number, { environment, chains }: ChainCaller): void {
  if (chainId === MAINNET && environment === 'sandbox')
    throw new ApiError('api_key_forbidden', 'A sandbox key does not reach mainnet.')
  if (chains?.has(chainId) === false)
    throw new ApiError('api_key_forbidden', `The API key does not reach chain ${chainId}.`)
}

/** The chains a key is narrowed to, in lists of what is of several chains. */
export const reachOf = ({ environment, chains }: ChainCaller): ChainReach => ({
  only: chains && [...chains],
  except: environment === 'sandbox' ? MAINNET : null,
})

function defaultChain(served: readonly number[], sandbox: boolean, path: RequestProblem['path']): number {
  const preferred = sandbox ? TESTNET : MAINNET
  if (served.includes(preferred)) return preferred
  const reachable = served.filter((id) => !(sandbox && id === MAINNET))
  const [only, ...others] = reachable
  if (only !== undefined && others.length === 0) return only
  throw unsupported('`chainId` is needed here.', reachable, path)
}

function unsupported(problem: string, served: readonly number[], path: RequestProblem['path']): ApiError {
  const message = `${problem} Served: ${served.join(', ') || 'none'}.`
  return new ApiError('chain_id_unsupported', message, {
    details: [{ path, message }],
  })
}
