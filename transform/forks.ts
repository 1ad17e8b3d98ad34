/**
 * Forks of Tempo and of Ethereum, as far as this program knows them: when each began, what it changed
 * for an index, and where the program takes account of it. They begin at a time, never at a height. A
 * draft is declared by what its authors have published; the fork itself may differ.
 */

export interface Fork {
  /** As `tempo_forkSchedule` names it; nodes of Ethereum name none. */
  readonly name: string
  /** `draft`: not scheduled when this was written. */
  readonly knowledge: 'confirmed' | 'draft'
  /** Unix seconds by chain id; a chain is absent where the time is not known here. */
  readonly activatesAt: Readonly<Partial<Record<TempoChainId | EthereumChainId, number>>>
  readonly changes: string
  /** Canonical signatures of declared events, and files with the rules. */
  readonly handled: readonly string[]
}

export type TempoChainId = 4217 | 42431
/** The main network and Sepolia. */
export type EthereumChainId = 1 | 11155111

/** Tempo's. */
export const forks: readonly Fork[] = [
  {
    name: 'T0',
    knowledge: 'confirmed',
    activatesAt: { 4217: 0, 42431: 0 },
    changes: 'header around that of Ethereum, envelope 0x76, fees in tokens',
    handled: [
      'ingest/verify/parts/header.ts',
      'ingest/verify/parts/tempoTransaction.ts',
      'transform/rows/fee.ts',
    ],
  },
  ...(
    [
      ['T1', 1_770_908_400],
      ['T1A', 1_770_908_400],
      ['T1B', 1_771_858_800],
      ['T1C', 1_773_327_600],
    ] as const
  ).map(
    ([name, mainnet]): Fork => ({
      name,
      knowledge: 'confirmed',
      activatesAt: { 4217: mainnet },
      changes: 'nothing that is known in blocks, receipts or events',
      handled: [],
    }),
  ),
  {
    name: 'T2',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_774_965_600 },
    changes: 'compound transfer policies, a new contract of validators',
    handled: ['CompoundPolicyCreated(uint64,address,uint64,uint64,uint64)', 'Initialized(uint64)'],
  },
  {
    name: 'T3',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_777_298_400 },
    changes: 'transfers to virtual addresses are passed on in the same transaction',
    handled: ['MasterRegistered(bytes4,address)', 'transform/rows/virtualForwards.ts'],
  },
  {
    name: 'T4',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_779_112_800, 42431: 1_778_767_200 },
    changes: 'headers end with the context of consensus',
    handled: ['ingest/verify/parts/header.ts', 'ingest/read/header/headerShape.ts'],
  },
  {
    name: 'T5',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_781_013_600, 42431: 1_780_495_200 },
    changes: 'orders flip under their own id, fees go over two pools, payment channels, logos, witnesses',
    handled: [
      'OrderFlipped(uint128,address,address,uint128,bool,int16,int16)',
      'FlipFailed(uint128,address,bytes4)',
      'ChannelOpened(bytes32,address,address,address,address,address,bytes32,bytes32,uint96)',
      'LogoURIUpdated(address,string)',
      'KeyAuthorizationWitness(address,bytes32)',
      'KeyAuthorizationWitnessBurned(address,bytes32)',
      'store/follow/exchange/bookStates.ts',
      'store/follow/exchange/takerAmounts.ts',
      'store/follow/feePools/routes.ts',
      'transform/projections/tokenApprovals.ts',
    ],
  },
  {
    name: 'T6',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_782_223_200, 42431: 1_781_791_200 },
    changes: 'receivers refuse transfers and mints, which a guard then holds; keys that administer others',
    handled: [
      'TransferBlocked(address,address,uint64,uint256,uint8,bytes)',
      'ReceiptClaimed(address,address,uint64,uint64,uint8,address,address,address,address,address,uint256)',
      'ReceiptBurned(address,address,uint64,uint64,uint8,address,address,address,address,uint256)',
      'ReceivePolicyUpdated(address,uint64,uint64,address)',
      'AdminKeyAuthorized(address,address)',
      'transform/activities/tokens/held.ts',
    ],
  },
  {
    name: 'T7',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_783_605_600, 42431: 1_783_000_800 },
    changes: 'base fees move, storage has credits of gas; rewards are no longer distributed',
    handled: ['RewardDistributed(address,uint256)', 'RewardRecipientSet(address,address)'],
  },
  {
    name: 'T8',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_785_420_000, 42431: 1_785_160_800 },
    changes: 'storage of orders alone',
    handled: [],
  },
  {
    name: 'T9',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_786_024_800, 42431: 1_785_938_400 },
    changes: 'the policy of a token is also kept by the registry, without an event',
    handled: ['TransferPolicyUpdate(address,uint64)'],
  },
  {
    name: 'T10',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_787_320_800, 42431: 1_787_234_400 },
    changes: 'zones are made by a native factory, which has an owner',
    handled: [
      'ZoneCreated(uint32,address,address,bool,bool,address,address[],uint8,address)',
      'OwnershipTransferred(address,address)',
    ],
  },
  {
    name: 'T11',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_789_048_800, 42431: 1_788_962_400 },
    changes: 'transactions may expire later; prices of calldata',
    handled: [],
  },
  {
    name: 'T12',
    knowledge: 'confirmed',
    activatesAt: { 4217: 1_791_900_000, 42431: 1_791_468_000 },
    changes: 'any 64-bit nonce in the lane of expiring transactions; burns of the tokens of others',
    handled: [
      'BurnAt(address,address,uint256)',
      'transform/rows/txRow.ts',
      'transform/activities/tokens/supply.ts',
    ],
  },
  {
    name: 'T13',
    knowledge: 'draft',
    activatesAt: {},
    changes: 'batches of zones tell the tokens they saw enabled; prices of gas',
    handled: ['BatchSubmitted(uint64,uint256,bytes32,bytes32,bytes32,uint64,uint64)'],
  },
  {
    name: 'T14',
    knowledge: 'draft',
    activatesAt: {},
    changes:
      'signatures of several owners and of identities, keys of issuers; a header leaves out gas of state growth',
    handled: [
      'ConfigurableAccountConfigUpdated(address,bytes32,uint64,uint8,(address,uint8)[])',
      'AccountUpgraded(address,bytes32,bytes32,uint8,(address,uint8)[])',
      'PublisherCreated(bytes32,address,address)',
      'OwnershipTransferred(bytes32,address,address)',
      'KeysSet(bytes32,bytes32,bytes32[],uint64)',
      'KeyRevoked(bytes32,bytes32,bytes32)',
      'ingest/verify/parts/tempoSignature.ts',
      'ingest/verify/senders/zkSigner.ts',
      'ingest/verify/senders/ownersSigner.ts',
      'transform/columnDocs.ts',
    ],
  },
]

