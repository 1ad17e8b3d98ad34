/** The tokens of a recorded chain, by viem and rules written anew here. */
import { type Hex, parseAbi, parseEventLogs } from 'viem'
import { readRecording } from '../../chain/recordings.ts'

export interface OracleToken {
  readonly createdBlock: number
  readonly createdAtSeconds: number
  readonly name: string
  readonly symbol: string
  readonly currency: string
  readonly quoteToken: string
  readonly admin: string | null
  readonly supplyCap: bigint
  readonly paused: boolean
}

const abi = parseAbi([
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  'event SupplyCapUpdate(address indexed updater, uint256 indexed newSupplyCap)',
  'event PauseStateUpdate(address indexed updater, bool isPaused)',
  'event QuoteTokenUpdate(address indexed updater, address indexed newQuoteToken)',
])
const factory = '0x20fc000000000000000000000000000000000000'

/** Tokens created up to and including a block, as they were then, by address. */
export function tokensAt(recording: string, lastBlock: number): ReadonlyMap<string, OracleToken> {
  const tokens = new Map<string, OracleToken>()
  for (const { block, receipts } of readRecording(recording).slice(0, lastBlock + 1)) {
    // biome-ignore lint/suspicious/noExplicitAny: a node's JSON
    const { number, timestamp } = block as any
    // biome-ignore lint/suspicious/noExplicitAny: a node's JSON
    const logs = (receipts as any[]).flatMap((receipt) => receipt.logs)
    for (const { eventName, args, address } of parseEventLogs({ abi, logs })) {
      if (eventName === 'TokenCreated' && address === factory) {
        const { name, symbol, currency } = args
        tokens.set(lower(args.token), {
          createdBlock: Number(number),
          createdAtSeconds: Number(timestamp),
          ...{ name, symbol, currency },
          quoteToken: lower(args.quoteToken),
          admin: lower(args.admin),
          supplyCap: 2n ** 128n - 1n,
          paused: false,
        })
        continue
      }
      const token = tokens.get(address)
      if (!token) continue
      if (eventName === 'SupplyCapUpdate') tokens.set(address, { ...token, supplyCap: args.newSupplyCap })
      if (eventName === 'PauseStateUpdate') tokens.set(address, { ...token, paused: args.isPaused })
      if (eventName === 'QuoteTokenUpdate')
        tokens.set(address, { ...token, quoteToken: lower(args.newQuoteToken) })
    }
  }
  return tokens
}

const lower = (address: Hex): string => address.toLowerCase()
