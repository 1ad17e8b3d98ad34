/** An account's balance of a token. */
import { encodeFunctionData, parseAbi } from 'viem'
import { type Ask, quantityIn } from '#money/node.ts'

const abi = parseAbi(['function balanceOf(address holder) view returns (uint256)'])

/** In the token's smallest unit; null where there is no such token. Rejects where no node answers. */
export async function balanceOf(ask: Ask, token: string, holder: `0x${string}`): Promise<bigint | null> {
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [holder] })
  const told = await ask('eth_call', [{ to: token, data }, 'latest'])
  return told === '0x' ? null : quantityIn(told)
}