/**
 * Ethereum's, from the first one on that changed headers after they were known here. The main
 * network has no date for it, and Hoodi's was withdrawn.
 */
export const ethereumForks: readonly Fork[] = [
  {
    name: 'Amsterdam',
    knowledge: 'confirmed',
    activatesAt: { 11155111: 1_791_294_816 },
    changes:
      'headers end with the hash of the access list and the slot; their gas is no sum of what transactions paid for; native transfers have logs',
    handled: [
      'ingest/read/header/forkFields.ts',
      'ingest/verify/knownChains.ts',
      'transform/rows/blockRow.ts',
    ],
  },
]

/** When the newest fork began that is confirmed, in Unix seconds; 0 where none is known of a chain. */
export function newestKnownFork(chainId: number): number {
  const times = [...forks, ...ethereumForks].map(({ activatesAt }) => timeOn(activatesAt, chainId) ?? 0)
  return Math.max(0, ...times)
}

/**
 * When a fork began on a chain, in Unix seconds; undefined where that is not known.
 * @param name of a fork of the table
 */
export function forkSeconds(name: string, chainId: number): number | undefined {
  const fork = forks.find((one) => one.name === name)
  if (!fork) throw new TypeError(`no fork ${name} is in the table`)
  return timeOn(fork.activatesAt, chainId)
}

/** Whether a confirmed fork began on a chain at this time, in Unix seconds. */
export const isKnownForkTime = (chainId: number, seconds: number): boolean =>
  ethereumForks.some(({ activatesAt }) => timeOn(activatesAt, chainId) === seconds)

/** Whether it is known when a fork of Ethereum begins on a chain. */
export const isDated = (name: string, chainId: number): boolean =>
  ethereumForks.some((fork) => fork.name === name && timeOn(fork.activatesAt, chainId) !== undefined)

function timeOn(times: Fork['activatesAt'], chainId: number): number | undefined {
  const byChain: Readonly<Record<number, number | undefined>> = times
  return byChain[chainId]
}
