/**
 * One chain with what Tempo's forks brought since T5, signed and true to its headers, so that it is
 * proved as the network's own blocks are: no dev chain has these forks.
 */
import { concat, type Hex, toRlp } from 'viem'
import { type TempoBlock, type TempoTransaction, tempoBlock } from '../../../support/tempoBlock.ts'
import {
  anyNonceLane,
  type OtherSignature,
  signTempo,
  tempoAccount,
} from '../../../support/tempoTransaction.ts'
import { signZk, type ZkIdentity, accountOf as zkAccountOf } from '../../../support/zkSignature.ts'
import { logOf, pathUsd, token as tokenCreated } from '../../support/writtenBook.ts'
import type { WrittenLog } from '../../support/writtenChain.ts'
import { chosen, fee, mint } from '../../support/writtenFees.ts'
import { guard, holdsOf, zero } from '../../support/writtenHolds.ts'

const signers = ['1', '2', '3', '4', '5'].map((digit) => {
  const account = tempoAccount(digit)
  return { account, address: account.address.toLowerCase() as Hex }
})
type Signer = (typeof signers)[number]
const [issuing, bobs, relaying, daves, paying] = signers as [Signer, Signer, Signer, Signer, Signer]

const accountOf = (digit: string): Hex => `0x${digit.repeat(40)}`
const word = (digit: string): Hex => `0x${digit.repeat(64)}`
/** Scheme 1 is known, and 9 is not. */
function identityOf(scheme: number): ZkIdentity {
  return { scheme, publisherId: word('1'), issuer: word('2'), addressSeed: word('3') }
}
const tokenOf = (letter: string): Hex => `0x20c000000000000000000000${letter.repeat(16)}`
/** `closed` has policies; fees are paid in `thin`, whose pool into `taken`, the validator's, holds little. */
export const tokens = {
  ...{ closed: tokenOf('b'), thin: tokenOf('c'), middle: tokenOf('d'), taken: tokenOf('e') },
} as const
export const who = {
  ...{ issuer: issuing.address, bob: bobs.address, relayer: relaying.address },
  ...{ dave: daves.address, payer: paying.address },
  ...{ contract: accountOf('c'), erin: accountOf('e'), validator: accountOf('7'), owned: accountOf('a') },
  ...{ identity: zkAccountOf(identityOf(1)), stranger: zkAccountOf(identityOf(9)) },
} as const

export const nonces = [0n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n - 1n]

/** Attodollars of a unit of gas: 21,000 gas are 210 units of a token. */
const PRICE = 10n ** 10n
const GAS = 21_000n
/** After T12 began on the main network, 13 October 2026. */
const BEGAN = 1_791_900_000

interface Written {
  readonly by: Signer
  readonly logs?: readonly WrittenLog[]
  readonly nonce?: bigint
  /** Most gas it may use, which decides the way of its fee. */
  readonly gas?: bigint
  readonly feeToken?: Hex
  /** Another account than `by`, which signs in a way that only drafts have. */
  readonly as?: { readonly address: Hex; readonly sign: (hash: Hex) => Promise<OtherSignature> }
}

const { moved, minted, burnedAt, blocked, claimed, destroyed } = holdsOf(tokens.closed, who.issuer)
const held = (receiver: Hex, nonce: bigint, amount: bigint): Written => ({
  by: issuing,
  logs: [moved(who.issuer, guard, amount), blocked(receiver, nonce, amount)],
})
const zoneFactory = '0x5af2000000000000000000000000000000000000'
export const portal = '0x5ad000000000000000000000000000000000002a'
const accounts = '0xaacc000000000000000000000000000000000000'
/** In no list of accounts here: what it did is told by its logs alone. */
const party = accountOf('8')
const publisher = '0x1132000000000000000000000000000000000000'
const issuer = { publisherId: word('1'), issuer: word('2') }
const batch = { withdrawalBatchIndex: 7n, withdrawalQueueIndex: 2n ** 256n - 1n }
const batchWords = {
  nextProcessedDepositQueueHash: word('1'),
  ...{ nextBlockHash: word('2'), withdrawalQueueHash: word('3'), lastProcessedDepositNumber: 2n ** 64n - 1n },
}
export const owners = [
  { owner: who.bob, weight: 1 },
  { owner: who.dave, weight: 255 },
]
const configured = { account: who.owned, salt: word('4'), threshold: 2, owners }

