/** The settings of a chain, and of the file that CONFIG names, and their forms. */
import type { DeclaredContract } from '#api/operator/declaredContracts.ts'
import type { FinalitySetting } from './finalityField.ts'
import { matching, oneOf, url, whole } from './kind.ts'

export interface ChainConfig {
  /** Expected chain id; null takes what the node says. */
  readonly chainId: number | null
  /** RPC endpoints; empty means the local dev chain. */
  readonly rpcUrls: readonly string[]
  /** Endpoints that carry the calls of JSON-RPC clients; empty where `rpcUrls` do. */
  readonly relayUrls: readonly string[]
  /** Methods of the node that JSON-RPC clients may call besides the usual ones. */
  readonly rpcMethods: readonly string[]
  /**
   * First block of the history to index; null is where what is held begins, and genesis at a first
   * start.
   */
  readonly startBlock: number | null
  /** `roots` recomputes header, transaction and receipt roots; `links` trusts them. */
  readonly checks: 'roots' | 'links'
  /** Blocks behind the head that count as final where the node has no `finalized` tag. */
  readonly finalityDepth: number
  /** How it is decided what is final. */
  readonly finality: FinalitySetting
  /** Contracts of the operator's own, whose events become tables and activities. */
  readonly contracts: readonly DeclaredContract[]
}

/** Endpoint of a node. */
export const rpcUrl = url('http', 'https', 'ws', 'wss')
/** Name of a method of JSON-RPC. */
export const rpcMethod = matching('^[a-z]+_[A-Za-z0-9]{1,60}$', 'the name of a method')
export const startBlock = whole(0)
export const finalityDepth = whole(0, 1_000_000)
export const checks = oneOf('roots', 'links')
