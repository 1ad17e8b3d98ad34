/**
 * Every method that may be called, and how: the one list. A node knows many more, some of which end
 * it (`anvil_*`, `debug_*`), so nothing else passes.
 */
import type { ChainKind } from '#transform/profile.ts'

/**
 * The source of the answer:
 * - `own`: known here; `head`: the pool's view of the newest block;
 * - `block`: a block by number, hash or tag, and what is in it; `transaction`: by its hash;
 * - `logs`: events of a range; `state`: the chain's state at a block; `node`: any healthy node;
 * - `send`: tried once; `filter`: rows of ours; `socket`: over WebSocket alone;
 * - `gone`: nodes served it once, and what it told is found elsewhere (`insteadOf`);
 * - `operator`: only where the operator enabled it.
 */
export type MethodClass =
  | 'own'
  | 'head'
  | 'block'
  | 'transaction'
  | 'logs'
  | 'state'
  | 'node'
  | 'send'
  | 'filter'
  | 'socket'
  | 'gone'
  | 'operator'

export interface RpcMethod {
  readonly name: string
  readonly class: MethodClass
  /** The units that a call counts as in quotas (`costs`). */
  readonly units: number
  /** Place of the parameter that names a block, by number, tag or hash; null where none does. */
  readonly block: number | null
  /** Whether an answer about a final block may be kept. */
  readonly keeps: boolean
}

/** Stands for the prefix of the chain's own methods. */
const own = 'svc_'
const prefixes: Readonly<Record<ChainKind, string | null>> = { tempo: 'tempo_', evm: null }

const method = (
  name: string,
  of: MethodClass,
  units: number,
  block: number | null = null,
  keeps = false,
): RpcMethod => ({ name, class: of, units, block, keeps })

/**
 * Units of what takes more of a node than looking something up, which is 1. The relation is that of
 * the work; public providers charge alike.
 */
const costs = {
  /** A block's rows, a few of its headers, or a proof of some slots. */
  several: 2,
  /** A contract runs once, with all the gas of a block at most. */
  execution: 2,
  /** A send is checked, forwarded to nodes, and looked for afterwards. */
  send: 2,
  /** All logs of a range, or all receipts of a block, are read and written out. */
  range: 5,
  /** The node runs the call again and again until it knows the gas, or what it touches. */
  search: 4,
  /** Many calls on many blocks, in one. */
  simulation: 10,
  /** A transaction, or all of a block, runs again with every step kept. */
  replay: 20,
  /** Methods that the operator added and nobody here knows. */
  unknown: 5,
} as const

/** By what the operator's own methods are called. */
const costsByPrefix: readonly (readonly [string, number])[] = [
  ['debug_', costs.replay],
  ['trace_', costs.replay],
  ['arbtrace_', costs.replay],
  ['ots_', costs.replay],
  // All transactions that wait.
  ['txpool_', costs.simulation],
]

/** The units of a method that no list of ours has. */
const addedUnits = (name: string): number =>
  costsByPrefix.find(([prefix]) => name.startsWith(prefix))?.[1] ?? costs.unknown

export const methods: readonly RpcMethod[] = [
  method('admin_validatorKey', 'operator', 1),
  method('consensus_getFinalization', 'node', 1),
  method('consensus_getIdentityTransitionProof', 'gone', 1),
  method('consensus_getLatest', 'node', 1),
  method('consensus_subscribe', 'socket', 1),
  method('consensus_unsubscribe', 'socket', 1),
  method('eth_blockNumber', 'head', 1),
  method('eth_call', 'state', costs.execution, 1, true),
  method('eth_chainId', 'own', 1),
  method('eth_createAccessList', 'state', costs.search, 1, true),
  method('eth_estimateGas', 'state', costs.search, 1),
  method('eth_feeHistory', 'block', costs.several, 1),
  method('eth_fillTransaction', 'node', costs.search),
  method('eth_gasPrice', 'node', 1),
  method('eth_getBlockAccessList', 'block', costs.several, 0),
  method('eth_getBlockByHash', 'block', 1, 0),
  method('eth_getBlockByNumber', 'block', 1, 0),
  method('eth_getBlockReceipts', 'block', costs.range, 0),
  method('eth_getBlockTransactionCountByHash', 'block', 1, 0),
  method('eth_getBlockTransactionCountByNumber', 'block', 1, 0),
  method('eth_getCode', 'state', 1, 1, true),
  method('eth_getFilterChanges', 'filter', 1),
  method('eth_getFilterLogs', 'filter', costs.range),
  method('eth_getLogs', 'logs', costs.range),
  method('eth_getProof', 'state', costs.several, 2, true),
  method('eth_getStorageAt', 'state', 1, 2, true),
  method('eth_getStorageValues', 'state', costs.several, 1, true),
  method('eth_getTransactionByBlockHashAndIndex', 'block', 1, 0),
  method('eth_getTransactionByBlockNumberAndIndex', 'block', 1, 0),
  method('eth_getTransactionByHash', 'transaction', 1),
  method('eth_getTransactionCount', 'state', 1, 1),
  method('eth_getTransactionReceipt', 'transaction', 1),
  method('eth_maxPriorityFeePerGas', 'node', 1),
  method('eth_newBlockFilter', 'filter', 1),
  method('eth_newFilter', 'filter', 1),
  method('eth_newPendingTransactionFilter', 'filter', 1),
  method('eth_sendRawTransaction', 'send', costs.send),
  method('eth_sendRawTransactionSync', 'send', costs.send),
  method('eth_simulateV1', 'state', costs.simulation, 1),
  method('eth_syncing', 'node', 1),
  method('eth_uninstallFilter', 'filter', 1),
  method(`${own}forkSchedule`, 'node', 1),
  method(`${own}fundAddress`, 'operator', 1),
]

/** Why nodes serve a method no more, and where to find what it told, by its name. */
export const insteadOf: Readonly<Record<string, string>> = {
  consensus_getIdentityTransitionProof: [
    "Tempo's nodes have not served it since v1.11.0.",
    "The next identity is in the extraData of an epoch's last block,",
    'which consensus_getFinalization certifies.',
  ].join(' '),
}

/** Wallets of ordinary chains ask for these; Tempo has no native balance and other names. */
const ofOrdinaryChains: readonly RpcMethod[] = [
  method('eth_getBalance', 'state', 1, 1),
  method('net_version', 'own', 1),
  method('web3_clientVersion', 'own', 1),
]

/** The methods of one chain, by the name a client calls. */
export function methodsOf(kind: ChainKind, enabled: readonly string[]): ReadonlyMap<string, RpcMethod> {
  const prefix = prefixes[kind]
  const known = [...methods, ...(kind === 'evm' ? ofOrdinaryChains : [])].flatMap((of): RpcMethod[] => {
    if (!of.name.startsWith(own)) return [of]
    return prefix === null ? [] : [{ ...of, name: prefix + of.name.slice(own.length) }]
  })
  const found = new Map(known.map((of) => [of.name, of]))
  for (const name of enabled) {
    const of = found.get(name)
    if (!of || of.class === 'operator') found.set(name, method(name, 'node', of?.units ?? addedUnits(name)))
  }
  return found
}

/** A name as clients may write it: those of the service's own mean the chain's. */
export const chainName = (name: string, kind: ChainKind): string =>
  name.startsWith(own) && prefixes[kind] !== null ? prefixes[kind] + name.slice(own.length) : name

/** Units of a call that is refused: looking at it costs something too. */
export const REFUSED_UNITS = 1