/** Logs of later forks, each with its event; the test reads them back by these. */
export const laterLogs: readonly { readonly event: string; readonly log: WrittenLog }[] = [
  {
    address: zoneFactory,
    event: 'event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
    args: { previousOwner: zero, newOwner: who.issuer },
  },
  {
    address: zoneFactory,
    event:
      'event ZoneCreated(uint32 indexed zoneId, address indexed portal, address initialToken, bool accessMode, bool gatewayMode, address admin, address[] sequencers, uint8 threshold, address verifier)',
    args: {
      ...{ zoneId: 42, portal, initialToken: tokens.closed, accessMode: true, gatewayMode: false },
      ...{ admin: who.issuer, sequencers: [who.bob], threshold: 1, verifier: who.contract },
    },
  },
  {
    address: portal,
    event:
      'event BatchSubmitted(uint64 indexed withdrawalBatchIndex, uint256 indexed withdrawalQueueIndex, bytes32 nextProcessedDepositQueueHash, bytes32 nextBlockHash, bytes32 withdrawalQueueHash, uint64 lastProcessedDepositNumber)',
    args: { ...batch, ...batchWords },
  },
  {
    address: portal,
    event:
      'event BatchSubmitted(uint64 indexed withdrawalBatchIndex, uint256 indexed withdrawalQueueIndex, bytes32 nextProcessedDepositQueueHash, bytes32 nextBlockHash, bytes32 withdrawalQueueHash, uint64 lastProcessedDepositNumber, uint64 lastProcessedEnabledTokenCount)',
    args: { ...batch, ...batchWords, lastProcessedEnabledTokenCount: 2n ** 63n },
  },
  {
    address: accounts,
    event:
      'event ConfigurableAccountConfigUpdated(address indexed account, bytes32 salt, uint64 version, uint8 threshold, (address owner, uint8 weight)[] owners)',
    args: { ...configured, version: 2n ** 64n - 1n },
  },
  {
    address: accounts,
    event:
      'event AccountUpgraded(address indexed account, bytes32 indexed commitment, bytes32 salt, uint8 threshold, (address owner, uint8 weight)[] owners)',
    args: { ...configured, commitment: word('5') },
  },
  {
    address: publisher,
    event:
      'event PublisherCreated(bytes32 indexed publisherId, address indexed creator, address indexed owner)',
    args: { publisherId: word('1'), creator: party, owner: party },
  },
  {
    address: publisher,
    event:
      'event OwnershipTransferred(bytes32 indexed publisherId, address indexed previousOwner, address indexed newOwner)',
    args: { publisherId: word('1'), previousOwner: party, newOwner: party },
  },
  {
    address: publisher,
    event:
      'event KeysSet(bytes32 indexed publisherId, bytes32 indexed issuer, bytes32[] keyHashes, uint64 graceUntil)',
    args: { ...issuer, keyHashes: [word('7'), word('8')], graceUntil: 2n ** 64n - 1n },
  },
  {
    address: publisher,
    event: 'event KeyRevoked(bytes32 indexed publisherId, bytes32 indexed issuer, bytes32 indexed keyHash)',
    args: { ...issuer, keyHash: word('7') },
  },
  {
    address: party,
    event:
      'event NativeEarnRegistered(address indexed adapter, address indexed asset, address indexed shareToken, address engine, bytes32 manifestRoot)',
    args: {
      adapter: party,
      asset: pathUsd,
      shareToken: tokens.closed,
      engine: who.erin,
      manifestRoot: word('9'),
    },
  },
  {
    address: portal,
    event:
      'event DepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, uint128 netAmount, uint128 fee, uint256 keyIndex, bytes32 ephemeralPubkeyX, uint8 ephemeralPubkeyYParity, bytes ciphertext, bytes12 nonce, bytes16 tag, address tempoRefundRecipient, uint64 depositNumber)',
    args: {
      ...{
        newCurrentDepositQueueHash: word('b'),
        sender: party,
        token: tokens.closed,
        netAmount: 5n,
        fee: 1n,
      },
      ...{
        keyIndex: 0n,
        ephemeralPubkeyX: word('c'),
        ephemeralPubkeyYParity: 2,
        ciphertext: `0x${'d'.repeat(128)}`,
      },
      ...{ nonce: `0x${'e'.repeat(24)}`, tag: `0x${'f'.repeat(32)}`, tempoRefundRecipient: party },
      depositNumber: 2n ** 63n,
    },
  },
].map(({ address, event, args }) => ({ event, log: logOf(address as Hex, event, args) }))

