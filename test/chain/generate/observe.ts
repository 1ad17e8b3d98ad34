/** The lessons of a block's logs: which orders are open and which tokens were made. */
import { decodeEventLog, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { units } from '#local/devchain/traffic/action.ts'
import { exchange, onToken, roleOf, tokenFactory } from '#local/devchain/traffic/calls.ts'
import type { SeenLog } from '#local/devchain/traffic/learned.ts'
import { lower } from '#local/devchain/traffic/parties.ts'
import type { Hex } from '#primitives.ts'
import type { Scene } from './scene.ts'

/** Contracts whose logs are looked at. */
export const observed: readonly Hex[] = [exchange, tokenFactory]

const topics = {
  placed: toEventSelector('OrderPlaced(uint128,address,address,uint128,bool,int16,bool,int16)'),
  filled: toEventSelector('OrderFilled(uint128,address,address,uint128,bool)'),
  cancelled: toEventSelector('OrderCancelled(uint128)'),
  created: toEventSelector('TokenCreated(address,string,string,string,address,address,bytes32)'),
}

export function observe(scene: Scene, { topics: [event, first = '0x', second = '0x'], data }: SeenLog): void {
  const { orders, world } = scene
  if (event === topics.placed) orders.set(BigInt(first), world.byAddress.get(`0x${second.slice(26)}`))
  else if (event === topics.cancelled) orders.delete(BigInt(first))
  else if (event === topics.filled && !isPartial(data)) orders.delete(BigInt(first))
  else if (event === topics.created) {
    const abi = Abis.tip20Factory
    const { args } = decodeEventLog({ abi, eventName: 'TokenCreated', topics: [event, first], data })
    adopt(scene, lower(args.token), lower(args.admin))
  }
}

/** The last word of a fill tells whether some of the order is left. */
const isPartial = (data: Hex) => BigInt(data) % 2n === 1n

/** A token made by a wallet is minted to a few accounts and joins the mix. */
function adopt(scene: Scene, token: Hex, admin: Hex): void {
  const { world, queue } = scene
  const owner = world.byAddress.get(admin)
  if (!owner || owner === world.issuer) return
  const holders = [...new Set([owner, ...Array.from({ length: 4 }, () => scene.wallet())])]
  for (const holder of holders) holder.holds.push(token)
  const grant = onToken(token, 'grantRole', roleOf('ISSUER_ROLE'), owner.address)
  const mints = holders.map(({ address }) => onToken(token, 'mint', address, units(1_000_000)))
  queue.push({ from: owner, envelope: 'tempo', calls: [grant, ...mints], gas: 5_000_000n })
}
