/**
 * Everybody's balance of every token of a recorded chain at a block: genesis, and the transfers of the raw
 * recording.
 */
import { toEventSelector } from 'viem'
import { readRecording } from '../../chain/recordings.ts'

/** Holder to amount, without those that have nothing. */
export type Holdings = ReadonlyMap<string, bigint>

export interface TokenFacts {
  readonly holders: Holdings
  readonly supply: bigint
  readonly transferCount: number
  readonly firstAtSeconds: number | null
  readonly lastAtSeconds: number | null
}

export interface BalanceOracle {
  readonly lastBlock: number
  hashAt(block: number): string
  numberOf(hash: string): number | undefined
  /** Every token that was transferred up to the block, or given at genesis. */
  at(block: number): ReadonlyMap<string, TokenFacts>
}

const transferTopic = toEventSelector('Transfer(address,address,uint256)')
const zero = `0x${'00'.repeat(20)}`
export const genesisTokens = [0, 1, 2, 3].map((n) => `0x20c${n.toString(16).padStart(37, '0')}`)
export const genesisAmount = 2n ** 64n - 1n
/** Accounts of the test mnemonic, the fee manager, and two senders of the node's own. */
export const genesisHolders = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  '0xfeec000000000000000000000000000000000000',
  '0x1804c8ab1f12e6bbf3894d4083f33e07309d1f38',
  '0x5615deb798bb3e4dfa0139dfa1b3d433cc23b72f',
]

interface Movement {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

export function readBalances(recording: string): BalanceOracle {
  const recorded = readRecording(recording).map(({ block, receipts }) => {
    // biome-ignore lint/suspicious/noExplicitAny: a node's JSON
    const { hash, timestamp } = block as any
    // biome-ignore lint/suspicious/noExplicitAny: a node's JSON
    const logs = (receipts as any[]).flatMap((receipt) => receipt.logs)
    return { hash: String(hash), timestamp: Number(timestamp), movements: logs.flatMap(movementOf) }
  })
  const known = new Map<number, ReadonlyMap<string, TokenFacts>>()
  const numbers = new Map(recorded.map(({ hash }, number) => [hash, number]))
  return {
    lastBlock: recorded.length - 1,
    hashAt: (block) => recorded[block]?.hash ?? '',
    numberOf: (hash) => numbers.get(hash),
    at: (block) => {
      const facts = known.get(block) ?? sumUp(recorded.slice(0, block + 1))
      known.set(block, facts)
      return facts
    },
  }
}

/** A well-formed Transfer of any contract: two clean addresses and one word. */
// biome-ignore lint/suspicious/noExplicitAny: a node's JSON
function movementOf({ address, topics, data }: any): Movement[] {
  if (topics[0] !== transferTopic || topics.length !== 3 || data.length !== 66) return []
  if (!topics.slice(1).every((topic: string) => /^0x0{24}/.test(topic))) return []
  const [from, to] = [`0x${topics[1].slice(26)}`, `0x${topics[2].slice(26)}`]
  return [{ token: address, from, to, amount: BigInt(data) }]
}

function sumUp(
  blocks: readonly { readonly timestamp: number; readonly movements: readonly Movement[] }[],
): ReadonlyMap<string, TokenFacts> {
  const sums = new Map<string, Map<string, bigint>>()
  const times = new Map<string, number[]>()
  const add = (token: string, holder: string, amount: bigint) => {
    const holders = sums.get(token) ?? new Map<string, bigint>()
    if (holder !== zero) holders.set(holder, (holders.get(holder) ?? 0n) + amount)
    sums.set(token, holders)
  }
  for (const token of genesisTokens) for (const holder of genesisHolders) add(token, holder, genesisAmount)
  for (const { timestamp, movements } of blocks)
    for (const { token, from, to, amount } of movements) {
      add(token, from, -amount)
      add(token, to, amount)
      times.set(token, [...(times.get(token) ?? []), timestamp])
    }
  return new Map(
    [...sums].map(([token, all]) => {
      const holders = new Map([...all].filter(([, amount]) => amount !== 0n))
      const seen = times.get(token) ?? []
      const facts = {
        holders,
        supply: [...holders.values()].reduce((sum, amount) => sum + amount, 0n),
        transferCount: seen.length,
        firstAtSeconds: seen[0] ?? null,
        lastAtSeconds: seen.at(-1) ?? null,
      }
      return [token, facts]
    }),
  )
}

/** Sums of transfers alone, by `token holder`: balances without what genesis gave. */
export function transferSumsOf(oracle: BalanceOracle, block: number): ReadonlyMap<string, bigint> {
  const sums = [...oracle.at(block)].flatMap(([token, { holders }]) =>
    [...new Set([...holders.keys(), ...(genesisTokens.includes(token) ? genesisHolders : [])])].map(
      (holder): [string, bigint] => {
        const given = genesisTokens.includes(token) && genesisHolders.includes(holder) ? genesisAmount : 0n
        return [`${token} ${holder}`, (holders.get(holder) ?? 0n) - given]
      },
    ),
  )
  return new Map(sums.filter(([, sum]) => sum !== 0n))
}

/** Holders, supply and count of each token by its transfers alone. */
export function transferTotalsOf(
  oracle: BalanceOracle,
  block: number,
): ReadonlyMap<string, readonly [number, bigint, number]> {
  const sums = [...transferSumsOf(oracle, block)]
  const moved = [...oracle.at(block)].filter(([, { transferCount }]) => transferCount > 0)
  return new Map(
    moved.map(([token, { transferCount }]) => {
      const own = sums.filter(([pair]) => pair.startsWith(token)).map(([, sum]) => sum)
      const supply = own.reduce((sum, one) => sum + one, 0n)
      return [token, [own.filter((sum) => sum > 0n).length, supply, transferCount]]
    }),
  )
}
