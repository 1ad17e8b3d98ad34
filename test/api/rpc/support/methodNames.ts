/** The list of methods as clients are told of it, and names that are almost of the list. */
import { seededRandom } from '../../../ingest/support/random.ts'

/** Each method's name, class, units and the place of its block among the parameters. */
export const listedMethods: readonly string[] = [
  'admin_validatorKey operator 1 null',
  'consensus_getFinalization node 1 null',
  'consensus_getIdentityTransitionProof gone 1 null',
  'consensus_getLatest node 1 null',
  'consensus_subscribe socket 1 null',
  'consensus_unsubscribe socket 1 null',
  'eth_blockNumber head 1 null',
  'eth_call state 2 1 kept',
  'eth_chainId own 1 null',
  'eth_createAccessList state 4 1 kept',
  'eth_estimateGas state 4 1',
  'eth_feeHistory block 2 1',
  'eth_fillTransaction node 4 null',
  'eth_gasPrice node 1 null',
  'eth_getBlockAccessList block 2 0',
  'eth_getBlockByHash block 1 0',
  'eth_getBlockByNumber block 1 0',
  'eth_getBlockReceipts block 5 0',
  'eth_getBlockTransactionCountByHash block 1 0',
  'eth_getBlockTransactionCountByNumber block 1 0',
  'eth_getCode state 1 1 kept',
  'eth_getFilterChanges filter 1 null',
  'eth_getFilterLogs filter 5 null',
  'eth_getLogs logs 5 null',
  'eth_getProof state 2 2 kept',
  'eth_getStorageAt state 1 2 kept',
  'eth_getStorageValues state 2 1 kept',
  'eth_getTransactionByBlockHashAndIndex block 1 0',
  'eth_getTransactionByBlockNumberAndIndex block 1 0',
  'eth_getTransactionByHash transaction 1 null',
  'eth_getTransactionCount state 1 1',
  'eth_getTransactionReceipt transaction 1 null',
  'eth_maxPriorityFeePerGas node 1 null',
  'eth_newBlockFilter filter 1 null',
  'eth_newFilter filter 1 null',
  'eth_newPendingTransactionFilter filter 1 null',
  'eth_sendRawTransaction send 2 null',
  'eth_sendRawTransactionSync send 2 null',
  'eth_simulateV1 state 10 1',
  'eth_syncing node 1 null',
  'eth_uninstallFilter filter 1 null',
  'svc_forkSchedule node 1 null',
  'svc_fundAddress operator 1 null',
]

/** So many names by a seed, none of which is among `names`. */
export function oddNames(names: readonly string[], count: number): readonly string[] {
  const random = seededRandom(20)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const twist: ((name: string) => string)[] = [
    (name) => name.toUpperCase(),
    (name) => name.replace('eth', 'Eth'),
    (name) => `${name} `,
    (name) => ` ${name}`,
    (name) => `rpc.${name}`,
    (name) => name.replace('_', '.'),
    (name) => name.replace('e', 'е'),
    (name) => `${name}\u0000`,
    (name) => `${name}\u200b`,
    (name) => name.slice(0, -1),
    (name) => name + pick([...'abcXYZ0123']),
    (name) => name.replace('_', '_ '),
    (name) =>
      pick(['anvil', 'debug', 'trace', 'txpool', 'personal', 'evm', 'hardhat', '__proto__']) +
      name.slice(name.indexOf('_')),
  ]
  const known = new Set(names)
  return Array.from({ length: count }, (_, index) => {
    const name = twist[index % twist.length]?.(pick(names)) ?? ''
    return known.has(name) ? `${name}!` : name
  })
}
