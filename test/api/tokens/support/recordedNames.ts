/** Names and decimals that tokens of a recording give themselves, as viem decodes the node's answers. */
import { type AbiFunction, decodeFunctionResult, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { readCalls } from '../../../chain/recordings.ts'

/** Answers with bytes32, as tokens did before strings. */
export const oldCoin = '0x998abeb3e57409262ae5b751f60747921b33613e'
/** In the tests it answers nothing. */
export const nameless: string = '0x54a0145fb3f4b8397968d0b315daa5207be9f379'
const functions = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])

export interface Metadata {
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
}

export function recordedNames(recording: string) {
  const answers = () => readCalls(recording)
  const ask = (token: string, abi: AbiFunction): unknown => {
    try {
      const data = answers()[`${token}:${toFunctionSelector(abi)}`] as Hex
      return decodeFunctionResult({ abi: [abi], functionName: abi.name, data })
    } catch {
      return null
    }
  }
  const metadataOf = (token: string): Metadata => {
    if (token === nameless) return { name: null, symbol: null, decimals: null }
    if (token === oldCoin) return { name: 'Old Coin', symbol: 'OLD', decimals: null }
    const [name, symbol, decimals] = functions.map((abi) => ask(token, abi))
    return { name, symbol, decimals } as Metadata
  }

  /** A token without a name is shown without decimals. */
  const decimalsShown = (token: string): number | null => {
    const { name, symbol, decimals } = metadataOf(token)
    return name === null || symbol === null ? null : decimals
  }
  return { metadataOf, decimalsShown }
}