const usd = holdsOf(pathUsd, who.issuer)
const begins: readonly Written[] = [
  {
    by: issuing,
    logs: [
      tokenCreated(tokens.closed, 'Closed', 'CLSD', pathUsd),
      tokenCreated(tokens.middle, 'Middle', 'MID', pathUsd),
      tokenCreated(tokens.thin, 'Thin', 'THIN', tokens.middle),
      tokenCreated(tokens.taken, 'Taken', 'TAKEN', pathUsd),
      ...minted(who.bob, 100n),
      ...minted(who.issuer, 60n),
      ...holdsOf(tokens.thin, who.issuer).minted(who.payer, 5_000n),
      ...signers.flatMap(({ address }) => usd.minted(address, 100_000n)),
      ...[who.owned, who.identity, who.stranger].flatMap((account) => usd.minted(account, 100_000n)),
      mint(who.issuer, pathUsd, tokens.taken, 1_000_000n),
      mint(who.issuer, tokens.thin, tokens.taken, 300n),
      mint(who.issuer, tokens.thin, tokens.middle, 10_000n),
      mint(who.issuer, tokens.middle, tokens.taken, 10_000n),
      chosen(who.validator, tokens.taken),
    ],
  },
]
/** The direct pool pays 209 of its 300 for the second; the others may cost more than it holds. */
const fees: readonly Written[] = [
  { by: paying, feeToken: tokens.thin, gas: 100_000n },
  { by: paying, feeToken: tokens.thin },
  { by: paying, feeToken: tokens.thin },
]
const blocks: readonly (readonly Written[])[] = [
  [],
  begins,
  nonces.map((nonce) => ({ by: bobs, nonce })),
  [
    { by: issuing, logs: burnedAt(who.issuer, who.bob, 30n) },
    { by: relaying, logs: burnedAt(who.contract, who.bob, 5n) },
    { by: issuing, logs: burnedAt(who.issuer, who.bob, 0n) },
  ],
  [
    held(who.dave, 1n, 10n),
    held(who.dave, 2n, 7n),
    {
      by: issuing,
      logs: [moved(zero, guard, 4n), ...minted(guard, 4n).slice(1), blocked(who.erin, 3n, 4n)],
    },
    held(who.dave, 2n ** 64n - 1n, 6n),
    { by: relaying, logs: [blocked(who.dave, 5n, 1_000n, who.contract)] },
  ],
  [
    { by: daves, logs: [moved(guard, who.dave, 10n), claimed(who.dave, 1n, 10n)] },
    { by: issuing, logs: [moved(guard, zero, 7n), destroyed(who.dave, 2n, 7n)] },
  ],
  fees,
  [
    { by: issuing, logs: laterLogs.map(({ log }) => log) },
    { by: relaying, as: { address: who.owned, sign: approveOwned } },
    {
      by: relaying,
      as: { address: who.identity, sign: (hash) => signZk(identityOf(1), relaying.account, hash) },
    },
    {
      by: relaying,
      as: { address: who.stranger, sign: (hash) => signZk(identityOf(9), relaying.account, hash) },
    },
  ],
]

/** The last block's header leaves out gas of state growth. */
export const stateGas = 12_345n

/** The same at every call. */
export async function forkedChain(): Promise<readonly TempoBlock[]> {
  const chain: TempoBlock[] = []
  for (const [number, written] of blocks.entries()) {
    const signed: TempoTransaction[] = []
    for (const [index, one] of written.entries()) signed.push(await transactionOf(one, number, index))
    const parentHash = chain.at(-1)?.block.hash ?? `0x${'00'.repeat(32)}`
    const place = { number, parentHash, timestamp: BEGAN + number, miner: who.validator }
    chain.push(tempoBlock({ ...place, ...(number === blocks.length - 1 && { stateGas }) }, signed))
  }
  return chain
}

async function transactionOf(written: Written, number: number, index: number): Promise<TempoTransaction> {
  const { by, logs = [], nonce = 2n ** 63n + BigInt(index), gas = GAS, feeToken = pathUsd } = written
  const from = written.as?.address ?? by.address
  // The same nonce may come again, in a transaction that is another one.
  const calls = [{ to: tokens.closed, value: 0n, data: `0x${`${number}${index}`.padStart(8, '0')}` as Hex }]
  const fields = { calls, maxFeePerGas: PRICE, gas, nonceKey: anyNonceLane, nonce, feeToken }
  const signed = await signTempo(by.account, fields, written.as?.sign)
  return {
    ...{ ...signed, from, to: tokens.closed, gasUsed: GAS, price: PRICE, feeToken, feePayer: from },
    logs: [...logs, fee(from, feeToken, (GAS * PRICE) / 10n ** 12n)],
  }
}

/** A signature of several owners, which nodes tell as the bytes after its tag; nobody approved. */
async function approveOwned(): Promise<OtherSignature> {
  const told = owners.map(({ owner }): Hex[] => [owner, '0x01'])
  const json = toRlp([who.owned, [word('4'), '0x01', '0x02', told], [word('6')]])
  return { bytes: concat(['0x05', json]), json }
}
