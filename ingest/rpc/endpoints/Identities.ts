/** Which chain is behind RPC_URL, before anything is known about it. */
import { SettingError } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { RpcClient } from '../client/client.ts'
import { parseEndpointUrl } from '../client/endpointUrl.ts'
import { RpcError, type RpcFailure, SourceError } from '../client/errors.ts'
import { type ChainIdentity, ChainIdTooLargeError, type Probed, probeEndpoint } from './probe.ts'

/** Probes of one endpoint, and the pause behind the first; each further one is twice as long. */
const PROBES_MAX = 3
const PAUSE_MS = 300
/**
 * Failures of one moment: a start would end by it. One that is not there is not waited for, and a
 * silent one has had its time.
 */
const passing: ReadonlySet<RpcFailure> = new Set([
  'rate_limited',
  'overloaded',
  'block_missing',
  'node_error',
])

/** One endpoint's word on itself. */
export interface ToldIdentity extends ChainIdentity {
  /** Redacted name of the endpoint. */
  readonly endpoint: string
}

/** Asks all endpoints of RPC_URL at once which chain they serve; what they tell comes as it comes. */
export class Identities {
  readonly #clock: Clock
  readonly #asked: readonly Promise<ToldIdentity>[]
  readonly #told: ToldIdentity[] = []
  readonly #agreed = Promise.withResolvers<void>()
  readonly #ended = new AbortController()

  constructor(urls: readonly string[], clock: Clock) {
    this.#clock = clock
    this.#asked = urls.map((url) => this.#ask(url))
    for (const one of this.#asked) one.catch(() => {})
  }

  /**
   * The identity that is told when two tell the same, when all have told or failed, or so long after the
   * first one that holds block 0 has told: one that is silent holds a start up for a minute.
   * @throws SettingError when what answers is no JSON-RPC node or refuses our credentials;
   * SourceError when nothing answers.
   */
  async told(silentMs: number): Promise<readonly ToldIdentity[]> {
    const all = Promise.allSettled(this.#asked)
    const first = Promise.any(this.#asked.map(withGenesis)).catch(() => all)
    const waited = first.then(() => this.#clock.sleep(silentMs, this.#ended.signal)).catch(() => {})
    await Promise.race([all, this.#agreed.promise, waited])
    if (this.#told.length === 0) throw startError(this.#asked.length, await this.#lastFailure())
    return [...this.#told]
  }

  /** Ends what is still being asked. */
  async close(): Promise<void> {
    this.#ended.abort()
    await Promise.allSettled(this.#asked)
  }

  async #ask(url: string): Promise<ToldIdentity> {
    const client = new RpcClient(parseEndpointUrl(url), this.#clock, 1)
    try {
      const { chainId, genesisHash } = await this.#probe(client)
      const told = { chainId, genesisHash, endpoint: client.name }
      if (this.#told.some((other) => isSameChain(told, other))) this.#agreed.resolve()
      this.#told.push(told)
      return told
    } finally {
      await client.close()
    }
  }

  async #probe(client: RpcClient): Promise<Probed> {
    for (let nth = 0; ; nth++) {
      try {
        return await probeEndpoint(client, this.#ended.signal)
      } catch (error) {
        const mayPass = error instanceof RpcError && passing.has(error.failure)
        if (!mayPass || nth + 1 >= PROBES_MAX) throw error
        await this.#clock.sleep(PAUSE_MS * 2 ** nth, this.#ended.signal)
      }
    }
  }

  async #lastFailure(): Promise<unknown> {
    const ends = await Promise.allSettled(this.#asked)
    return ends.findLast((end) => end.status === 'rejected')?.reason
  }
}

/** Two identities that are told alike; a node that has dropped block 0 tells nothing of it. */
export const isSameChain = (one: ChainIdentity, other: ChainIdentity): boolean =>
  one.genesisHash !== null && one.genesisHash === other.genesisHash && one.chainId === other.chainId

/** @throws where the node has dropped its first block */
async function withGenesis(answer: Promise<ToldIdentity>): Promise<ToldIdentity> {
  const identity = await answer
  if (identity.genesisHash === null) throw new TypeError('no block 0')
  return identity
}

function startError(attempts: number, error: unknown): Error {
  if (!(error instanceof RpcError)) return new SourceError('the chain id', attempts, error)
  if (error.cause instanceof ChainIdTooLargeError)
    return new SettingError('RPC_URL', `${error.endpoint} ${error.cause.message}`, { cause: error })
  if (error.failure === 'malformed' || error.failure === 'method_missing')
    return new SettingError('RPC_URL', `${error.endpoint} answers, but not as an Ethereum JSON-RPC node`, {
      cause: error,
    })
  if (error.failure === 'unauthorized')
    return new SettingError('RPC_URL', `${error.endpoint} refuses the credentials in the address`, {
      cause: error,
    })
  return new SourceError('the chain id', attempts, error)
}
